# Two commands on a fresh machine:  make run   and   make test
PYTHON ?= python3
VENV := .venv
OLD := .venv-debian12
BUILD := .venv-build
BIN := $(VENV)/bin
# Where wheel and single-file program are built; tests give a folder of their own.
DIST := dist
DRIVES := ../shared/drives/drives.jsonl.gz
# What Debian 12 ships; pySMART is in no Debian.
DEBIAN12 := nagiosplugin==1.3.2 jsonschema==4.10.3 rich==13.3.1 chardet==5.1.0 humanfriendly==10.0 pytest==7.2.1 hypothesis==6.67.1 prometheus_client==0.16.0
# What test-icinga runs: the daemons, and the libraries with which they run the plugin.
DAEMONS := icinga2 nagios4-core nagios-nrpe-server nagios-nrpe-plugin icingacli icingaweb2-module-director php-cli php-mysql mariadb-server \
	python3-nagiosplugin python3-jsonschema python3-rich acl
# What test-metrics runs.
SCRAPERS := prometheus prometheus-node-exporter
# What single tests run: the real sudo, access-control lists, the man page, another user, a memory checker, a browser.
PROGRAMS := sudo acl man-db passwd util-linux binutils valgrind pipx chromium chromium-driver
# How many tests run at a time: one more than there are cores, since many of them wait.
WORKERS ?= $(shell expr $$(nproc) + 1)
# "make test" leaves the long tests to CI; "make test MARKS=" runs them too.
MARKS ?= not long
AS_ROOT := $(if $(filter-out 0,$(shell id -u)),sudo -E)

.PHONY: run test check mutants broken-promises test-debian12 playground bench performance kills year validate measure verdicts add format generate pictures deb test-deb test-kernel daemons test-programs test-icinga test-metrics scrapers venv wheel zipapp release reproducible pins audit clean help

help:            ## this list
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

run: venv        ## the drives of this machine, or sample drives, as a table
	@sh tools/run $(BIN)/check_smart_attributes

test: check test-debian12  ## run style, types and all tests but the long ones; with them: make test MARKS=

check: $(VENV)/.tools
	$(BIN)/ruff check .
	$(BIN)/mypy
	@sh tools/compiler
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -m "$(MARKS)"

test-debian12: $(OLD)/.ready  ## the behaviour again, with the libraries of Debian 12
	$(OLD)/bin/python -m pytest -m libraries $$(grep -l 'mark\.libraries' tests/test_*.py)

mutants: $(VENV)/.mutants  ## do the unit tests notice small mistakes in the pure modules? a sample of each; all of one: make mutants MODULE=judge
	$(BIN)/python tools/mutants.py $(MODULE) $(MODULES)

broken-promises: $(VENV)/.tools  ## small mistakes in the code behind doc/explanation/security.md: does each named test fail? make broken-promises WORDS="icinga trust"
	@sh tools/compiler
	$(BIN)/python tools/broken_promises.py $(WORDS)

playground: $(VENV)/.tools  ## a shell on a machine of simulated drives: smartctl --scan, check_smart_attributes
	@sh tools/compiler
	@PYTHONPATH=tests $(BIN)/python -m simulator playground

bench: $(VENV)/.tools  ## what a check costs, against the figures of the design
	$(BIN)/python tests/bench.py

.PHONY: damage endure flips fuzz
fuzz: $(VENV)/.tools  ## what atheris makes up, for every reader of foreign data: make fuzz MINUTES=20, or RUNS=1000000 (for each of both report readers), READERS="json text"
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[fuzz]'
	PYTHONPATH=tests:. $(BIN)/python tests/fuzz.py $(if $(RUNS),--runs $(RUNS),--minutes $(or $(MINUTES),20)) $(READERS)

endure: $(VENV)/.tools  ## machines of 24 simulated drives with random faults: is each told as it is? make endure ROUNDS=200 SEED=7
	PYTHONPATH=tests:. $(BIN)/python tests/endurance.py $(or $(ROUNDS),200) $(SEED)

damage: $(VENV)/.tools  ## reports that were cut, swapped, spoiled: does any drive look better in silence? make damage REPORTS=2000 SEED=7 KIND=section
	PYTHONPATH=tests:. $(BIN)/python tests/damage.py $(or $(REPORTS),2000) "$(SEED)" $(KIND)

kills: $(VENV)/.tools  ## checks two at a time, a third of them killed, then as many power cuts: is history whole after each? make kills CHECKS=1000 SEED=7
	@sh tools/compiler
	PYTHONPATH=tests:. $(BIN)/python tests/kills.py $(or $(CHECKS),1000) $(SEED)

flips: $(VENV)/.tools  ## flipped bits in the files of the history: is each loss reported? make flips FLIPS=300 SEED=7
	PYTHONPATH=tests:. $(BIN)/python tests/flips.py $(or $(FLIPS),300) $(SEED)

year: $(VENV)/.tools  ## how large history becomes in a year of 24 drives, read every MINUTES: make year MINUTES=5
	PYTHONPATH=tests:. $(BIN)/python tests/year.py $(or $(MINUTES),5)

performance: $(VENV)/.tools  ## doc/explanation/performance.md: these figures, through sudo, on other Pythons and beside version 1.6, too; 6 minutes
	@sh tools/compiler
	sh tools/install sudo util-linux perl libjson-perl
	$(BIN)/python tests/bench.py doc/explanation/performance.md

validate: venv      ## the mistakes in attributes.json
	$(BIN)/check_smart_attributes validate

measure: venv    ## attributes.json against 40,182 real drives, in ../shared/drives, which no clone has: make measure DRIVES=FILE
	$(BIN)/check_smart_attributes measure $(DRIVES)

verdicts: $(VENV)/.tools  ## doc/explanation/verdicts.md: what limits mean on 52,320 hard disks until they failed, and do to the drives of DRIVES
	$(BIN)/python tools/verdicts.py ../shared/drives/timelines.csv.gz $(DRIVES) ../shared/drives/history.jsonl.gz ../shared/drives/ssd_failures.csv.gz

add: venv        ## your entry and its sample to the shipped ones: make add FILE=my-entry.json
	$(BIN)/python tools/add.py "$(FILE)"

format: venv     ## attributes.json in its usual layout
	$(BIN)/check_smart_attributes validate --format

venv: $(BIN)/check_smart_attributes  ## .venv/bin/check_smart_attributes, nothing else

$(BIN)/check_smart_attributes: pyproject.toml tools/prepare tools/launcher
	sh tools/prepare $(PYTHON) $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[page,metrics]'
	sh tools/launcher $(VENV)

$(VENV)/.tools: $(BIN)/check_smart_attributes
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[test]'
	sh tools/launcher $(VENV)
	touch $@

$(VENV)/.mutants: $(VENV)/.tools
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[test,mutants]'
	sh tools/launcher $(VENV)
	touch $@

$(VENV)/.pins: $(VENV)/.tools
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[test,pins]'
	sh tools/launcher $(VENV)
	touch $@

$(BUILD)/.ready: requirements/build.txt tools/prepare
	sh tools/prepare $(PYTHON) $(BUILD)
	$(BUILD)/bin/pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/build.txt
	touch $@

$(OLD)/.ready: pyproject.toml tools/prepare
	sh tools/prepare $(PYTHON) $(OLD)
	$(OLD)/bin/pip install --quiet --disable-pip-version-check $(DEBIAN12) --editable .
	touch $@

generate: $(VENV)/.tools ## the man page, the tables of the documents and whatever else follows from the code
	$(BIN)/python tools/generate.py
	$(BIN)/python tools/tables.py

pictures: $(VENV)/.tools  ## the pictures of README: the table, and the page as Chromium shows it
	sh tools/install chromium chromium-driver
	$(BIN)/python tools/pictures.py

deb: venv        ## dist/*.deb, built as Debian builds it
	sh tools/deb $(BIN)/python

test-deb: $(VENV)/.tools deb zipapp  ## the package in fresh Debian 11, 12 and 13: install, upgrade, run through sudo, purge
	sh tools/install debootstrap lintian autopkgtest
	$(AS_ROOT) env TEST_DEB=1 $(BIN)/python -m pytest tests/test_deb.py

test-kernel: $(VENV)/.tools deb  ## the package on a real kernel with its drivers, in QEMU: drives that fail, hang, go and come
	sh tools/install debootstrap qemu-system-x86
	$(AS_ROOT) env TEST_KERNEL=1 $(BIN)/python -m pytest --durations=5 tests/test_kernel.py

daemons:         ## what test-icinga runs, installed; where it is, make test runs it as well
	sh tools/install $(DAEMONS)

test-programs:   ## sudo and whatever else single tests run, installed; where one is missing its tests are skipped
	sh tools/install $(PROGRAMS)

test-icinga: $(VENV)/.tools daemons  ## Icinga 2, its Director, Nagios 4 and NRPE run the plugin; `fleet` asks 1,000 hosts
	TEST_DAEMONS=1 $(BIN)/python -m pytest tests/test_icinga.py tests/test_director.py tests/test_nagios.py tests/test_fleet_icinga.py

test-metrics: $(VENV)/.tools scrapers  ## node_exporter and Prometheus take the metrics, promtool tries names and alerts
	TEST_DAEMONS=1 $(BIN)/python -m pytest tests/test_metrics.py tests/test_prometheus.py

scrapers:
	sh tools/install $(SCRAPERS)

fleet-10000: $(VENV)/.tools daemons  ## `fleet` asks an Icinga 2 with 10,000 hosts of 24 drives, which takes 3 GB: time and memory
	FLEET_HOSTS=10000 TEST_DAEMONS=1 $(BIN)/python -m pytest -s tests/test_fleet_icinga.py -k 10000

wheel: $(BUILD)/.ready  ## dist/*.whl with its data, and the source archive
	sh tools/wheel $(BUILD)/bin/python "$(DIST)"

zipapp: wheel    ## dist/check_smart_attributes.pyz: the program and its libraries in one file, for Python 3.9 and newer
	sh tools/zipapp $(BUILD)/bin/python "$(DIST)"

release:         ## all that is released, from the tag of this version, in dist/ with SHA256SUMS
	@sh tools/releasable
	rm -rf dist
	$(MAKE) --no-print-directory zipapp deb
	cd dist && sha256sum -- * >SHA256SUMS && cat SHA256SUMS

reproducible: zipapp deb  ## is what is released the same byte for byte, when and wherever it is built from the last commit?
	sh tools/install faketime
	sh tools/reproducible $(BUILD)/bin/python

pins: $(VENV)/.pins  ## the libraries of builds as they are today: requirements/*.txt with their hashes
	sh tools/pins $(BIN)/uv

audit: $(VENV)/.pins  ## do the libraries of builds have known vulnerabilities? What cannot be looked up is a failure
	sh tools/audit $(BIN)/pip-audit

clean:           ## all that the other targets made
	rm -rf $(VENV) $(OLD) $(BUILD) dist build .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
