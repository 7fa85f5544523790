# The queries are compiled against the committed .sqlx/, so that a build needs no database.
export SQLX_OFFLINE ?= true

.DEFAULT_GOAL := help
.PHONY: help demo test fuzz-api bench notebooks lint sqlx

help: ## list the targets
	@awk -F ': ## ' '/^[a-z-]+: ## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## play 35 days of traffic on private servers, report and serve it; ARGS=--once ends after the report
	scripts/setup cc redis-server postgres
	cargo run --locked -- demo $(ARGS)

test: ## run all tests on private servers
	scripts/setup cc redis-server postgres pgbouncer chromium python3-venv node npm
	cargo test --locked
	scripts/producers
	cargo test --locked --test it producers:: -- --ignored
	python3 -m venv target/browser-python
	target/browser-python/bin/pip install --quiet --requirement tests/browser/requirements.txt
	FOLGA_BINARY="$${CARGO_TARGET_DIR:-target}/debug/folga" \
		target/browser-python/bin/pytest --quiet -p no:cacheprovider tests/browser

fuzz-api: ## send invented requests to the API of a demo and check what is answered, for two minutes
	scripts/setup cc redis-server postgres python3-venv
	scripts/fuzz-api

bench: ## measure what a large drain and a report cost, as ratios of simpler programs
	scripts/setup cc redis-server postgres python3-venv
	python3 -m venv target/bench-python
	target/bench-python/bin/pip install --quiet 'redis[hiredis]' 'psycopg[binary]'
	BENCH_PYTHON=$(CURDIR)/target/bench-python/bin/python cargo bench --locked --bench figures
	cargo bench --locked --bench reports

notebooks: ## run the notebooks and write them as pages into target/notebooks
	scripts/setup python3-venv
	python3 -m venv target/notebooks-python
	target/notebooks-python/bin/pip install --quiet --requirement notebooks/requirements.txt
	target/notebooks-python/bin/jupyter nbconvert --execute --to html --output-dir target/notebooks notebooks/*.ipynb

lint: ## check format, scripts and code, and the queries against the migrated schema
	scripts/setup cc postgres psql shellcheck
	cargo fmt --check
	shellcheck scripts/* .ci/run
	scripts/sqlx check

sqlx: ## write .sqlx/ after a change of queries or migrations
	scripts/setup cc postgres psql
	scripts/sqlx write
