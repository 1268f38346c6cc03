# The pages in docs/ and README.md. api.md repeats the header, which is compiled
# by itself.

pages := README.md $(filter-out docs/api.md,$(wildcard docs/*.md))

.PHONY: check-docs
check-docs: export DOCS_CFLAGS = -I$(CURDIR)/include $(hiredis_flags)
check-docs: export DOCS_LIBS = $(static_lib) $(program_libs)
check-docs: export TOOL = $(with_tool)
check-docs: $(static_lib) $(with_tool) ## code, options and links in README.md and docs/*.md
	@tests/check_docs.sh $(pages)

.PHONY: readme-plot
readme-plot: ## draw the picture of README.md; needs gnuplot
	gnuplot docs/bench/readme.gp >docs/bench/readme.svg
