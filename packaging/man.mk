# The manual pages of the calls, and the API in one page.

man3_pages := $(wildcard docs/man/*.3)
man3_dir = $(mandir)/man3

# Each other name in the NAME of a page is a link to it, so that man finds it:
# "PAGE NAME", one a line.
man3_links = for page in $(man3_pages); do \
	sed -n -e '/^\.Sh NAME/,/^\.Nd/s/^\.Nm \([a-z_]*\).*/\1/p' $$page | \
		grep -vx "$$(basename $$page .3)" | \
		sed "s/^/$$(basename $$page) /"; \
	done

.PHONY: install-man uninstall-man
install: install-man
install-man:
	$(quiet)$(INSTALL) -d $(DESTDIR)$(man3_dir)
	$(quiet)$(INSTALL) -m 644 $(man3_pages) $(DESTDIR)$(man3_dir)
	$(quiet)$(man3_links) | while read -r page name; do \
		rm -f "$(DESTDIR)$(man3_dir)/$$name.3" && \
		echo ".so man3/$$page" >"$(DESTDIR)$(man3_dir)/$$name.3" && \
		chmod 644 "$(DESTDIR)$(man3_dir)/$$name.3" || exit 1; \
	done

# Before the folders above are looked at.
uninstall: uninstall-man
uninstall-man:
	$(quiet)rm -f $(addprefix $(DESTDIR)$(man3_dir)/,$(notdir $(man3_pages)))
	$(quiet)$(man3_links) | while read -r page name; do \
		rm -f "$(DESTDIR)$(man3_dir)/$$name.3"; \
	done
ifeq ($(filter /usr /usr/local,$(prefix)),)
	$(quiet)rmdir $(DESTDIR)$(man3_dir) 2>/dev/null || :
endif

# ----------------------------------------------------------------- checks --

.PHONY: check-man check-man-examples api check-api
ifneq ($(installed),)
check: check-man check-man-examples check-api
endif

check-man: ## the manual pages are well formed and say what the header says
	@tests/check_man.sh $(header) lib/redisbatch.map $(man3_pages)
	@if command -v mandoc >/dev/null; then \
		mandoc -T lint -W warning $(man_page); \
	fi

# The complete programs in the pages, as a user would build them.
man_stage := $(CURDIR)/build/man
check-man-examples: all ## the examples of the manual pages, built and run
	@rm -rf $(man_stage)
	@$(MAKE) $(call at,$(man_stage)/stage,) install
	@tests/man_examples.sh $(man_stage) $(man3_pages)
	@tests/check_examples.sh $(man_stage)/stage $(man_stage)/*.c

api: ## write docs/api.md anew from the header
	@mkdir -p build
	@awk -f docs/api.awk $(header) >build/api.md.new
	@mv build/api.md.new docs/api.md

check-api: ## docs/api.md is what the header says
	@mkdir -p build
	@awk -f docs/api.awk $(header) >build/api.md
	$(call say,CHECK,docs/api.md)
	@cmp -s build/api.md docs/api.md || \
		{ echo 'docs/api.md is stale; try: make api' >&2; exit 1; }
