# make demo      five answers about the example, without a cluster
# make test      everything: lint, unit tests, fuzz seeds, commands, a real control plane
# make test-fast what changed since the last commit, linted, and all tests without a cluster; make test-busy
#                make test beside four busy loops, three times
# make fuzz      a little fuzzing of each grammar; FUZZTIME=60s for more, as each night
# make chaos     backups, restores and rehearsals killed after each of their writes, as each night
# make release   what is published of VERSION=v0.1.0, into dist/; make krew: its manifests
# make apidiff   what a change breaks and adds for programs that import pkg/; BASE=v0.1.0, FAIL=1
# make ui        the page: internal/page/assets from ui/, which needs node; make ui-check compares
# make catalog-drift   what new CRDs change for the catalogue: CRDS=DIR; SOURCE="repo=... tag=..." rewrites its skeletons
# make skew      a part of test/e2e beside an older Kubernetes, before a release: SKEW=1.33; no part of make test
# make sandbox   a real cluster to play with; make sandbox-down ends it

SHELL := /bin/bash
GO ?= go
CACHE := $(or $(SYSOP_CACHE),$(shell CGO_ENABLED=0 GOFLAGS=-trimpath $(GO) run ./hack/cachedir))
LINT_VERSION := v2.15.0
LINT := $(CACHE)/tools/golangci-lint-$(LINT_VERSION)/golangci-lint
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)
LDFLAGS := -s -w -X github.com/kubectl-sysop/kubectl-sysop/internal/cli.Version=$(VERSION)
BIN := bin/kubectl-sysop
GOBIN := $(or $(shell $(GO) env GOBIN),$(shell $(GO) env GOPATH)/bin)
SANDBOX := $(GO) run ./test/cluster/cmd/sandbox

# One way to compile for the plugin, the linter, tests and the control plane: each library is
# compiled once, and once more for the race detector, which wants C.
export CGO_ENABLED := 0
export GOFLAGS := $(strip -trimpath $(filter-out -trimpath,$(GOFLAGS)))
# gotestsum says at the end which tests failed, with what they printed, and keeps how long each
# took for make test to list the slowest.
SUM_VERSION := v1.13.0
SUM := $(CACHE)/tools/gotestsum-$(SUM_VERSION)/gotestsum
TIMES := $(CACHE)/times
SUMMED = $(SUM) --format pkgname --format-hide-empty-pkg --hide-summary skipped --jsonfile-timing-events $(TIMES)/$@-$$(date +%s%N).json
# TIMED begins a recipe that is a part of a part of make test, which lists what it took.
TIMED = begin=$$SECONDS; mkdir -p $(TIMES); trap 'printf "%13d s  %s\n" $$((SECONDS - begin)) "$@" >> $(TIMES)/parts' EXIT;
TEST = $(SUMMED) -- -shuffle=on -vet=off
RACE = CGO_ENABLED=1 $(TEST) -race

FUZZTIME ?= 10s
FUZZ := pkg/annotations:FuzzParse internal/catalog:FuzzCSV internal/catalog:FuzzEntry pkg/check:FuzzWaivers pkg/cost:FuzzBook pkg/declare:FuzzParse internal/fetch:FuzzUnpack pkg/field:FuzzPath pkg/health:FuzzJudge pkg/health:FuzzParseRules internal/infer:FuzzWalk internal/manual:FuzzSchema internal/page:FuzzFile pkg/regulate:FuzzPlan internal/render:FuzzFindings internal/render:FuzzSheet internal/render:FuzzSVG internal/solve:FuzzRange pkg/system:FuzzSystem

.PHONY: ui ui-check build demo test test-fast test-busy platforms lint unit size fuzz chaos cluster-test cluster-build cluster-test-plugin cluster-test-others cluster-test-rest cluster-test-ui vuln cross skew sandbox sandbox-down bench catalog-drift install tidy-check apidiff release release-verify licences krew

build:
	@$(GO) build -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/kubectl-sysop

# Five answers, without a cluster: each a question, and the command that answers it.
demo: build
	@while IFS='|' read -r question command; do \
		printf '# %s\n$$ kubectl sysop %s --from demo\n' "$$question" "$$command"; \
		$(BIN) $$command --from demo < /dev/null || exit; \
		echo; \
	done <<< "$$FIVE_ANSWERS"
	@echo 'More, with --from demo: path, check, man, prices, rules, catalog, system,'
	@echo 'regulate, snapshot, and ui, a web page. On a cluster: logs, install, upgrade,'
	@echo 'rollback, uninstall. Next: $(BIN) check -A --from demo'

define FIVE_ANSWERS
Which applications run here, are they healthy, and what do they cost?|stacks
What belongs to this one, and why?|graph moodle/moodle-1 --why --kinds mysqlclusters,secrets
Why is it down?|health moodle/moodle-2
Who pays for the database that two of them share?|metrics moodle/moodle-1 moodle/moodle-2 --depth 2
What breaks without this object?|impact clusterissuer/wordpress-stack
endef
export FIVE_ANSWERS

# What CI does, and says at its end how long each part took, also when one failed: first what
# fails early.
TESTS := lint licences ui-check unit size cluster-test
test: $(SUM)
	@rm -f $(TIMES)/*; took=(); \
	trap 'echo "the slowest tests:"; cat $(TIMES)/*.json 2> /dev/null | $(SUM) tool slowest --threshold 1s --num 10; printf "%s\n" "$${took[@]}"' EXIT; \
	for part in $(TESTS); do \
		begin=$$SECONDS; code=0; $(MAKE) --no-print-directory $$part || code=$$?; \
		took+=("$$(printf '%5d s  make %s' $$((SECONDS - begin)) $$part)$$([ $$code = 0 ] || echo ": failed")"); \
		[ ! -f $(TIMES)/parts ] || { took+=("$$(< $(TIMES)/parts)"); rm $(TIMES)/parts; }; \
		[ $$code = 0 ] || exit $$code; \
	done

# For whoever edits: go test remembers what passed, as long as it is asked in the same way.
test-fast: $(LINT) $(SUM)
	@mkdir -p $(TIMES); rm -f $(TIMES)/$@-*.json; begin=$$SECONDS; \
	trap 'cat $(TIMES)/$@-*.json 2> /dev/null | $(SUM) tool slowest --threshold 1s --num 10; printf "%5d s  lint\n%5d s  tests\n" $$((linted - begin)) $$((SECONDS - linted))' EXIT; \
	$(LINT) run --new-from-rev=HEAD ./...; code=$$?; linted=$$SECONDS; [ $$code = 0 ] || exit $$code; \
	$(SUMMED) -- -vet=off $$($(GO) list ./... | grep -v '^$(OWN)/test/')

# A busy machine is slow, and no test fails of it.
test-busy:
	@loops=(); trap 'kill "$${loops[@]}"' EXIT; \
	for i in 1 2 3 4; do while :; do :; done & loops+=($$!); done; \
	for i in 1 2 3; do $(MAKE) --no-print-directory test || exit; done

lint: $(LINT) tidy-check
	$(LINT) run ./...

$(LINT):
	@mkdir -p $(@D)
	GOBIN=$(@D) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)

$(SUM):
	@mkdir -p $(@D)
	GOBIN=$(@D) $(GO) install gotest.tools/gotestsum@$(SUM_VERSION)

tidy-check:
	@$(GO) mod tidy -diff

# The linter has vetted everything before. The race detector looks where goroutines are
# started, by the package or by its tests: elsewhere it finds nothing, and takes five times as
# long. The scripts run one command after the other, on snapshots: the ring on the cluster has
# the same commands raced, where they do several things at once.
STARTS := ^[[:space:]]*go (func|[a-z])|errgroup|[.]Go[(]
OWN := github.com/kubectl-sysop/kubectl-sysop
unit: $(SUM)
	@mkdir -p $(TIMES); plain=; raced=; while read -r package dir; do case $$package in \
		$(OWN)/test/*) ;; \
		$(OWN)/internal/cli) plain+=" $$package" ;; \
		*) if grep -qE '$(STARTS)' "$$dir"/*.go; then raced+=" $$package"; else plain+=" $$package"; fi ;; \
	esac; done < <($(GO) list -f '{{.ImportPath}} {{.Dir}}' ./...); \
	set -ex; begin=$$SECONDS; \
	$(TEST) -timeout 2h $$plain; \
	printf '%13d s  without the race detector\n' $$((SECONDS - begin)) >> $(TIMES)/parts; \
	$(RACE) -timeout 2h -skip '^(TestScripts|TestHelpExamples)$$' $$raced ./internal/cli

# What the page is built of. Its assets are committed, so that go build needs no node.
NODE_MODULES := ui/node_modules/.package-lock.json
$(NODE_MODULES): ui/package-lock.json
	@cd ui && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

ui: $(NODE_MODULES)
	@cd ui && node build.mjs

# The committed assets are those that a rebuild gives, byte by byte. A machine without node builds
# and tests all the rest.
ui-check:
	@if command -v npm > /dev/null; then $(MAKE) --no-print-directory ui-checked; \
	else printf '\n!!! THE PAGE WAS NOT CHECKED: there is no node and npm\n\n' >&2; [ "$(SYSOP_RING)" != must ]; fi
.PHONY: ui-checked
ui-checked: $(NODE_MODULES)
	cd ui && npx --no-install tsc --noEmit && node build.mjs --check && node --test test/*.test.mjs

# krew's users fetch it: Helm's library is most of it (that of Lua is 0.9 MB), and it must not grow without notice.
LARGEST := 90600000
size: build
	@bytes=$$(wc -c < $(BIN)); test $$bytes -lt $(LARGEST) || { echo "$(BIN) has $$bytes bytes, and $(LARGEST) are the most" >&2; exit 1; }

# What is written by others: annotations, files of rules, price books, paths, custom resources.
fuzz:
	@printf '%s\n' $(FUZZ) | xargs -P 2 -I {} $(SHELL) -c 'target={}; \
		$(GO) test -run "^$$" -fuzz "^$${target#*:}$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x -parallel 1 ./$${target%:*}'

# Backups, restores and rehearsals are killed after each of their writes; make test kills them after a few.
chaos:
	SYSOP_CHAOS=every $(GO) test -vet=off -v -timeout 2h -run '^TestBackupChaos$$' ./test/e2e

# Two rings at a time, since tests on a control plane wait as much as they work: that of the plugin,
# and everything else. The plugin is raced, the tests are not: what they call in their own process
# make unit has raced. The page is tested with -v, since it says what it measured, and that it did
# not run where it cannot. A test that hangs ends its package by itself (test/cluster), long before
# go test would.
#
# The control plane is built first, by itself. A test that failed runs once more by itself, when no more than three
# failed and none for a data race, and the end says which ones did: real controllers on a busy
# machine are late sometimes, and what is wrong is wrong twice.
RERUN := --rerun-fails=1 --rerun-fails-max-failures=3 --rerun-fails-abort-on-data-race
RING = $(SUMMED) $(RERUN) --packages "$$($(GO) list ./test/... | grep $(1) | paste -sd ' ')" -- -shuffle=on -vet=off -timeout 6h -p 1 -parallel 6
cluster-test: $(SUM) cluster-build
	@$(MAKE) --no-print-directory -j 2 cluster-test-plugin cluster-test-others

cluster-build:
	@$(TIMED) $(SANDBOX) build

cluster-test-plugin:
	@$(TIMED) set -x; SYSOP_RACED=yes $(call RING,'/test/e2e$$')

cluster-test-others:
	@$(MAKE) --no-print-directory cluster-test-rest
	@$(MAKE) --no-print-directory cluster-test-ui

cluster-test-rest:
	@$(TIMED) set -x; $(call RING,-vE '/test/(e2e|ui)$$')

cluster-test-ui:
	@$(TIMED) set -x; $(SUMMED) --format standard-verbose -- -shuffle=on -vet=off -timeout 6h ./test/ui

# The plugin beside an older Kubernetes, when a release is made: its control plane is built of
# test/cluster/skew/VERSION, and the tests of the files that the list names run against it. What
# cannot hold there is said, with the reason.
SKEW ?= 1.33
SKEW_LIST := test/e2e/testdata/skew.txt
skew:
	@echo "skew: builds the control plane of Kubernetes $(SKEW) (the first time 350 MB, and a quarter of an hour of processor time),"
	@echo "skew: and runs $$(grep -c '^run ' $(SKEW_LIST)) files of test/e2e against it (about 20 minutes on two cores)"
	@sed -n 's/^omit $(SKEW) \([^ ]*\) /skew: not on $(SKEW): \1: /p' $(SKEW_LIST)
	@set -o pipefail; export SYSOP_KUBERNETES=$(SKEW); begin=$$SECONDS; \
	$(SANDBOX) build || exit 1; \
	echo "skew: the control plane is there after $$((SECONDS - begin)) s"; \
	run=$$(cd test/e2e && sed -n 's/^func \(Test[A-Za-z0-9_]*\)(t .*/\1/p' $$(sed -n 's/^run \([^ ]*\) .*/\1/p' $(abspath $(SKEW_LIST))) | paste -sd '|'); \
	omit=$$(sed -n 's/^omit $(SKEW) \([^ ]*\) .*/^\1$$/p' $(SKEW_LIST) | sed 's,/,$$/^,g' | paste -sd '|'); \
	code=0; $(GO) test -shuffle=on -vet=off -v -timeout 60m -parallel 4 -run "^($$run)$$" -skip "$$omit" ./test/e2e | grep -vE '^=== ' || code=$$?; \
	echo "skew: Kubernetes $(SKEW): $$((SECONDS - begin)) s"; exit $$code

# What is known of the libraries that the plugin is made of, and called by it. It asks
# vuln.go.dev, so it is no part of test.
VULN_VERSION := v1.8.0
VULN := $(CACHE)/tools/govulncheck-$(VULN_VERSION)/govulncheck
vuln: $(VULN)
	@out=$$($(VULN) ./cmd/... 2>&1) && code=0 || code=$$?; printf '%s\n' "$$out"; \
	if [ $$code -ne 0 ] && [ $$code -ne 3 ]; then echo "vuln: govulncheck ended with $$code and said nothing of vulnerabilities: it needs https://vuln.go.dev, or GOVULNDB=ADDRESS of another database" >&2; fi; \
	exit $$code

$(VULN):
	@mkdir -p $(@D)
	GOBIN=$(@D) $(GO) install golang.org/x/vuln/cmd/govulncheck@$(VULN_VERSION)

# Everything compiles for all platforms of plugins.yaml, tests too.
PLATFORMS := $(shell sed -n '/^platforms:/,/^[a-z]*:$$/s/^  - //p' plugins.yaml)
platforms:
	@printf '%s\n' $(PLATFORMS)
cross:
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && for p in $(PLATFORMS); do \
		echo "$$p" && export GOOS=$${p%/*} GOARCH=$${p#*/} && $(GO) build -o "$$dir/" ./cmd/... && $(GO) vet ./... || exit 1; done

sandbox:
	@$(SANDBOX) up -f examples/demo -f examples/operators.yaml -f examples/system/objects.yaml

sandbox-down:
	@$(SANDBOX) down

# From dist/, which "make release" has written: a manifest for each plugin, judged by the rules
# of krew and of its index.
krew:
	$(GO) run ./hack/krew --version $(VERSION) --checksums dist/checksums.txt --out krew/plugins

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./pkg/... ./internal/... ./cmd/...
	$(GO) run ./test/cluster/cmd/bench

# What is published of a VERSION, into dist/: docs/releasing.md.
RELEASE := $(GO) run ./hack/release
release:
	$(RELEASE) build --version '$(VERSION)' $(RELEASE_FLAGS)

# Builds it twice, the second time with an empty build cache, and compares bit for bit.
release-verify:
	$(RELEASE) verify --version '$(VERSION)' $(RELEASE_FLAGS)

# Every module of the plugin with its licence: one that is not allowed fails.
licences:
	@$(RELEASE) licences

# With the link by which kubectl completes the plugin.
install: build
	@mkdir -p "$(GOBIN)"
	install -m 0755 $(BIN) "$(GOBIN)/kubectl-sysop"
	@"$(GOBIN)/kubectl-sysop" completion install

# docs/add-an-operator.md: what of the catalogue no longer fits the definitions of a new release.
catalog-drift:
	@$(GO) run ./hack/catalogdrift --crds '$(CRDS)' $(if $(SOURCE),--source '$(SOURCE)')

# BASE is the latest tag where it is not given. With FAIL=1 a break must be announced in CHANGELOG.md.
apidiff:
	@$(GO) run ./hack/apidiff $(if $(BASE),--base '$(BASE)') $(if $(FAIL),--fail)
