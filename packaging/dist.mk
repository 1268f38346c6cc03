# The source as a file, and what is made of it.

dist_name := redisbatch-$(version)
dist_file := build/$(dist_name).tar.gz
# The time of the commit, unless something else builds at a time of its own.
dist_time = $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct))

.PHONY: dist distcheck deb
dist: ## build/redisbatch-VERSION.tar.gz of the files of the last commit
	@mkdir -p build
	@packaging/dist.sh $(dist_name) '$(dist_time)' $(dist_file)
	$(call say,DIST,$(dist_file))

distcheck: dist ## unpack it away from here, build, test, install, uninstall
	@packaging/distcheck.sh $(dist_file)

deb: dist ## the packages for Debian, in build/deb; needs debhelper
	@packaging/deb.sh $(dist_file) $(version) $(major) '$(dist_time)' build/deb
