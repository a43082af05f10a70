# "make" alone prints what can be made.

MODULE  := github.com/anet-hub/anet
VERSION := $(or $(shell git describe --tags --match 'v*' 2>/dev/null),dev)
COMMIT  := $(shell git rev-parse --short=12 HEAD 2>/dev/null)
STAMP   := -X $(MODULE)/shared/version.Version=$(VERSION) -X $(MODULE)/shared/version.Commit=$(COMMIT)
SOURCES := api deploy e2e hub migrations node shared
COMPOSE := $(shell docker compose version >/dev/null 2>&1 && echo docker compose || echo docker-compose)

.PHONY: help demo demo-pay up build test kill check format bench golden images compose monitoring faults faults-images compose-down deb

help:
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## a hub and two nodes on this machine: find, call, verify, stop
	@e2e/scripts/bootstrap go postgres curl
	@$(MAKE) --no-print-directory build
	@CGO_ENABLED=0 go run -trimpath -buildvcs=false ./e2e/demo -bin bin

demo-pay: ## the same with prices: a call is bought from a node, and one at the hub's gateway with curl
	@e2e/scripts/bootstrap go postgres curl
	@$(MAKE) --no-print-directory build
	@CGO_ENABLED=0 go run -trimpath -buildvcs=false ./e2e/demo -bin bin -pay

up: ## the demo's network, left running; prints its addresses
	@e2e/scripts/bootstrap go postgres curl
	@$(MAKE) --no-print-directory build
	@CGO_ENABLED=0 go run -trimpath -buildvcs=false ./e2e/demo -bin bin -stay

build: ## the programs, static, in bin/
	@e2e/scripts/bootstrap go
	@test -x bin/anet || echo "building the programs: the first time fetches and compiles everything, which takes minutes" >&2
	@CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w $(STAMP)' -o bin/ \
		./hub/cmd/anet-hub ./node/cmd/anet ./deploy/examples/text-service

test: ## everything CI runs: format, vet, staticcheck, import rules, fresh schema, unit tests with -race, e2e
	@e2e/scripts/bootstrap go postgres gcc curl
	@$(MAKE) --no-print-directory format
	go vet ./...
	go tool staticcheck ./...
	go test -tags no_payments -count=1 -run 'WithoutPayments|Refusals' ./node/internal/node
	@skips=$$(mktemp); echo 'go test -race ./...'; \
	ANET_TEST_SKIPS=$$skips CGO_ENABLED=1 go test -race -count=1 -timeout 60m ./...; status=$$?; \
	sed 's/^/skipped: /' $$skips; rm $$skips; exit $$status

kill: ## a hundred rounds of kill -9 at random moments, of a hub and of two that are peers; SEED=N repeats what was random
	@e2e/scripts/bootstrap postgres
	go test -count=1 -timeout 2h -v ./e2e/kill -rounds 100 $(if $(SEED),-seed $(SEED))
	go test -count=1 -timeout 2h -v ./e2e/federation -run Kills -rounds 100 $(if $(SEED),-seed $(SEED))

check: format ## the quick look before a commit: format, vet, build, import rules, the fast tests
	go vet ./...
	go build ./...
	go test -run Layer ./e2e
	go test ./shared/...

format:
	@e2e/scripts/bootstrap go
	@bad=$$(gofmt -l $(SOURCES)) || exit 1; test -z "$$bad" || { echo "gofmt -w these: $$bad"; exit 1; }

bench: ## the table of docs/benchmarks.md
	@e2e/scripts/bootstrap go postgres
	@$(MAKE) --no-print-directory build
	@go run ./e2e/bench

golden: ## rewrite the golden files and migrations/schema.sql
	@e2e/scripts/bootstrap postgres
	UPDATE_GOLDEN=1 go test -count=1 $$(go list -f '{{range .TestImports}}{{if eq . "$(MODULE)/shared/testkit/golden"}}{{$$.ImportPath}} {{end}}{{end}}{{range .XTestImports}}{{if eq . "$(MODULE)/shared/testkit/golden"}}{{$$.ImportPath}} {{end}}{{end}}' ./...)

deb: ## Debian packages of both programs, in dist/
	@e2e/scripts/bootstrap go dpkg-deb
	@$(MAKE) --no-print-directory build
	@deploy/deb/build.sh

images: ## container images, from what is on this machine
	@e2e/scripts/bootstrap go postgres docker
	@$(MAKE) --no-print-directory build
	@deploy/images.sh

compose: ## two hubs that are peers and three nodes in containers, left running
	@e2e/scripts/bootstrap go postgres docker compose
	@$(MAKE) --no-print-directory images
	@ANET_POSTGRES_IMAGE=$${ANET_POSTGRES_IMAGE:-anet-postgres:local} $(COMPOSE) up -d
	@printf '%s\n' '' "up. The agents of both hubs, once they have heard of each other:" \
		"  curl 'http://127.0.0.1:$${ANET_HUB_PORT:-8088}/agents?cap=text.*'" \
		"  $(COMPOSE) exec alice /anet find --cap 'text.*'" "stop it, and forget its data: make compose-down"

monitoring: ## Prometheus with the hub's alerts beside the containers, from what is on this machine
	@e2e/scripts/bootstrap docker compose promtool
	@deploy/images.sh prometheus
	@ANET_POSTGRES_IMAGE=$${ANET_POSTGRES_IMAGE:-anet-postgres:local} \
		ANET_PROMETHEUS_IMAGE=$${ANET_PROMETHEUS_IMAGE:-anet-prometheus:local} $(COMPOSE) --profile monitoring up -d prometheus

faults: faults-images ## break the containers on purpose and see them come back; FAULT=hub-down|database-restart|clock
	@ANET_POSTGRES_IMAGE=$${ANET_POSTGRES_IMAGE:-anet-postgres:local} ANET_HUB_IMAGE=anet-hub-faults:local \
		$(COMPOSE) --profile faults run --rm faults $(or $(FAULT),all)

faults-images: ## the images that it takes
	@e2e/scripts/bootstrap go docker compose
	@CGO_ENABLED=0 go build -trimpath -buildvcs=false -tags faults -ldflags '-s -w $(STAMP)' -o bin/faults/ ./hub/cmd/anet-hub ./deploy/faults
	@deploy/images.sh faults

compose-down: ## stop these containers and forget their data
	@$(COMPOSE) --profile monitoring --profile faults down -v
