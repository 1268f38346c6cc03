# Programs of somebody else's, built against an installed copy.

formatted += $(wildcard tests/consumers/*.c)
consumed := $(CURDIR)/build/consumers

.PHONY: check-consumers
ifneq ($(installed),)
check: check-consumers
endif

check-consumers: all ## programs in C and C++, by pkg-config and CMake, shared and static
	@rm -rf $(consumed)
	@$(MAKE) $(call at,$(consumed),) install
	@tests/check_consumers.sh $(consumed)
