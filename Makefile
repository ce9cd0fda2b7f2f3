# Two commands on a fresh machine:  make run   and   make test
PYTHON ?= python3
VENV := .venv
OLD := .venv-debian12
BUILD := .venv-build
CI := .venv-ci
ANSIBLE := .venv-ansible
BIN := $(VENV)/bin
# The directory for the wheel and the single-file program. Tests use their own.
DIST := dist
# The collection of drives: the one that "make collection" has made here, or else the maintainers' own.
COLLECTION := drives.jsonl.gz
DRIVES := $(firstword $(wildcard $(COLLECTION) ../shared/drives/drives.jsonl.gz) $(COLLECTION))
# What only the maintainers have: no tool here builds these files.
WATCHED := $(addprefix ../shared/drives/,timelines.csv.gz ssd_failures.csv.gz)
DATA_SET := https://github.com/linuxhw/EnterpriseDrive
# Versions that Debian 12 ships. No Debian has pySMART.
DEBIAN12 := nagiosplugin==1.3.2 jsonschema==4.10.3 rich==13.3.1 chardet==5.1.0 humanfriendly==10.0 pytest==7.2.1 pytest-timeout==2.1.0 pytest-xdist==3.1.0 hypothesis==6.67.1 prometheus_client==0.16.0
# Packages for test-icinga: the daemons, and the libraries with which they run the plugin.
DAEMONS := icinga2 nagios4-core nagios-nrpe-server nagios-nrpe-plugin icingacli icingaweb2-module-director php-cli php-mysql mariadb-server \
	python3-nagiosplugin python3-jsonschema python3-rich acl sudo iproute2 curl jq
# Packages for test-metrics.
SCRAPERS := prometheus prometheus-node-exporter
# Packages for test-zabbix.
ZABBIX := zabbix-server-mysql zabbix-frontend-php zabbix-agent php-cli php-cgi php-mysql mariadb-server python3-nagiosplugin \
	python3-jsonschema python3-rich
# Packages for single tests: the real sudo, access control lists, man pages, another user, a memory checker, a browser.
PROGRAMS := sudo busybox acl man-db passwd util-linux binutils valgrind pipx chromium chromium-driver
# The version of a snapshot has a time and a commit, which makes the name of its .buildinfo long.
LINTIAN := --suppress-tags package-has-long-file-name
# Number of tests that run at a time: one more than there are cores, because many of them wait.
WORKERS ?= $(shell expr $$(nproc) + 1)
# "make test" leaves the long tests and those of tools/ to CI; "make test MARKS=" runs them too.
MARKS ?= not long and not tools
AS_ROOT := $(if $(filter-out 0,$(shell id -u)),sudo -E)
# For "make install": tools/recipe explains these variables.
PREFIX ?= /usr/local
DOCS ?= $(PREFIX)/share/doc/check-smart-attributes
UNITS ?= $(PREFIX)/lib/systemd/system
CONFIG ?= /etc/check-smart-attributes

.PHONY: run test test-bare check mutants test-debian12 playground bench storm year validate collection measure verdicts add format generate pictures deb test-deb rpm test-rpm test-pythons test-kernel daemons test-programs test-icinga test-metrics test-zabbix scrapers venv wheel zipapp release packages reproducible pins audit clean help

help:            ## list all targets, and the CPU minutes of the rings of tests
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/:/' | while IFS=: read -r name text; do printf '%-15s%s\n' "$$name" "$$text"; done
	@echo; $(PYTHON) tools/budget.py --list

run: venv        ## show the drives of this machine, or sample drives, as a table
	@sh tools/run $(BIN)/check_smart_attributes

# Each ring is measured: tools/budget.py prints its CPU minutes beside its budget.
RING = $(BIN)/python tools/budget.py
.PHONY: quick proof
quick: $(VENV)/.tools  ## run one case of the test functions that run 99 % of the lines
	@$(RING) quick $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup --quick

test: $(VENV)/.tools $(OLD)/.ready  ## check style and types, and run all tests but the long ones and those of tools/ (make test MARKS= runs these, too)
	@$(RING) test $(MAKE) --no-print-directory check test-debian12

PARTS := test-bare test-documents test-deb test-rpm test-ansible test-pythons test-replace test-kernel test-icinga test-metrics test-zabbix mutants storm year fuzz reproducible
proof: $(VENV)/.tools  ## run one part of the proofs: make proof PART=test-deb; without PART, list the parts
	@if [ -n "$(PART)" ]; then $(RING) proof $(MAKE) --no-print-directory $(PART); else printf '%s\n' $(PARTS); fi

.PHONY: lint lint-packages
lint: $(VENV)/.tools  ## check style and types only
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy

check: lint
	@sh tools/compiler
	@sh tools/install nvme-cli || echo "nvme-cli cannot be installed: the test that compares with it will be skipped" >&2
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -m "$(MARKS)" $(PYTEST)

test-debian12: $(OLD)/.ready  ## run the behavior tests with the libraries of Debian 12
	$(OLD)/bin/python -m pytest -n $(WORKERS) --dist loadgroup -m libraries $$(grep -l 'mark\.libraries' tests/test_*.py)

SUITES ?= bookworm trixie
ACCOUNTS ?= root admin
test-bare:       ## run README's commands in fresh Debian with nothing else, as root and as a user without sudo: make test-bare SUITES=trixie ACCOUNTS=root
	sh tools/install debootstrap util-linux
	failed=; for suite in $(SUITES); do for user in $(ACCOUNTS); do \
		$(AS_ROOT) sh tools/bare $$suite $$user || failed="$$failed $$suite/$$user"; done; done; \
	[ -z "$$failed" ] || { echo "failed:$$failed" >&2; exit 1; }

.PHONY: test-documents
test-documents: $(VENV)/.tools packages  ## type the commands of README, doc/how-to and doc/tutorial in fresh Debian: make test-documents SUITES=trixie DOCUMENTS=README
	sh tools/install debootstrap util-linux openssh-client
	@sh tools/compiler
	failed=; for suite in $(SUITES); do \
		$(AS_ROOT) $(BIN)/python tools/documented.py $$suite $(DOCUMENTS) || failed="$$failed $$suite"; done; \
	[ -z "$$failed" ] || { echo "failed:$$failed" >&2; exit 1; }

.PHONY: install uninstall
install: PYTHON = /usr/bin/python3
install uninstall: export DESTDIR := $(DESTDIR)
install uninstall: export LIBRARIES := $(LIBRARIES)
install uninstall: export PACKAGES := $(PACKAGES)
install uninstall: export PREFIX := $(PREFIX)
install uninstall: export DOCS := $(DOCS)
install uninstall: export UNITS := $(UNITS)
install uninstall: export CONFIG := $(CONFIG)
install:         ## install the program, as root, without building anything: make install PREFIX=/usr/local DESTDIR=
	@PYTHON="$(PYTHON)" sh tools/recipe install

uninstall:       ## remove the files of "make install", given the same variables
	@sh tools/recipe uninstall

mutants: $(VENV)/.mutants  ## count the small mistakes in functions that tests notice: make mutants SAMPLE=300 SEED=7 MODULE=judging RESULTS=FILE
	$(BIN)/python tools/mutants.py $(SAMPLE:%=--sample %) $(SEED:%=--seed %) $(RESULTS:%=--results %) $(MODULE)

playground: $(VENV)/.tools  ## open a shell on a simulated server
	@sh tools/compiler
	@PYTHONPATH=tests $(BIN)/python -m simulator playground

bench: $(VENV)/.tools  ## count the instructions of a check, and compare them with the aims: make bench PAGE=doc/explanation/performance.md
	@sh tools/compiler
	sh tools/install valgrind
	$(BIN)/python tools/bench.py $(PAGE)

.PHONY: fuzz storm
fuzz: $(VENV)/.tools  ## give random data to every reader: make fuzz MINUTES=20 (or RUNS=1000000) READERS="json text"
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[fuzz]'
	PYTHONPATH=tests:. $(BIN)/python tests/fuzz.py $(if $(RUNS),--runs $(RUNS),--minutes $(or $(MINUTES),20)) $(READERS)

storm: $(VENV)/.tools  ## try random faults in drives, reports, the history, kills and power cuts: make storm SEED=7 MINUTES=5 KIND=kills
	@sh tools/compiler
	PYTHONPATH=tests:. $(BIN)/python tests/storm.py $(KIND:%=--kind %) $(SEED:%=--seed %) $(MINUTES:%=--minutes %)

year: $(VENV)/.tools  ## measure the size of the history of 24 drives: make year CHECKS=1000 MINUTES=5 SEED=7 (at most 1,000 checks)
	PYTHONPATH=tests:. $(BIN)/python tests/year.py $(CHECKS:%=--checks %) $(MINUTES:%=--minutes %) $(SEED:%=--seed %)

validate: venv      ## find mistakes in attributes.json
	$(BIN)/check_smart_attributes validate

collection: venv ## build drives.jsonl.gz from a clone of linuxhw/EnterpriseDrive: make collection CLONE=DIR
	$(BIN)/python -m tools.measure.collect "$(CLONE)" $(COLLECTION)

measure: $(DRIVES) venv  ## evaluate attributes.json on a collection of drives: make measure DRIVES=FILE
	$(BIN)/python -m tools.measure $(DRIVES) --accuracy

verdicts: $(DRIVES) $(WATCHED) $(VENV)/.tools  ## maintainers: measure the limits, and write doc/explanation/verdicts.md
	$(BIN)/python tools/verdicts.py $(word 1,$(WATCHED)) $(DRIVES) $(word 2,$(WATCHED))

$(DRIVES):
	@echo '$@ not found; clone $(DATA_SET), then run: make collection CLONE=DIR' >&2; exit 1

$(WATCHED):
	@echo '$@ not found; only the maintainers have it. To count the alerts in your own collection, run:' \
		'$(BIN)/python -m tools.measure $(DRIVES) --verdicts' >&2; exit 1

add: venv        ## add your database entry and its sample to the database: make add FILE=my-entry.json
	$(BIN)/python tools/add.py "$(FILE)"

format: $(VENV)/.tools  ## lay out the code and attributes.json in their usual way
	$(BIN)/ruff format .
	$(BIN)/check_smart_attributes validate --format

venv: $(BIN)/check_smart_attributes  ## create the program, .venv/bin/check_smart_attributes

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

generate: $(VENV)/.tools  ## write the man page, the tables of the documents and all other generated files
	$(BIN)/python tools/generate.py
	$(BIN)/python tools/tables.py

.PHONY: catalogue
catalogue: $(VENV)/.tools  ## write doc/reference/alerts.md: the output in each situation, on simulated drives
	@sh tools/compiler
	$(BIN)/python tools/catalogue.py

pictures: $(VENV)/.tools  ## write the pictures of README, with Chromium
	sh tools/install chromium chromium-driver
	$(BIN)/python tools/pictures.py

deb: venv        ## build dist/*.deb as Debian does
	sh tools/deb $(BIN)/python


test-deb: $(VENV)/.tools deb zipapp  ## install, upgrade, run and purge the package in fresh Debian 11, 12 and 13
	sh tools/install debootstrap lintian autopkgtest
	$(AS_ROOT) env TEST_DEB=1 $(BIN)/python -m pytest tests/test_deb.py

.PHONY: test-ansible
test-ansible: $(VENV)/.tools packages  ## run the Ansible role of contrib/ansible on fresh Debian 12 and 13
	sh tools/install debootstrap openssh-client
	[ -x $(ANSIBLE)/bin/ansible-playbook ] || { $(PYTHON) -m venv $(ANSIBLE) && $(ANSIBLE)/bin/pip install --quiet 'ansible>=11'; }
	$(AS_ROOT) env TEST_ANSIBLE=1 $(BIN)/python -m pytest tests/test_ansible.py

rpm: $(BUILD)/.ready  ## build dist/*.rpm for RHEL and SUSE, with all libraries inside
	sh tools/rpm $(BUILD)/bin/python "$(DIST)"

test-rpm: $(VENV)/.tools rpm  ## install, upgrade, run and remove the RPM on fresh Debian 11, 12 and 13 with rpm
	sh tools/install debootstrap rpm rpmlint
	$(AS_ROOT) env TEST_RPM=1 $(BIN)/python -m pytest tests/test_rpm.py

test-pythons: $(VENV)/.tools  ## run the tests with each Python of Debian: make test-pythons VERSIONS="3.9 3.14" TESTS="-m libraries"
	sh tools/install debootstrap
	$(AS_ROOT) env PYTHONPATH=tests:. $(BIN)/python tests/pythons.py "$(VERSIONS)" $(or $(TESTS),-n $(WORKERS) --dist loadgroup -m "$(MARKS)")

.PHONY: test-replace
test-replace: $(VENV)/.tools  ## type the commands of doc/how-to/replace-a-drive.md in QEMU while drives fail and are pulled
	sh tools/install debootstrap qemu-system-x86
	$(AS_ROOT) env TEST_REPLACE=1 $(BIN)/python -m pytest --durations=5 tests/test_replace_a_drive.py

test-kernel: $(VENV)/.tools deb  ## run the package on a real kernel in QEMU; drives fail, hang, disappear and return
	sh tools/install debootstrap qemu-system-x86
	$(AS_ROOT) env TEST_KERNEL=1 $(BIN)/python -m pytest --durations=5 tests/test_kernel.py tests/test_kernel_groups.py tests/test_kernel_ocp.py

daemons:         ## install the daemons of test-icinga; then make test runs these tests, too
	sh tools/install $(DAEMONS)

test-programs:   ## install sudo and other programs of single tests, which are skipped without them
	sh tools/install $(PROGRAMS)

test-icinga: $(VENV)/.tools daemons  ## run the plugin in Icinga 2, its Director, Nagios 4 and NRPE
	TEST_DAEMONS=1 $(BIN)/python -m pytest tests/test_icinga.py tests/test_director.py tests/test_nagios.py tests/test_documented_states.py tests/test_fleet_icinga.py

test-metrics: $(VENV)/.tools scrapers  ## test the metrics with node_exporter, Prometheus and promtool
	TEST_DAEMONS=1 $(BIN)/python -m pytest tests/test_metrics.py tests/test_prometheus.py

test-zabbix: $(VENV)/.tools  ## let a Zabbix server read 24 and 60 simulated drives through the template
	@sh tools/compiler
	sh tools/install $(ZABBIX)
	TEST_ZABBIX=1 TEST_DAEMONS=1 $(BIN)/python -m pytest tests/test_zabbix.py

scrapers:
	sh tools/install $(SCRAPERS)

fleet-10000: $(VENV)/.tools daemons  ## measure fleet with an Icinga 2 of 10,000 hosts with 24 drives each (takes 3 GB)
	FLEET_HOSTS=10000 TEST_DAEMONS=1 $(BIN)/python -m pytest -s tests/test_fleet_icinga.py -k 1000_hosts

wheel: $(BUILD)/.ready  ## build dist/*.whl and the source archive
	sh tools/wheel $(BUILD)/bin/python "$(DIST)"

zipapp: wheel    ## build dist/check_smart_attributes.pyz, one file with all libraries
	sh tools/zipapp $(BUILD)/bin/python "$(DIST)"

release:         ## build all files of a release in dist/, from its tag, with SBOMs and checksums; KEY=FILE (an SSH key) signs them
	@sh tools/releasable
	$(MAKE) --no-print-directory packages KEY="$(KEY)"

packages: $(BUILD)/.ready  ## build the same files from any commit, as a snapshot
	sh tools/release $(BUILD)/bin/python "$(KEY)"

lint-packages:   ## let lintian and rpmlint look at the packages that were built
	sh tools/install lintian rpmlint
	lintian --allow-root --fail-on error,warning $(LINTIAN) build/deb/*.changes
	rpmlint --config rpm/rpmlint.toml dist/*.rpm

.PHONY: lint-ci
lint-ci:         ## check the CI files with actionlint (needs go 1.25) and with the schemas of GitHub and GitLab
	[ -x $(CI)/bin/check-jsonschema ] || { $(PYTHON) -m venv $(CI) && $(CI)/bin/pip install --quiet --disable-pip-version-check check-jsonschema; }
	$(CI)/bin/check-jsonschema --builtin-schema vendor.gitlab-ci .gitlab-ci.yml
	$(CI)/bin/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	[ -x $(CI)/bin/actionlint ] || GOBIN=$(CURDIR)/$(CI)/bin go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
	$(CI)/bin/actionlint

reproducible: $(BUILD)/.ready  ## check that a second build of the last commit gives the same files, byte for byte
	sh tools/install faketime
	sh tools/reproducible $(BUILD)/bin/python

pins: $(VENV)/.pins  ## renew requirements/*.txt, the pinned libraries of builds with their hashes
	sh tools/pins $(BIN)/uv

audit: $(VENV)/.pins  ## look for known vulnerabilities in the libraries of builds; fail if one cannot be looked up
	sh tools/audit $(BIN)/pip-audit

clean:           ## remove everything that the other targets make
	rm -rf $(VENV) $(OLD) $(BUILD) $(CI) $(ANSIBLE) $(COLLECTION) dist build .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
