# find_package(redisbatch) for CMake.

cmake_dir = $(libdir)/cmake/redisbatch
cmake_files := redisbatch-config.cmake redisbatch-config-version.cmake
make_cmake = sed -e 's|@version@|$(version)|' -e 's|@major@|$(major)|' \
	-e 's|@libdir@|$(libdir)|' -e 's|@includedir@|$(includedir)|' \
	-e 's|@cmakedir@|$(cmake_dir)|' -e 's|@so_file@|$(so_file)|' \
	-e 's|@so_name@|$(so_name)|' \
	-e 's| *@private_modules@|$(addprefix $(space),$(private_modules))|'
space := $(comma) $(comma)
space := $(subst $(comma),,$(space))

.PHONY: install-cmake uninstall-cmake
install: install-cmake
install-cmake:
	$(quiet)$(INSTALL) -d $(DESTDIR)$(cmake_dir)
	$(quiet)for file in $(cmake_files); do \
		$(make_cmake) packaging/cmake/$$file.in \
			>$(DESTDIR)$(cmake_dir)/$$file && \
		chmod 644 $(DESTDIR)$(cmake_dir)/$$file || exit 1; \
	done

# Before the folders above are looked at.
uninstall: uninstall-cmake
uninstall-cmake:
	$(quiet)rm -f $(addprefix $(DESTDIR)$(cmake_dir)/,$(cmake_files))
	$(quiet)rmdir $(DESTDIR)$(cmake_dir) 2>/dev/null || :
ifeq ($(filter /usr /usr/local,$(prefix)),)
	$(quiet)rmdir $(DESTDIR)$(libdir)/cmake 2>/dev/null || :
endif
