# What was promised to programs that are built already. There is a dump for each
# machine whose releases are checked, of the release before.

abi_dump := packaging/abi/$(shell uname -m).abi
symbols_list := packaging/debian/libredisbatch.symbols.in

.PHONY: abi-check abi-dump abi-symbols check-package-symbols
ifneq ($(installed),)
check: check-package-symbols
endif

abi-check: build/$(so_file) ## compare the ABI with the last release's; needs abigail-tools
	@packaging/abi.sh check $< $(header) $(abi_dump)

abi-dump: build/$(so_file) abi-symbols ## renew what abi-check and the packages' symbols hold to
	@packaging/abi.sh dump $< $(header) $(abi_dump)

# A new symbol gets the version that first has it.
abi-symbols:
	@mkdir -p build
	@packaging/symbols.sh $(version) lib/redisbatch.map $(symbols_list) \
		>build/symbols
	@cp build/symbols $(symbols_list)

check-package-symbols:
	@mkdir -p build
	$(call say,CHECK,$(symbols_list))
	@packaging/symbols.sh $(version) lib/redisbatch.map $(symbols_list) \
		>build/symbols
	@cmp -s build/symbols $(symbols_list) || { echo \
		'$(symbols_list) is stale; try: make abi-symbols' >&2; exit 1; }
