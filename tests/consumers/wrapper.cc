// A C++11 program that wraps a context it made itself, and owns what the
// library gives it through unique_ptr.
//
//	wrapper URI   only unix://PATH
#include <redisbatch/redisbatch.h>

#include <hiredis/hiredis.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace {

struct deleter {
	void operator()(redisContext *ctx) const { redisFree(ctx); }
	void operator()(rb_client *rb) const { rb_client_free(rb); }
	void operator()(rb_result *res) const { rb_result_free(res); }
};

template <typename T> using owned = std::unique_ptr<T, deleter>;

int count_chunk(void *arg, const rb_chunk *chunk)
{
	*static_cast<std::size_t *>(arg) += chunk->count;
	return 0;
}

bool write(rb_client *rb, const std::vector<std::string> &texts)
{
	std::vector<const char *> list;
	rb_result *res = nullptr;

	for (const std::string &text : texts)
		list.push_back(text.c_str());
	rb_status status = rb_mset_chunked(rb, list.data(), nullptr,
					   list.data(), nullptr, list.size(),
					   nullptr, &res);
	owned<rb_result> holder(res);
	return status == RB_OK;
}

bool read(rb_client *rb, const std::vector<std::string> &texts)
{
	std::vector<const char *> list;
	std::size_t nseen = 0;
	rb_options opts;
	rb_result *res = nullptr;

	for (const std::string &text : texts)
		list.push_back(text.c_str());
	rb_options_init(&opts);
	opts.on_chunk = count_chunk;
	opts.on_chunk_arg = &nseen;
	if (rb_mget_chunked(rb, list.data(), nullptr, list.size(), &opts,
			    &res) != RB_OK)
		return false;
	owned<rb_result> holder(res);
	for (std::size_t i = 0; i < texts.size(); i++) {
		rb_slice got = rb_result_value(res, i);
		if (std::string(got.data, got.len) != texts[i])
			return false;
	}
	return nseen == texts.size();
}

} // namespace

int main(int argc, char **argv)
{
	const std::string scheme = "unix://";
	std::string uri = argc == 2 ? argv[1] : "";
	std::vector<std::string> texts;
	rb_client *rb = nullptr;

	if (uri.compare(0, scheme.size(), scheme) != 0)
		return 2;
	owned<redisContext> ctx(
		redisConnectUnix(uri.substr(scheme.size()).c_str()));
	if (!ctx || ctx->err != 0 ||
	    rb_client_wrap(&rb, ctx.get(), nullptr) != RB_OK)
		return 2;
	owned<rb_client> holder(rb);
	for (int i = 0; i < 1500; i++)
		texts.push_back("wrapped:" + std::to_string(i));
	if (!write(rb, texts) || !read(rb, texts)) {
		std::cerr << "wrapper: " << rb_client_error(rb) << '\n';
		return 1;
	}
	return 0;
}
