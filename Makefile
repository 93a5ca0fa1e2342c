# The commands of this repository; `make` alone lists them.
# No logic lives here: what a target needs more than a line for is in a script of the room it serves.

.DEFAULT_GOAL := help
SHELL := /bin/sh
.SHELLFLAGS := -euc
MAKEFLAGS += --no-print-directory

scripts := .ci/run deploy/quickstart.sh tests/real/client tests/real/conformance tests/real/install

# $(call step,WHAT,COMMAND): says what begins, and afterwards how long it took.
define step
@printf '\n== %s\n' '$(1)'; began=$$(date +%s); code=0; ( $(2) ) || code=$$?; \
printf '== %s: %s after %s s\n' '$(1)' "$$([ $$code = 0 ] && echo done || echo FAILED)" \
"$$(($$(date +%s) - began))"; exit $$code
endef

.PHONY: help
help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: quickstart
quickstart: ## Start the gateway on two real MCP servers and make a call; PORT and ADMIN_PORT choose where
	@PORT='$(PORT)' ADMIN_PORT='$(ADMIN_PORT)' deploy/quickstart.sh

.PHONY: build
build: ## Build the release binaries into target/release
	cargo build --release --workspace --exclude tests --bins

# What takes seconds comes first. All binaries before the tests, which start them; all targets at
# once, so that dependencies are built with one set of features.
.PHONY: test
test: ## Install what the tests need, and run everything: format, lints, docs, all tests
	$(call step,tools,tests/real/install tests)
	$(call step,format,cargo fmt --all --check)
	$(call step,shell scripts,.tools/bin/shellcheck $(scripts))
	$(call step,lints,cargo clippy --workspace --all-targets -- -D warnings)
	$(call step,docs,RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps)
	$(call step,binaries,cargo build --workspace --all-targets)
	$(call step,tests,cargo test --workspace)

.PHONY: bench
bench: tools ## Run the benchmarks
	cargo build --release --workspace --bins --benches
	cargo bench --workspace --bench gateway

.PHONY: fmt
fmt: ## Format the code
	cargo fmt --all

.PHONY: generate
generate: ## Write the generated files: crds/generated
	cargo run -p crds --bin crdgen

.PHONY: tools
tools: ## Install the real servers, clients and judges of the tests into .tools/
	@tests/real/install tests

.PHONY: tools-quickstart
tools-quickstart: ## Install the two servers of the quickstart into .tools/
	@tests/real/install quickstart
