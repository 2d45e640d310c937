# The tasks of this repository. `make` alone prints the first ones, `make help-all` all.

.DEFAULT_GOAL := help
.PHONY: checks count-code help help-all demo demo-model build app-pictures check check-api check-bounds check-called check-certified check-clients check-crates check-deploy check-described check-dist check-edge check-evaluation check-measured check-packages check-fidelity check-model check-generators check-parquet check-reproducible check-scripts check-services check-sign-in check-spreadsheet check-wasm sbom licences man fmt fmt-check clippy test test-all test-each test-endurance test-faults test-firefox test-rolling test-runs dist packages docs deny audit cargo-deny bench bench-app bench-database bench-evaluation bench-growth bench-http bench-model bench-pace bench-watch build-bench-http fuzz fuzz-build semver train wasm clean bench-scale try-failover

CARGO ?= cargo
PROFILE ?= dev
CARGO_DENY_VERSION := 0.20.2
DENY = $(CARGO) deny --config .cargo/deny.toml --locked check

# What `make train` counted tells the compiler what runs often, and what never. Paths of this machine that the binary
# would hold otherwise are replaced, so that a commit gives the same bytes in every folder. What shares
# target/release sets the flags too, or it would compile everything again. C is compiled at level 2, as SQLite's
# makers do, and without what a debugger wants, for which jemalloc asks; it is compiled once instead of twice.
RELEASE = env MAKEFLAGS="C_OBJS= CC_MM=" CFLAGS="$${CFLAGS-} -g0 -O2" RUSTFLAGS="$${RUSTFLAGS-} -Cprofile-use=$(COUNTS) --remap-path-prefix=$(CURDIR)=/refract --remap-path-prefix=$${CARGO_HOME:-$$HOME/.cargo}=/cargo" $(CARGO)

# The name has a checksum of what was counted: Cargo compiles again when the name changes, not the content.
COUNTED := bin/refract/release.profdata.gz
COUNTS := $(abspath $(or $(CARGO_TARGET_DIR),target))/release-$(firstword $(shell cksum <$(COUNTED))).profdata

$(COUNTS): $(COUNTED)
	@mkdir -p $(@D)
	@gzip -dc $< >$@.part && mv $@.part $@

# Checks and tests do without jemalloc, whose build takes two minutes of processor time (ADR 4).
WORKSPACE := --workspace --no-default-features --features refract/full

# What a newcomer needs; the others are in `make help-all`.
FIRST := demo build test check fmt clippy docs bench

help: ## print the first tasks
	@awk -v first="$(FIRST)" 'BEGIN { FS = ":.*## "; count = split(first, order, " ") } \
		/^[a-z-]+:.*## / { text[$$1] = $$2 } \
		END { for (at = 1; at <= count; at++) printf "make %-8s %s\n", order[at], text[order[at]]; print "make help-all lists all tasks" }' $(MAKEFILE_LIST)

help-all: ## print all tasks
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## start the service with a ready prism and make a call to it (ARGS=--once ends after the call)
	$(CARGO) build --profile quick --locked --package refract --no-default-features
	@"$${CARGO_TARGET_DIR:-target}/quick/refract" demo $(ARGS)

build: $(COUNTS) ## build the release binary, target/release/refract
	$(RELEASE) build --release --locked --package refract

train: ## count anew what runs often in the release binary, on a made-up usual day (needs wrk, curl and LLVM's llvm-profdata)
	.ci/release/train-release

PROTOCOL ?= chat

demo-model: ## the demo with a small real model from PyPI, which answers badly (PROTOCOL=chat: SmolLM2 on llama.cpp; systemone: sparrow-decider; ARGS=--once; needs Python 3.11)
	$(CARGO) build --profile quick --locked --package refract --no-default-features
	@.ci/with-model $(PROTOCOL) "$${CARGO_TARGET_DIR:-target}/quick/refract" demo $(ARGS)

app-pictures: ## make pictures of every page of the app in target/app-pictures, and those of the documents (finds or installs Chromium)
	$(CARGO) build --locked --package refract --bins --example app_pictures
	.ci/with-browser "$${CARGO_TARGET_DIR:-target}/debug/examples/app_pictures"

check: ## the whole gate: formatting, clippy, tests, docs, dependencies, packages, the API's description, clients, the measures, the app's scripts
	@$(MAKE) --no-print-directory --jobs 2 checks ASIDE='nice -n 10'

# Two at a time: tests wait for most of their time, and what is built meanwhile makes way for them.
checks: fmt-check clippy test deny docs check-crates fuzz-build check-scripts check-described check-measured check-called

check-api: ## compare a running server with docs/openapi.json by Schemathesis, in about two minutes (ARGS='--seed 42'; needs Python 3.11)
	.ci/gate/check-api $(ARGS)

check-bounds: ## fill a node with large forms, bodies that stand still and large workbooks, and print its peak memory and how long ordinary calls take beside them (PROFILE=release on a quiet machine: the unoptimised program is too slow for its limit of time; needs `ulimit -n 12000`)
	REFRACT_TEST_BOUNDS=full $(CARGO) test --package refract --test black_box --profile $(PROFILE) --locked -- --test-threads 1 --nocapture bounds::crowd:: bounds::workbooks::

check-called: test
	@REFRACT_BINARY="$${CARGO_TARGET_DIR:-target}/debug/refract" .ci/gate/check-clients || { [ $$? -eq 75 ] && echo 'the clients were not checked'; }

check-certified: ## try the promise of certified cutoffs on populations with known errors, 10,000 draws each, in some minutes
	REFRACT_TEST_CERTIFIED=full $(CARGO) test --release --package refract-evaluation --test evaluation --locked -- --nocapture certified_promise

check-clients: ## pack the clients, check their types, and make every call with the packages through injected faults (needs Python 3.11; Node and npm for TypeScript)
	.ci/gate/check-clients

check-crates: ## package the crates that other programs may use, and build and document each from its package alone
	$(ASIDE) .ci/gate/check-crates

check-deploy: ## check docs/deploy: each file with its own tool, each query of the dashboards on real metrics (installs HAProxy, Caddy, Prometheus and buildah on Debian)
	.ci/release/check-deploy

check-described: test # with a fixed seed, so that the gate does not depend on chance
	@REFRACT_BINARY="$${CARGO_TARGET_DIR:-target}/debug/refract" .ci/gate/check-api --seed 42 || { [ $$? -eq 75 ] && echo 'Schemathesis was not run'; }

check-dist: dist ## install, upgrade and remove the Debian package and the tarball on fresh Debian 12 and Ubuntu 22.04 with systemd (SUITES='bookworm jammy trixie noble'; REFRACT_BINARY; needs root on Debian or Ubuntu)
	.ci/release/check-dist $(SUITES)

check-edge: ## make 1,000 calls with each of many HTTP clients and 2,000 through each of many proxies, in some minutes (installs them on Debian; needs Python 3.11)
	.ci/trials/check-edge

check-evaluation: ## compare every measure with scikit-learn and SciPy, in about half a minute (ARGS='--seed 42'; needs Python 3.11)
	.ci/gate/check-evaluation $(ARGS)

check-measured: test # with a fixed seed, so that the gate does not depend on chance
	@.ci/gate/check-evaluation || { [ $$? -eq 75 ] && echo 'scikit-learn and SciPy were not asked'; }

FIDELITY = $(CARGO) run --quiet --locked --package refract-model-gateway --example fidelity -- $(if $(ALTERNATIVES),--alternatives "$(ALTERNATIVES)")

check-fidelity: ## compare answers to both prompts with the exact probabilities of a llama.cpp server, and count what it reads (SmolLM2 from PyPI, or SERVER=path of llama-server with MODEL=file.gguf, or SERVER=http://host:port; ALTERNATIVES=20 shows as few as other servers)
ifdef SERVER
	@$(FIDELITY) --server "$(SERVER)" $(if $(MODEL),--model "$(MODEL)") $(ARGS)
else
	@$(CARGO) build --quiet --locked --package refract-model-gateway --example fidelity
	.ci/with-model chat sh -c 'exec $(FIDELITY) --server "$$REFRACT_MODEL_URL" --texts 3 --long-text 2000 --orders $(ARGS)'
endif

check-model: ## the smallest part of check-fidelity that shows a fault in reading or in the order of requests
	@$(CARGO) build --quiet --locked --package refract-model-gateway --example fidelity
	@.ci/with-model chat sh -c 'exec $(FIDELITY) --server "$$REFRACT_MODEL_URL" --texts 2 --brief --long-text 500' \
		|| { [ $$? -eq 75 ] && echo 'no real model was asked'; }

check-generators: ## generate five clients from docs/openapi.json and call a running server with each (needs Python 3.11; Node and Java for some)
	.ci/trials/check-generators

check-reproducible: ## build the release binary twice, in two folders with two homes of Cargo, and compare the bytes (two whole builds)
	.ci/release/check-reproducible

check-scripts: ## check the types of the app's scripts with TypeScript (needs Node and npm)
	@.ci/gate/check-scripts

check-services: ## hold the model gateway to others' tests: the faults of jevcompat's mock server, and the types of the official clients, in about a minute (ARGS=--write renews the table of outcomes; needs Python 3.11)
	.ci/trials/check-services $(ARGS)

check-sign-in: ## sign in, by password and by the provider, while 200 connections do without end: within three seconds, every time of 50, and what API calls notice (needs Node)
	REFRACT_TEST_SIGN_IN=full .ci/with-provider .ci/with-postgres $(CARGO) test --package refract --test black_box --locked -- --test-threads 1 --nocapture sign_in::

WITHIN ?= 10

check-packages: packages ## install target/packages by pip, uvx, pipx and npm, and as root on a fresh Debian 12, and let each answer in time (WITHIN=10 seconds; REFRACT_BINARY)
	.ci/release/check-packages $(WITHIN)

check-parquet: ## read exported Parquet with pyarrow, polars and DuckDB, and compare every value (needs Python 3.11)
	.ci/trials/check-parquet

check-spreadsheet: ## check an exported CSV in LibreOffice: no cell is a formula, no row is split (needs LibreOffice Calc and Python 3)
	.ci/trials/check-spreadsheet

count-code: ## count the product's lines of code and files (COMMITS='v1 HEAD')
	@.ci/trials/count-code $(COMMITS)

check-wasm: ## build the npm package and compare every byte in Node and in Chromium, its types and its example app (finds or installs Chromium; needs Node)
	.ci/release/check-wasm

dist: $(if $(REFRACT_BINARY),,build) ## pack the release binary in target/dist: a Debian package, a tarball, checksums; for Debian 12, Ubuntu 22.04 and later (REFRACT_BINARY, else a release build; installs cargo-deb when it is missing)
	.ci/release/dist

packages: $(if $(REFRACT_BINARY),,build) ## pack the release binary for pip and npm, and the clients, in target/packages (REFRACT_BINARY, else a release build; needs Python 3.11, Node and npm)
	.ci/release/build-packages

wasm: ## build the npm package refract-lens in target/wasm (with rustup's component rust-src, or on Debian with rustc-web; needs Node)
	.ci/release/build-wasm

sbom: ## write what the release binary is made of to target/refract.cdx.json (CycloneDX; installs cargo-cyclonedx when it is missing)
	.ci/release/sbom

licences: ## collect the licences and notices of what is linked into the binary in target/refract-licences.txt, and refuse unknown ones
	.ci/release/licences

man: ## write the manual, a page for each command, to target/man (read it with `man -l target/man/refract.1`)
	$(CARGO) run --quiet --locked --package refract -- man "$${CARGO_TARGET_DIR:-target}/man"

fmt: ## format the sources
	$(CARGO) fmt --all

fmt-check: ## list what is not formatted
	$(CARGO) fmt --all --check

clippy: ## lint everything, warnings are errors
	$(CARGO) clippy $(WORKSPACE) --all-targets --locked -- --deny warnings

# Twice as many tests as there are cores run at once: most only wait.
test: ## run the tests, in a real Chromium and by a real sign-in provider (finds, starts or installs them), doc tests too; on PostgreSQL and SQLite where the database matters, else on SQLite
	@if $(CARGO) nextest --version >/dev/null 2>&1; then \
		set -- nextest run --test-threads "$$(($$(getconf _NPROCESSORS_ONLN) * 2))" $(NEXTEST); \
	else set -- test --lib --bins --tests; fi; \
	set -x; .ci/with-provider .ci/with-browser .ci/with-postgres --in-memory $(CARGO) "$$@" $(WORKSPACE) --locked --no-fail-fast
	@echo '$(SKIPPED)'
	$(CARGO) test --doc $(WORKSPACE) --locked

SKIPPED = tests that nextest skipped run on SQLite here, and on PostgreSQL too in make test-all: see .config/nextest.toml

test-all: NEXTEST = --ignore-default-filter
test-all: SKIPPED = no test was skipped
test-all: export REFRACT_TEST_CHROMIUM := $(or $(REFRACT_TEST_CHROMIUM),$(shell command -v chromium))
test-all: test ## run the tests like `make test`, all that know both databases on both, and pages in the whole Chromium if it is there

test-firefox: ## run the tests of pages in Firefox (installs it on Debian and builds its driver; what needs Chromium's developer tools is left out)
	REFRACT_TEST_BROWSER=firefox .ci/with-browser .ci/with-postgres $(CARGO) nextest run --package refract-app --package refract-test-support --test app --test browser --locked --no-fail-fast --filterset 'test(/chromium|every_form|pages|by_text|processes/)'

KILLS ?= 100
PROMOTIONS ?= 5

test-faults: ## break databases, connections and nodes under load, at full length (KILLS=100 on each database, PROMOTIONS=5 of a standby; builds a newer PgBouncer on Debian when needed)
	REFRACT_TEST_PGBOUNCER="$${REFRACT_TEST_PGBOUNCER:-$$(.ci/trials/pgbouncer)}" REFRACT_TEST_KILLS=$(KILLS) REFRACT_TEST_PROMOTIONS=$(PROMOTIONS) .ci/with-postgres $(CARGO) test --package refract --test black_box --locked -- --test-threads 1 --nocapture faults::

RUN_KILLS ?= 200
RUN_ROWS ?= 10000

test-runs: ## kill the nodes that work on file runs, again and again, until every row is answered (RUN_KILLS=200 on each database, RUN_ROWS=10000 a file)
	REFRACT_TEST_RUN_KILLS=$(RUN_KILLS) REFRACT_TEST_RUN_ROWS=$(RUN_ROWS) REFRACT_TEST_RUN_AWAY_SECONDS=30 .ci/with-postgres $(CARGO) test --package refract --test black_box --locked -- --test-threads 1 --nocapture faults::file_runs

ROUTE ?= haproxy

try-failover: ## replace the leader of a PostgreSQL cluster under Patroni by kills and otherwise, under load: no acknowledged result is lost (PROMOTIONS=5 kills; ROUTE=hosts without HAProxy; PATRONI_VERSION=4.1.5 from PyPI; REFRACT_BINARY; installs Patroni, etcd and HAProxy on Debian)
	@PROMOTIONS=$(PROMOTIONS) ROUTE=$(ROUTE) PATRONI_VERSION=$(PATRONI_VERSION) .ci/trials/try-failover

MINUTES ?= 10

test-each: ## run the tests of each crate by itself in a fresh clone, as docs/CONTRIBUTING.md names them
	.ci/gate/test-each $(CRATES)

test-rolling: ## restart three nodes in turn behind HAProxy under 200 calls a second: none fails, none is asked twice (MINUTES=10; installs HAProxy on Debian when it is missing)
	@command -v haproxy >/dev/null || apt-get -q -y install --no-install-recommends haproxy
	REFRACT_TEST_ROLLING_MINUTES=$(MINUTES) .ci/with-postgres $(CARGO) test --package refract --test black_box --locked -- --nocapture rolling::

PART ?= all

test-endurance: ## run many calls, broken requests, slow and vanishing clients, or a long time (PART=keys, requests, slow, disconnects, soak or all; SIZE=calls, requests, clients or minutes; SEED=42; PROFILE=release)
	REFRACT_TEST_ENDURANCE=$(PART) REFRACT_TEST_ENDURANCE_SIZE=$(SIZE) REFRACT_TEST_ENDURANCE_SEED=$(SEED) REFRACT_TEST_ENDURANCE_FIRST=$(FIRST) .ci/with-postgres $(CARGO) test --package refract --test black_box --profile $(PROFILE) --locked -- --test-threads 1 --nocapture endurance::$(if $(filter all,$(PART)),,$(PART)::)

# In the gate, documentation takes what clippy has read: by its driver and flags, as `cargo clippy` sets
# them, Cargo knows that it is the same. Otherwise every crate of the workspace would be checked again.
READ_BY_CLIPPY = RUSTC_WORKSPACE_WRAPPER="$$(realpath "$$(rustc --print sysroot)")/bin/clippy-driver" CLIPPY_ARGS=--deny__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__

docs: $(if $(ASIDE),clippy) ## build the documentation, warnings are errors (with examples, so that what clippy compiled is used)
	$(if $(ASIDE),$(READ_BY_CLIPPY)) RUSTDOCFLAGS="--deny warnings" $(ASIDE) $(CARGO) doc $(WORKSPACE) --no-deps --lib --bins --examples --locked

deny: cargo-deny ## check which crates depend on which, licences and sources (installs cargo-deny when it is missing)
	$(DENY) bans licenses sources

audit: cargo-deny ## find known vulnerabilities in the dependencies (fetches the advisory database)
	$(DENY) advisories

cargo-deny: # without optimisation: builds in a third of the time, and the check takes two seconds
	@$(CARGO) deny --version >/dev/null 2>&1 \
		|| $(CARGO) install cargo-deny --debug --locked --version $(CARGO_DENY_VERSION)

bench: $(COUNTS) ## measure rendering beside serde_json and csv, lenses, and the gateway beside a bare client
	$(RELEASE) bench --package refract-lens-rendering --bench rendering --bench lens --locked
	$(RELEASE) bench --package refract-model-gateway --bench gateway --locked

bench-app: $(COUNTS) ## measure the app: pages, lists among a million results, sliders in Chromium, file runs (ARGS=postgres, sqlite or slider)
	.ci/with-browser .ci/with-postgres $(RELEASE) bench --package refract --bench app --locked -- $(ARGS)
	$(if $(ARGS),,.ci/with-postgres $(RELEASE) bench --package refract --bench file_run --locked -- app)

bench-database: ## measure reads, creates and replays of the use cases beside raw statements (ARGS=postgres or sqlite)
	$(CARGO) run --release --locked --manifest-path crates/service/benches/database/Cargo.toml --target-dir "$${CARGO_TARGET_DIR:-target}/bench-database" -- $(ARGS)

bench-evaluation: $(COUNTS) ## measure the evaluation of 1,000,000 marked answers, and commands on 100,000 marks (ARGS=postgres or sqlite)
	$(RELEASE) bench --package refract-evaluation --bench evaluation --locked
	.ci/with-postgres $(RELEASE) bench --package refract --bench marks --locked -- $(ARGS)

MODEL_ROWS ?= 24

bench-model: $(if $(REFRACT_BINARY),,build) ## measure file runs with prompts 3 and 4 on SmolLM2 beside a plain client with a JSON schema, with one and four slots, in an hour or so (MODEL_ROWS=24; CELLS=3x30 for 3 questions about 30 tokens; REFRACT_BINARY; needs Python 3.11)
	for slots in 1 4; do .ci/with-model chat --slots $$slots .ci/benches/bench-model $$slots $(MODEL_ROWS) || exit; done

bench-pace: $(COUNTS) ## measure file runs and calls against a model server that limits its requests, in two minutes
	.ci/with-postgres $(RELEASE) bench --package refract --bench pace --locked

GROWTH ?= 10000,1000000

bench-growth: build-bench-http ## measure reads, creates and exports as results grow in number (GROWTH=10000,1000000,5000000; ARGS=postgres or sqlite)
	.ci/with-postgres $(BENCH_HTTP) growth $(GROWTH) $(ARGS)

ROWS ?= 20000000

bench-scale: ## measure calls, pages and commands among many results beside a twentieth of them, on PostgreSQL (ROWS=20000000 take 30 GB in /tmp and an hour or more; REFRACT_BINARY, else target/release/refract)
	.ci/with-postgres --durable .ci/benches/bench-scale $(ROWS)

bench-watch: ## measure `refract watch` among many results (RESULTS=5000000; REFRACT_BINARY, else a release build)
	.ci/benches/bench-watch $(RESULTS)

bench-http: build-bench-http ## measure the served API beside bare handlers (installs wrk on Debian when it is missing; ARGS=speed, memory, alone, one-key or start)
	.ci/with-postgres --durable $(BENCH_HTTP) $(ARGS)

BENCH_HTTP = "$${CARGO_TARGET_DIR:-target}/bench-http/release/refract-bench-http" "$${CARGO_TARGET_DIR:-target}/release/refract"

build-bench-http: build
	@.ci/release/check-trained "$${CARGO_TARGET_DIR:-target}/release"
	@command -v wrk >/dev/null || apt-get -q -y install --no-install-recommends wrk
	$(CARGO) build --release --locked --manifest-path bin/refract/benches/http/Cargo.toml --target-dir "$${CARGO_TARGET_DIR:-target}/bench-http"

FUZZ := crates/lens-rendering/fuzz
FUZZ_TARGETS := prism_file lens_file renderer
SECONDS_EACH ?= 600

fuzz: ## fuzz every target (SECONDS_EACH=600; needs a nightly toolchain, installs cargo-fuzz when it is missing)
	@$(CARGO) fuzz --version >/dev/null 2>&1 || $(CARGO) install cargo-fuzz --locked
	@set -ex; for target in $(FUZZ_TARGETS); do \
		mkdir -p $(FUZZ)/corpus/$$target; \
		$(CARGO) +nightly fuzz run --fuzz-dir $(FUZZ) $$target $(FUZZ)/corpus/$$target docs/examples -- \
			-dict=$(FUZZ)/words.dict -max_total_time=$(SECONDS_EACH) -max_len=16384 -timeout=10; done

SINCE ?= v0.1.0

semver: ## compare the published crates with those of a release: what breaks needs a new major version (SINCE=v0.1.0; installs cargo-semver-checks when it is missing)
	@git rev-parse --quiet --verify "$(SINCE)^{commit}" >/dev/null || { echo 'there is no release $(SINCE) yet to compare with'; exit 1; }
	@$(CARGO) semver-checks --version >/dev/null 2>&1 || $(CARGO) install cargo-semver-checks --locked
	$(CARGO) semver-checks --baseline-rev "$(SINCE)" --package refract-domain --package refract-authoring --package refract-evaluation --package refract-lens-rendering

# Only a link needs libFuzzer, which is C++: with another's path, which nobody reads, it is not compiled.
fuzz-build: ## check that the fuzz targets compile (no nightly toolchain is needed for that)
	CUSTOM_LIBFUZZER_PATH=/unused/libfuzzer.a $(ASIDE) $(CARGO) check --manifest-path $(FUZZ)/Cargo.toml --locked

clean: ## remove what was built
	$(CARGO) clean
