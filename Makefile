# libredisbatch. `make help` lists what can be asked for.

ifneq ($(filter deps,$(MAKECMDGOALS)),)

# What pkg-config says is only true once deps has run. So deps runs first, by
# itself, and a make of its own then sees to the other goals, whatever -j says.

rest := $(filter-out deps,$(MAKECMDGOALS))

.PHONY: deps rest $(rest)
deps:
	@tests/deps.sh
rest: deps
	+@$(MAKE) --no-print-directory $(rest)
$(rest): rest
	@:

else

.DELETE_ON_ERROR:
.SUFFIXES:
all: # the default goal

# ------------------------------------------------------------- to choose --
# With plain `=`: the command line may set these, the environment may not, so
# that no stray variable redirects an install.

prefix = /usr/local
exec_prefix = $(prefix)
bindir = $(exec_prefix)/bin
libdir = $(exec_prefix)/lib
includedir = $(prefix)/include
datarootdir = $(prefix)/share
datadir = $(datarootdir)
docdir = $(datarootdir)/doc/redisbatch
mandir = $(datarootdir)/man
pkgconfigdir = $(libdir)/pkgconfig
DESTDIR =

# release, asan (with UBSan), tsan, coverage or fuzz (for make fuzz); each has
# its own build/ folder.
VARIANT = release
# no: the library alone, without the redisbatch command, which needs jansson.
# Where there is no jansson it is left out by itself.
WITH_TOOL = yes
# no: without TLS, which needs hiredis 1.0 with its ssl library, and OpenSSL.
# Where they are not there it is left out by itself.
WITH_TLS = yes
# unpacked: a later hiredis, which make get-hiredis fetches into build/, to test
# with on a system that has an old one.
HIREDIS = system
# 1 shows the commands and the output of every test.
V = 0
# How long make fuzz runs each target, and how many of them at a time.
FUZZ_SECONDS = 60
FUZZ_JOBS = 2
FUZZ_SEED = 0
# How long make chaos goes on.
CHAOS_SECONDS = 60
# What percentage of lib/ the tests must reach, and of the lines of src/.
COVERAGE_LINES = 95
COVERAGE_BRANCHES = 90
COVERAGE_TOOL = 85

# The usual names, from the command line or the environment.
CFLAGS ?= $(optimise_$(VARIANT))
CPPFLAGS ?=
LDFLAGS ?=
PKG_CONFIG ?= pkg-config
INSTALL ?= install
CLANG_FORMAT ?= clang-format

# ------------------------------------------------------------- variants --

optimise_release = -O2 -g
optimise_asan = -O1 -g
optimise_tsan = -O1 -g
optimise_coverage = -O0 -g
optimise_fuzz = -O1 -g
variant_release =
variant_asan = -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer
variant_tsan = -fsanitize=thread -fno-omit-frame-pointer
# Threads of the tests count in the same places.
variant_coverage = --coverage -fprofile-update=atomic
variant_fuzz = $(variant_asan) -fsanitize=fuzzer-no-link

ifeq ($(origin variant_$(VARIANT)),undefined)
$(error VARIANT is $(VARIANT), not release, asan, tsan, coverage or fuzz)
endif

ifeq ($(filter system unpacked,$(HIREDIS)),)
$(error HIREDIS is $(HIREDIS), not system or unpacked)
endif

unpacked := build/hiredis
# Without it pkg-config would answer with the system's.
ifeq ($(HIREDIS)$(wildcard $(unpacked)/pkgconfig/hiredis_ssl.pc),unpacked)
$(error HIREDIS is unpacked, but nothing is: make get-hiredis)
endif

out := build/$(VARIANT)$(if $(filter unpacked,$(HIREDIS)),-unpacked)
# The default is what gets installed, and stands directly in build/.
installed := $(filter build/release,$(out))

# -------------------------------------------------------------- version --
# It stands in the public header alone.

header := include/redisbatch/redisbatch.h
version_of = $(shell sed -n 's/^.define RB_VERSION_$1 //p' $(header))
major := $(call version_of,MAJOR)
version := $(major).$(call version_of,MINOR).$(call version_of,PATCH)

# -------------------------------------------------------------- sources --

lib_src := $(wildcard lib/*.c)
tool_src := $(wildcard src/*.c)
# What is installed with the tool, and where it belongs.
man_page := docs/redisbatch.1
bash_words := completions/redisbatch.bash
zsh_words := completions/_redisbatch
bash_dir = $(datadir)/bash-completion/completions
zsh_dir = $(datadir)/zsh/site-functions
support_src := $(wildcard tests/support/*.c)
suites := unit live fault torture chaos tool
test_src := $(foreach s,$(suites),$(wildcard tests/$s/test_*.c))
torture_src := $(filter-out $(test_src),$(wildcard tests/torture/*.c))
chaos_src := $(filter-out $(test_src),$(wildcard tests/chaos/*.c))
fuzz_src := $(wildcard tests/fuzz/fuzz_*.c)
fuzz_rest := $(filter-out $(fuzz_src),$(wildcard tests/fuzz/*.c))
bench_main := $(wildcard tests/bench/demo.c tests/bench/bench.c)
bench_src := $(filter-out $(bench_main),$(wildcard tests/bench/*.c))
examples := $(wildcard examples/*.c)
formatted := $(wildcard $(header) lib/*.[ch] src/*.[ch] tests/*/*.[ch] \
	examples/*.c)

obj = $(patsubst %.c,$(out)/%.o,$1)
objects := $(call obj,$(lib_src) $(tool_src) $(support_src) $(test_src) \
	$(torture_src) \
	$(chaos_src) $(bench_src) $(bench_main) $(fuzz_src) $(fuzz_rest))

lib_dir := $(if $(installed),build,$(out))
static_lib := $(lib_dir)/libredisbatch.a
tool := $(lib_dir)/redisbatch
support_lib := $(out)/libsupport.a
tests := $(test_src:%.c=$(out)/%)
replays := $(fuzz_src:%.c=$(out)/%)
fuzzers := $(fuzz_src:tests/fuzz/%.c=build/fuzz/%)
demo := $(out)/bench/demo
bench := $(out)/bench/bench

ifeq ($(shell uname),Darwin)
so_link := libredisbatch.dylib
so_name := libredisbatch.$(major).dylib
so_file := libredisbatch.$(version).dylib
so_flags = -dynamiclib -install_name $(libdir)/$(so_name)
else
so_link := libredisbatch.so
so_name := $(so_link).$(major)
so_file := $(so_link).$(version)
so_flags = -shared -Wl,-soname,$(so_name) -Wl,--no-undefined \
	-Wl,--version-script=lib/redisbatch.map
endif
shared_lib := build/$(so_link)

# ---------------------------------------------------------------- flags --
# pkg-config names the folder of hiredis.h, while the sources say
# <hiredis/hiredis.h>: the folder above is put on the path. As a system folder
# it gives no warnings; /usr/include is on the path already, and naming it
# would break the order that C++ headers need.

ifeq ($(HIREDIS),unpacked)
export PKG_CONFIG_PATH := $(CURDIR)/$(unpacked)/pkgconfig:$(PKG_CONFIG_PATH)
endif
# What is exported reaches recipes, and not yet $(shell) in every make.
pkg = $(shell PKG_CONFIG_PATH='$(PKG_CONFIG_PATH)' $(PKG_CONFIG) $1 2>/dev/null)
add_dirs = $(sort $(filter-out /usr/include,$(patsubst %/hiredis,%,\
	$(patsubst -I%,%,$1))))
system_dirs = $(addprefix -isystem ,$(call add_dirs,$1))
runpath = $(patsubst -L%,-Wl$(comma)-rpath$(comma)%,$(filter -L%,$1))
comma := ,

ifneq ($(filter-out help clean format format-check,$(or $(MAKECMDGOALS),all)),)
hiredis_dirs := $(call pkg,--cflags-only-I hiredis)
hiredis_flags := $(call system_dirs,$(hiredis_dirs)) \
	$(call pkg,--cflags-only-other hiredis)
hiredis_libs := $(call pkg,--libs hiredis)
ifeq ($(WITH_TLS),yes)
have_tls := $(call pkg,--exists 'hiredis >= 1.0' hiredis_ssl openssl && echo yes)
endif
ifeq ($(have_tls),yes)
hiredis_flags += $(call system_dirs,$(call pkg,--cflags-only-I openssl)) \
	-DRBI_WITH_TLS
hiredis_libs := $(call pkg,--libs hiredis_ssl hiredis openssl)
# What a static link needs besides hiredis, for redisbatch.pc and CMake.
private_modules := hiredis_ssl openssl
endif
cmocka_flags := $(call system_dirs,$(call pkg,--cflags-only-I cmocka))
cmocka_libs := $(call pkg,--libs cmocka)
json_flags := $(call system_dirs,$(call pkg,--cflags-only-I jansson))
json_libs := $(call pkg,--libs jansson)
have_json := $(call pkg,--exists jansson && echo yes)
endif

# The tool, unless there is a reason to leave it out, and its tests with it.
left_out := $(if $(filter yes,$(WITH_TOOL)),$(if $(have_json),,\
	jansson was not found by $(PKG_CONFIG)),WITH_TOOL is $(WITH_TOOL))
with_tool := $(if $(left_out),,$(tool))
ifneq ($(left_out),)
test_src := $(filter-out tests/tool/%,$(test_src))
tests := $(filter-out $(out)/tests/tool/%,$(tests))
endif

# Nor is there anything to be tested of TLS where there is none.
ifneq ($(have_tls),yes)
test_src := $(foreach t,$(test_src),$(if $(findstring /test_tls_,$t),,$t))
tests := $(test_src:%.c=$(out)/%)
endif

warnings = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes \
	-Wmissing-prototypes -Wvla
compile = $(CC) -std=c11 -D_POSIX_C_SOURCE=200809L -Iinclude $(includes) \
	$(hiredis_flags) $(defines) $(CPPFLAGS) -fPIC -fvisibility=hidden $(warnings) \
	$(variant_$(VARIANT)) $(CFLAGS) -MMD -MP
link = $(CC) $(variant_$(VARIANT)) $(CFLAGS) $(LDFLAGS)
program_libs = $(hiredis_libs) $(call runpath,$(hiredis_libs)) -lpthread

# Private, or it would reach the library's objects too: they are prerequisites.
$(out)/tests/%: private includes = -Ilib -Itests/support $(cmocka_flags)
$(out)/tests/tool/%: private includes = -Isrc -Itests/support $(cmocka_flags) \
	$(json_flags)
$(out)/src/%: private includes = $(json_flags)
$(out)/tests/support/spawn.o: private defines = -DRBT_TOOL_PATH='"$(tool)"'

gcov = $(if $(findstring clang,$(CC)),llvm-cov gcov,gcov)

# The scripts ask for these.
export CC CXX PKG_CONFIG V

quiet := $(if $(filter 1,$(V)),,@)
say = $(if $(quiet),@printf '  %-7s %s\n' '$1' '$2')

# ------------------------------------------------------------ the library --

.PHONY: all help
all: $(static_lib) $(with_tool) ## the library, the tool and redisbatch.pc (the default)
	$(if $(left_out),@echo 'The redisbatch command was left out:' \
		'$(strip $(left_out)).')
ifneq ($(installed),)
all: $(shared_lib) build/redisbatch.pc
endif

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.* ## / { printf "  %-14s %s\n", $$1, $$2 }' \
		$(MAKEFILE_LIST)
	@echo '  deps           install what building and testing need'
	@echo 'Variables: VARIANT=$(VARIANT) (or asan, tsan, coverage), V=1, CC,'
	@echo 'CFLAGS, LDFLAGS, prefix=$(prefix), libdir and its like, DESTDIR,'
	@echo 'WITH_TOOL=$(WITH_TOOL), WITH_TLS=$(WITH_TLS), HIREDIS=$(HIREDIS),'
	@echo 'ARGS for demo and bench.'

# Objects depend on this file, which changes when the flags do.
$(out)/flags: export flags = $(compile) $(link) $(cmocka_flags)
$(out)/flags: FORCE
	@mkdir -p $(@D)
	@[ "$$flags" = "$$(cat $@ 2>/dev/null)" ] || \
		{ rm -f $@; printf '%s\n' "$$flags" >$@; }

$(objects): $(out)/%.o: %.c $(out)/flags | need-hiredis
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(quiet)$(compile) -c -o $@ $<

-include $(objects:.o=.d)

$(static_lib): $(call obj,$(lib_src))
$(support_lib): $(call obj,$(support_src))
$(static_lib) $(support_lib):
	$(call say,AR,$@)
	$(quiet)rm -f $@
	$(quiet)$(AR) rcs $@ $^

build/$(so_file): $(call obj,$(lib_src)) lib/redisbatch.map
	$(call say,LINK,$@)
	$(quiet)$(link) $(so_flags) -o $@ $(filter %.o,$^) $(hiredis_libs) -lpthread

$(shared_lib): build/$(so_file)
	$(quiet)ln -sf $(so_file) build/$(so_name)
	$(quiet)ln -sf $(so_name) $@

# The tool carries the library in it, and runs from anywhere.
$(tool): $(call obj,$(tool_src)) $(static_lib)
	$(call say,LINK,$@)
	$(quiet)$(link) -o $@ $^ $(json_libs) $(program_libs)

# Folders below the prefix are written as such, so that pkg-config can move
# them. Where hiredis is no system package, its users need its folder too.
below = $(patsubst $(prefix)/%,$${prefix}/%,$1)
make_pc = sed -e 's|@version@|$(version)|' -e 's|@prefix@|$(prefix)|' \
	-e 's|@libdir@|$(call below,$(libdir))|' \
	-e 's|@includedir@|$(call below,$(includedir))|' \
	-e 's|@hiredis@|$(addprefix -I,$(call add_dirs,$(hiredis_dirs)))|' \
	-e 's|@private_modules@|$(private_modules)|' \
	-e '/^Requires.private: *$$/d' -e 's/ *$$//' redisbatch.pc.in

build/redisbatch.pc: redisbatch.pc.in $(header) FORCE
	@mkdir -p $(@D)
	$(quiet)rm -f $@
	$(quiet)$(make_pc) >$@

.PHONY: need-hiredis need-cmocka need-jansson FORCE
need-hiredis need-cmocka need-jansson: need-%:
	@$(PKG_CONFIG) --exists $* || \
		{ echo '$* was not found by $(PKG_CONFIG); try: make deps' >&2; exit 1; }

.PHONY: get-hiredis
get-hiredis: ## fetch what HIREDIS=unpacked builds with; needs Debian's apt-get
	@tests/get_hiredis.sh $(unpacked)

# ----------------------------------------------------------------- checks --

$(call obj,$(tool_src)): | need-jansson
$(call obj,$(test_src) $(torture_src) $(chaos_src)): | need-cmocka
$(filter $(out)/tests/tool/%,$(tests)): $(filter-out %/main.o,\
	$(call obj,$(tool_src))) | $(tool)
$(filter $(out)/tests/torture/%,$(tests)): $(call obj,$(torture_src))
$(filter $(out)/tests/chaos/%,$(tests)): $(call obj,$(chaos_src))
$(tests): %: %.o $(support_lib) $(static_lib)
	$(call say,LINK,$@)
	$(quiet)$(link) -o $@ $(filter %.o,$^) $(filter %.a,$^) \
		$(cmocka_libs) $(json_libs) $(program_libs)

static_checks := layers symbols header examples docs \
	$(if $(left_out),,tool-docs)
.PHONY: tests check check-layers check-symbols check-header check-examples \
	check-tool-docs
tests: $(tests) $(replays) ## build the tests

# The tests run last, so that their count is the last line.
ifneq ($(installed),)
check: $(static_checks:%=check-%)
endif
check: $(tests) $(replays) ## everything that must hold: tests, layers, symbols, examples
	@tests/run.sh $(tests) $(replays)

.PHONY: $(suites:%=check-%)
in_suite = $(filter $(out)/tests/$1/%,$(tests))
$(foreach s,$(suites),$(eval check-$s: $(call in_suite,$s)))
$(suites:%=check-%): check-%:
	@tests/run.sh $(call in_suite,$*)
check-unit: ## the tests of tests/unit only; so check-live, -fault, -torture, -chaos, -tool
.PHONY: torture
torture: $(tests) ## every allocation and system call fails, in longer calls
	@RBT_TORTURE=1 TEST_TIMEOUT=$${TEST_TIMEOUT:-3600} \
		tests/run.sh $(filter $(out)/tests/torture/%,$(tests))

.PHONY: chaos
chaos: $(out)/tests/chaos/test_chaos ## a cluster in a storm, for CHAOS_SECONDS
	@RBT_CHAOS_SECONDS=$(CHAOS_SECONDS) $<

# What has threads: of the test, or of the peer it talks to. For VARIANT=tsan.
threaded := live/test_threads fault/test_duplex fault/test_late \
	fault/test_pieces fault/test_write_loss
threaded := $(threaded:%=$(out)/tests/%)
.PHONY: check-threads
check-threads: $(threaded) ## the tests with threads, for VARIANT=tsan
	@tests/run.sh $(threaded)

# The tests run again from nothing; what was reached before does not count.
.PHONY: coverage
coverage: ## what the tests reach of lib/ and src/; needs gcovr
	@command -v gcovr >/dev/null || { echo 'gcovr was not found; try:' \
		'apt-get install gcovr, or pip install gcovr' >&2; exit 1; }
	@$(MAKE) --no-print-directory VARIANT=coverage tests
	@find build/coverage -name '*.gcda' -exec rm -f {} +
	@$(MAKE) --no-print-directory VARIANT=coverage check
	@GCOV='$(gcov)' tests/coverage.sh build/coverage \
		$(COVERAGE_LINES) $(COVERAGE_BRANCHES) $(COVERAGE_TOOL)

check-layers: ## includes and calls keep to lib/LAYERS
	@tests/check_layers.sh lib

check-symbols: build/$(so_file) $(static_lib) ## header, map and library agree
	@tests/check_symbols.sh $(header) lib/redisbatch.map $^

check-tool-docs: $(tool) ## each option is in the man page and the completions
	@if command -v bash >/dev/null; then \
		tests/check_tool_docs.sh $(tool) $(man_page) $(bash_words) \
			$(zsh_words); \
	else \
		echo 'check-tool-docs skipped: there is no bash'; \
	fi

check-header: ## the public header alone, as C and as C++
	@tests/check_header.sh $(header)

# Installs at $1 below the root $2, whatever was chosen for the real install.
at = --no-print-directory -s prefix=$1 exec_prefix=$1 bindir=$1/bin \
	libdir=$1/lib includedir=$1/include datarootdir=$1/share \
	datadir=$1/share docdir=$1/share/doc/redisbatch mandir=$1/share/man \
	pkgconfigdir=$1/lib/pkgconfig DESTDIR=$2
stage := $(CURDIR)/build/stage
tryout := $(CURDIR)/build/tryout

check-examples: all ## the examples, built against an installed copy and run
	@rm -rf $(stage)
	@$(MAKE) $(call at,$(stage),) install
	@tests/check_examples.sh $(stage) $(examples)

# ---------------------------------------------------------------- fuzzing --
# A target is built twice: with replay.c, by any compiler, to go through the
# inputs in tests/fuzz/corpus; and with libFuzzer, which only clang has.

$(replays): %: %.o $(out)/tests/fuzz/replay.o $(support_lib) $(static_lib)
	$(call say,LINK,$@)
	$(quiet)$(link) -o $@ $^ $(program_libs)

build/fuzz/fuzz_%: build/fuzz/tests/fuzz/fuzz_%.o $(support_lib) $(static_lib)
	$(call say,LINK,$@)
	$(quiet)$(link) -fsanitize=fuzzer -o $@ $^ $(program_libs)

.PHONY: fuzz fuzz-replay fuzz-programs need-fuzzer
fuzz-replay: $(replays) ## the inputs that were kept, without a fuzzer
	@tests/run.sh $(replays)

fuzz: need-fuzzer ## run each target for FUZZ_SECONDS with libFuzzer; needs clang
	+@$(MAKE) --no-print-directory VARIANT=fuzz CC=clang fuzz-programs
	@tests/fuzz/fuzz.sh $(FUZZ_SECONDS) $(FUZZ_JOBS) $(FUZZ_SEED) \
		$(fuzzers)

need-fuzzer:
	@echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | \
		clang -fsanitize=fuzzer -x c -o /dev/null - 2>/dev/null || \
		{ echo 'fuzz needs clang with libFuzzer (clang, libclang-rt-dev)' \
		>&2; exit 1; }

# What fuzz makes itself be called again for: VARIANT=fuzz CC=clang.
fuzz-programs: $(fuzzers)

# ---------------------------------------------------------- demo and bench --

$(demo) $(bench): $(out)/bench/%: $(out)/tests/bench/%.o \
		$(call obj,$(bench_src)) $(support_lib) $(static_lib)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(quiet)$(link) -o $@ $^ $(program_libs)

.PHONY: demo bench bench-programs
bench-programs: $(bench_main:tests/%.c=$(out)/%)
demo: $(demo) ## the library at work, on a server of its own
	@$(demo) $(ARGS)
bench: $(bench) ## measure it
	@$(bench) $(ARGS)

# ---------------------------------------------------------------- install --

.PHONY: install install-tool uninstall installcheck
install: $(static_lib) $(shared_lib) ## below $(DESTDIR)$(prefix); runs no ldconfig
install: $(if $(left_out),,install-tool)
	$(quiet)$(INSTALL) -d $(DESTDIR)$(includedir)/redisbatch \
		$(DESTDIR)$(libdir) $(DESTDIR)$(pkgconfigdir) $(DESTDIR)$(docdir)
	$(quiet)$(INSTALL) -m 644 $(header) $(DESTDIR)$(includedir)/redisbatch
	$(quiet)$(INSTALL) -m 644 $(static_lib) $(DESTDIR)$(libdir)
	$(quiet)$(INSTALL) -m 755 build/$(so_file) $(DESTDIR)$(libdir)
	$(quiet)ln -sf $(so_file) $(DESTDIR)$(libdir)/$(so_name)
	$(quiet)ln -sf $(so_name) $(DESTDIR)$(libdir)/$(so_link)
	$(quiet)$(make_pc) >$(DESTDIR)$(pkgconfigdir)/redisbatch.pc
	$(quiet)chmod 644 $(DESTDIR)$(pkgconfigdir)/redisbatch.pc
	$(quiet)$(INSTALL) -m 644 $(wildcard README.md LICENSE) $(DESTDIR)$(docdir)

install-tool: $(tool)
	$(quiet)$(INSTALL) -d $(DESTDIR)$(bindir) $(DESTDIR)$(mandir)/man1 \
		$(DESTDIR)$(bash_dir) $(DESTDIR)$(zsh_dir)
	$(quiet)$(INSTALL) -m 755 $(tool) $(DESTDIR)$(bindir)
	$(quiet)$(INSTALL) -m 644 $(man_page) $(DESTDIR)$(mandir)/man1
	$(quiet)$(INSTALL) -m 644 $(bash_words) $(DESTDIR)$(bash_dir)/redisbatch
	$(quiet)$(INSTALL) -m 644 $(zsh_words) $(DESTDIR)$(zsh_dir)

# A prefix of its own goes with what was in it, unless other things are there;
# the system's folders stay.
ifeq ($(filter /usr /usr/local,$(prefix)),)
own_folders = $(includedir) $(libdir) $(bindir) $(mandir)/man1 $(mandir) \
	$(bash_dir) $(datadir)/bash-completion $(zsh_dir) $(datadir)/zsh \
	$(datarootdir)/doc $(datadir) $(datarootdir) $(exec_prefix) $(prefix)
endif

uninstall: ## take away what install put there
	$(quiet)rm -f $(DESTDIR)$(includedir)/redisbatch/redisbatch.h \
		$(DESTDIR)$(libdir)/libredisbatch.a \
		$(addprefix $(DESTDIR)$(libdir)/,$(so_link) $(so_name) $(so_file)) \
		$(DESTDIR)$(pkgconfigdir)/redisbatch.pc \
		$(DESTDIR)$(docdir)/README.md $(DESTDIR)$(docdir)/LICENSE \
		$(DESTDIR)$(bindir)/redisbatch \
		$(DESTDIR)$(mandir)/man1/redisbatch.1 \
		$(DESTDIR)$(bash_dir)/redisbatch $(DESTDIR)$(zsh_dir)/_redisbatch
	$(quiet)for dir in $(includedir)/redisbatch $(pkgconfigdir) $(docdir) \
			$(own_folders); do \
		rmdir "$(DESTDIR)$$dir" 2>/dev/null || :; \
	done

installcheck: export WITH := $(if $(left_out),,tool)
installcheck: all ## install, use and uninstall, in folders of its own
	@rm -rf $(tryout)
	@$(MAKE) $(call at,$(tryout),) install
	@tests/installcheck.sh use $(tryout)
	@$(MAKE) $(call at,$(tryout),) uninstall
	@tests/installcheck.sh gone $(tryout)
	@prefix=/nowhere PREFIX=/nowhere DESTDIR=/nowhere \
		$(MAKE) $(call at,/usr,$(tryout)/root) install
	@tests/installcheck.sh staged $(tryout)/root/usr
	@$(MAKE) $(call at,/usr,$(tryout)/root) uninstall
	@tests/installcheck.sh gone $(tryout)
	@$(MAKE) $(call at,$(tryout),) WITH_TOOL=no install
	@WITH= tests/installcheck.sh staged $(tryout)
	@$(MAKE) $(call at,$(tryout),) WITH_TOOL=no uninstall
	@tests/installcheck.sh gone $(tryout)

# --------------------------------------------------------------- the code --

.PHONY: format format-check lint clean
format: ## lay out the code with clang-format
	$(CLANG_FORMAT) -i $(formatted)

format-check: ## tell where clang-format would change the layout
	@if command -v $(CLANG_FORMAT) >/dev/null; then \
		$(CLANG_FORMAT) --dry-run --Werror $(formatted); \
	else \
		echo 'format-check skipped: there is no $(CLANG_FORMAT)'; \
	fi

linted_tool := $(if $(left_out),,$(tool_src))
lint: ## clang-tidy and cppcheck over lib/ and src/, where they are installed
	@if command -v clang-tidy >/dev/null; then \
		clang-tidy --quiet $(lib_src) $(linted_tool) -- \
			$(filter-out -M%,$(compile)) $(json_flags); \
	else \
		echo 'clang-tidy skipped: it is not installed'; \
	fi
	@if command -v cppcheck >/dev/null; then \
		cppcheck --quiet --std=c11 --error-exitcode=1 --inline-suppr \
			--enable=warning,performance,portability \
			--suppress=missingIncludeSystem -Iinclude lib src; \
	else \
		echo 'cppcheck skipped: it is not installed'; \
	fi

clean: ## remove build/
	rm -rf build

# What belongs to one room alone stands there.
include docs/docs.mk packaging/abi.mk packaging/cmake.mk \
	packaging/consumers.mk packaging/dist.mk packaging/man.mk \
	tests/servers.mk

endif
