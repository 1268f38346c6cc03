# What is run with other servers, and on another system, than those at hand.

# Names or paths, for check-servers.
SERVERS = redis-server valkey-server
# What check-debian13 makes there.
DEBIAN13 = check check-servers

# What talks to a real server or a cluster of them.
served := live/% chaos/% fault/test_proxy_% tool/test_bench% \
	tool/test_connecting tool/test_keys% tool/test_mget% tool/test_mset% \
	tool/test_pipeline%
served := $(filter $(served:%=$(out)/tests/%),$(tests))

.PHONY: check-servers get-valkey check-debian13
check-servers: $(served) ## the tests that need a server, once with each of SERVERS
	@tests/servers.sh '$(SERVERS)' $(served)

get-valkey: ## fetch a valkey-server into build/, if there is none; needs Debian
	@tests/get_valkey.sh build/servers/valkey

check-debian13: ## DEBIAN13='check check-servers' in a Debian 13; needs root and debootstrap
	@tests/debian13.sh build/debian13 $(DEBIAN13)
