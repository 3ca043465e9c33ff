# svcrelay. `make` lists the targets.

export PATH := $(CURDIR)/.tools/bin:$(PATH)
# No version-control stamp: outputs depend on the sources alone.
export GOFLAGS := -buildvcs=false

FUZZTIME ?= 60s
COUNT    ?= 10
BIN      := out/bin/svcrelay
# Tests with this tag need what `make corpus` fetches.
TAGS     := -tags corpus
# Tests with the tag rig need what `make rig` fetches, and minutes.
ALLTAGS  := -tags corpus,rig
GOLDEN   := testdata/golden/corpus.txt
DEMO     := .corpus/debs/trixie

.DELETE_ON_ERROR:
# A fresh machine has nothing before deps has run, whatever -j says.
.NOTPARALLEL:
.PHONY: help deps build check test race fmt fmt-check vet staticcheck generate blob generated \
	cross corpus corpus-check rig rig-test guest fuzz bench bench-guest demo man clean distclean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

deps: ## install what the other targets need (Debian, as root or through sudo)
	@.ci/deps
	@.ci/ensure-go

build: ## build the command into out/bin
	CGO_ENABLED=0 go build -trimpath -o $(BIN) ./cmd/svcrelay

check: fmt-check vet staticcheck generated ## the fast checks: format, vet, staticcheck, generated files, unit tests
	go test ./...

test: deps corpus build ## install what is needed, fetch the corpus, run every test
	go test $(TAGS) ./...

race: ## the unit tests under the race detector
	CGO_ENABLED=1 go test -race ./...

fmt: ## format the Go sources
	gofmt -w $$(go list -f '{{.Dir}}' ./...)

fmt-check: # fail when a Go source is not formatted
	@bad=$$(gofmt -l $$(go list -f '{{.Dir}}' ./...)) && { test -z "$$bad" || { echo "not formatted: $$bad" >&2; exit 1; }; }

vet:
	go vet $(ALLTAGS) ./...

staticcheck:
	go tool staticcheck $(ALLTAGS) ./...

generate: ## make the generated files anew
	go generate ./...

blob: ## compile the guest's own programs into the command (after a change in runtime/guest)
	go run ./runtime/blob/gen

generated: # fail when a generated file is out of date
	.ci/generated

cross: ## compile code and tests for linux/arm64 and android/arm64
	@for os in linux android; do \
		export GOOS=$$os GOARCH=arm64 CGO_ENABLED=0; \
		echo "cross: $$os/arm64"; \
		go vet $(ALLTAGS) ./... || exit 1; \
		go test $(ALLTAGS) -count 1 -exec true ./... >/dev/null || exit 1; \
	done

corpus: ## fetch the real arm64 libraries that the tests use into .corpus
	go build -o out/bin/corpus ./cmd/corpus
	out/bin/corpus

rig: ## fetch the kernels and guest roots of the test machine into .corpus/rig
	go build -o out/bin/rig ./cmd/rig
	out/bin/rig fetch

rig-test: rig ## run the tests that need the test machine
	go test -tags rig -p 1 -timeout 30m ./...

guest: rig ## a shell in a real Debian guest under svcrelay run, on a real arm64 kernel
	GOARCH=arm64 CGO_ENABLED=0 go build -trimpath -o out/arm64/svcrelay ./cmd/svcrelay
	out/bin/rig shell --put out/arm64/svcrelay:/usr/bin/svcrelay -- \
		/usr/bin/svcrelay run -r /r/forky -b /dev -b /proc -b /sys -w /root /bin/bash -l

corpus-check: build corpus ## compare the coverage of every glibc in the corpus with the golden file
	$(BIN) check .corpus/debs/*/libc6_*.deb .corpus/debs/*/musl_*.deb --golden $(GOLDEN)

fuzz: ## run every fuzz target for FUZZTIME each
	.ci/fuzz $(FUZZTIME)

bench: corpus ## run the benchmarks COUNT times and summarise them
	@mkdir -p out
	go test $(TAGS) -run '^$$' -bench . -benchmem -count $(COUNT) ./... >out/bench.txt || { cat out/bench.txt; exit 1; }
	go tool benchstat out/bench.txt

bench-guest: rig ## compare times of a guest: native, svcrelay run and Debian's proot
	go test -tags rig -run '^$$' -bench Guest -benchtime 1x -timeout 60m ./cmd/svcrelay

demo: deps ## from nothing to the site tables of a real glibc, and what they cover
	go build -o out/bin/corpus ./cmd/corpus
	out/bin/corpus trixie
	$(MAKE) --no-print-directory build
	$(BIN) build $(DEMO)/libc6_*.deb -o out/demo
	$(BIN) verify $(DEMO)/libc6_*.deb --tables out/demo
	$(BIN) scan $(DEMO)/libc6_*.deb

man: ## write the manual pages into out/man
	go run ./cmd/man out/man

clean: ## remove what was built
	rm -rf out

distclean: clean ## also remove what was fetched: corpus and Go
	rm -rf .corpus .tools
