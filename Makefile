# make demo      the example's graph, without a cluster
# make test      everything: lint, unit tests, fuzz seeds, commands, a real control plane
# make fuzz      a little fuzzing of each grammar (part of CI); FUZZTIME=60s for more
# make sandbox   a real cluster to play with; make sandbox-down ends it

SHELL := /bin/bash
GO ?= go
CACHE := $(or $(SYSOP_CACHE),$(shell $(GO) run ./hack/cachedir))
LINT_VERSION := v2.15.0
LINT := $(CACHE)/tools/golangci-lint-$(LINT_VERSION)/golangci-lint
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)
LDFLAGS := -s -w -X github.com/kubectl-sysop/kubectl-sysop/internal/cli.Version=$(VERSION)
BIN := bin/kubectl-sysop
GOBIN := $(or $(shell $(GO) env GOBIN),$(shell $(GO) env GOPATH)/bin)
SANDBOX := $(GO) run ./test/cluster/cmd/sandbox

FUZZTIME ?= 10s
FUZZ := annotations:FuzzParse catalog:FuzzCSV catalog:FuzzEntry check:FuzzWaivers cost:FuzzBook declare:FuzzParse fetch:FuzzUnpack field:FuzzPath health:FuzzJudge health:FuzzParseRules infer:FuzzWalk manual:FuzzSchema regulate:FuzzPlan render:FuzzFindings render:FuzzSheet solve:FuzzRange system:FuzzSystem

.PHONY: build demo test lint unit size fuzz cluster-test sandbox sandbox-down bench install tidy-check krew

build:
	@CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/kubectl-sysop

demo: build
	@echo '$$ kubectl sysop stacks --from demo'
	@$(BIN) stacks --from demo
	@echo
	@echo '$$ kubectl sysop health --from demo'
	@$(BIN) health --from demo
	@echo
	@echo '$$ kubectl sysop check -A --from demo'
	@$(BIN) check -A --from demo
	@echo
	@echo '$$ kubectl sysop graph moodle/moodle-1 moodle/moodle-2 --from demo'
	@$(BIN) graph moodle/moodle-1 moodle/moodle-2 --from demo
	@echo
	@echo '$$ kubectl sysop path moodle/moodle-1 pvc/data-cluster1-mysql-0 --from demo'
	@$(BIN) path moodle/moodle-1 pvc/data-cluster1-mysql-0 --from demo
	@echo
	@echo '$$ kubectl sysop impact secret/wordpress-db --from demo'
	@$(BIN) impact secret/wordpress-db --from demo
	@echo
	@echo '$$ kubectl sysop graph moodle/moodle-2 --problems --from demo'
	@$(BIN) graph moodle/moodle-2 --problems --from demo
	@echo
	@echo '$$ kubectl sysop impact node/worker-a --from demo'
	@$(BIN) impact node/worker-a --from demo
	@echo
	@echo '$$ kubectl sysop check moodle/moodle-2 --category robustness --from demo'
	@$(BIN) check moodle/moodle-2 --category robustness --from demo
	@echo
	@echo '$$ kubectl sysop metrics --depth 2 --from demo'
	@$(BIN) metrics --depth 2 --from demo
	@echo
	@echo '$$ kubectl sysop prices show --nodes --from demo'
	@$(BIN) prices show --nodes --from demo
	@echo
	@echo '$$ kubectl sysop rules explain mysqlcluster --from demo'
	@$(BIN) rules explain mysqlcluster --from demo
	@echo
	@echo '$$ kubectl sysop man moodle --from demo'
	@$(BIN) man moodle --from demo
	@echo
	@echo '$$ kubectl sysop system show -f demo --from demo'
	@$(BIN) system show -f demo --from demo
	@echo
	@echo '$$ kubectl sysop regulate neighbours -f demo --from demo'
	@$(BIN) regulate neighbours -f demo --from demo
	@echo
	@echo '$$ kubectl sysop regulate plan -f demo --from demo'
	@$(BIN) regulate plan -f demo --from demo
	@echo
	@echo '$$ kubectl sysop catalog search mysql'
	@$(BIN) catalog search mysql
	@echo
	@echo '$$ kubectl sysop catalog show cloudnative-pg'
	@$(BIN) catalog show cloudnative-pg

test: lint unit size cluster-test

lint: $(LINT) tidy-check
	$(LINT) run ./...

$(LINT):
	@mkdir -p $(@D)
	GOBIN=$(@D) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)

tidy-check:
	@$(GO) mod tidy -diff

# The linter has vetted everything before. The race detector looks where anything runs side
# by side, or may: packages that know no lock and no context are five times as fast without
# it. A graph is there for several to read.
unit:
	@all=$$($(GO) list ./... | grep -v /test/); \
	plain=$$($(GO) list -f '{{.ImportPath}} {{.Imports}}' $$all | grep -vE '[[ ](sync|sync/atomic|context)[] ]' | cut -d' ' -f1 | grep -v /pkg/graph); \
	raced=$$(printf '%s\n' $$all | grep -vxF "$$plain"); \
	set -x; \
	$(GO) test -race -shuffle=on -vet=off -timeout 20m $$raced && \
	$(GO) test -shuffle=on -vet=off -timeout 20m $$plain

# krew's users fetch it: Helm's library is most of it, and it must not grow without notice.
LARGEST := 85000000
size: build
	@bytes=$$(wc -c < $(BIN)); test $$bytes -lt $(LARGEST) || { echo "$(BIN) has $$bytes bytes, and $(LARGEST) are the most" >&2; exit 1; }

# What is written by others: annotations, files of rules, price books, paths, custom resources.
fuzz:
	@printf '%s\n' $(FUZZ) | xargs -P 2 -I {} $(SHELL) -c 'target={}; \
		$(GO) test -run "^$$" -fuzz "^$${target#*:}$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x -parallel 1 ./pkg/$${target%:*}'

# The control plane is built first, by itself: that can take longer than go test
# lets a package run.
cluster-test:
	$(SANDBOX) build
	$(GO) test -race -shuffle=on -vet=off -timeout 30m -p 1 -parallel 4 ./test/...

sandbox:
	@$(SANDBOX) up -f examples/demo -f examples/operators.yaml -f examples/system/objects.yaml

sandbox-down:
	@$(SANDBOX) down

# From dist/, which "make release" has written: a manifest for each plugin, judged by the rules
# of krew and of its index.
krew:
	$(GO) run ./hack/krew generate --version $(VERSION) --checksums dist/checksums.txt --out krew/plugins
	$(GO) run ./hack/krew lint --archives dist krew/plugins/*.yaml

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./pkg/... ./cmd/...
	$(GO) run ./test/cluster/cmd/bench

# kubectl asks an executable of the second name to complete its plugins.
install: build
	@mkdir -p "$(GOBIN)"
	install -m 0755 $(BIN) "$(GOBIN)/kubectl-sysop"
	@printf '#!/bin/sh\nexec kubectl-sysop __complete "$$@"\n' > "$(GOBIN)/kubectl_complete-sysop"
	@chmod 0755 "$(GOBIN)/kubectl_complete-sysop"
