"""`doctor` names what breaks an installation, and its commands, run as printed, make the check of the daemon good.

The first 26 breakages are those of the review of 28 November 2026; the others were written down before anybody who
wrote them had read the code of `doctor`.
"""

import re
from collections.abc import Iterator
from contextlib import closing
from typing import NamedTuple

import pytest
from doctor_bed import PLUGIN, Bed, lacking

from smart_attributes.doctor import sudo_rule

pytestmark = [pytest.mark.xdist_group('doctor'), pytest.mark.long]
RULE = sudo_rule.RULE
NRPE = '/etc/nagios/nrpe_local.cfg'
SITE = '/etc/check-smart-attributes'
SHARE = '/usr/share/check-smart-attributes'
SERVICE = '/etc/icinga2/conf.d/smart.conf'
# SELinux refuses root until its policy has our module; the programs of SELinux are stand-ins.
SELINUX = r"""
mount -t tmpfs tmpfs /sys/fs; mkdir /sys/fs/selinux; echo 1 >/sys/fs/selinux/enforce
mv /usr/sbin/smartctl /usr/sbin/smartctl.real; touch /etc/denies
cat >/usr/sbin/smartctl <<'END'
#!/bin/sh
case $* in *--scan* | *version*) exec /usr/sbin/smartctl.real "$@" ;; esac
[ -e /etc/denies ] || exec /usr/sbin/smartctl.real "$@"
for path; do :; done
echo '{"json_format_version":[1,0],"smartctl":{"version":[7,4],"exit_status":2,"messages":[{"string":'
echo '"Smartctl open device: '$path' failed: Permission denied","severity":"error"}]}}'
exit 2
END
for name in ausearch audit2allow; do printf '#!/bin/sh\nexit 0\n' >/usr/sbin/$name; done
printf '#!/bin/sh\nrm /etc/denies\n' >/usr/sbin/semodule
chmod 755 /usr/sbin/smartctl /usr/sbin/ausearch /usr/sbin/audit2allow /usr/sbin/semodule
"""
NO_DRIVES = r"""
rm -rf /var/lib/check-smart-attributes/*
mv /usr/sbin/smartctl /usr/sbin/smartctl.real
cat >/usr/sbin/smartctl <<'END'
#!/bin/sh
case "$*" in
*--scan*) echo '{"smartctl":{"argv":["smartctl","--json=c","--scan"],"exit_status":0},"devices":[]}' ;;
*) exec /usr/sbin/smartctl.real "$@" ;;
esac
END
chmod 755 /usr/sbin/smartctl
"""
MOST_ROUNDS = 4


class Case(NamedTuple):
    """A breakage."""

    breaks: str  # commands of root
    code: str  # of the finding that names it
    daemon: str = 'nrpe'  # whose check decides
    editor: str = ''  # what an admin does in an editor, as a script of sed
    is_unknown: bool = True  # the check of the daemon is UNKNOWN then


CASES = {
    'includedir-removed': Case(
        'sed -i /includedir/d /etc/sudoers', 'sudoers-not-included'
    ),
    'syntax-error-in-another-file': Case(
        'echo "nagios ALL=(root NOPASSWD" >/etc/sudoers.d/other; chmod 440 /etc/sudoers.d/other',
        'sudoers-syntax-error',
        is_unknown=False,
    ),
    'rule-with-a-dot': Case(f'mv {RULE} {RULE}.conf', 'sudoers-name-ignored'),
    'rule-of-another-owner': Case(f'chown nagios {RULE}', 'sudoers-owner-wrong'),
    'sudoers.d-of-another-owner': Case(
        'chown nagios /etc/sudoers.d', 'sudoers-owner-wrong'
    ),
    'smartctl-of-another-owner': Case(
        'chown nagios /usr/sbin/smartctl', 'smartctl-not-trusted', is_unknown=False
    ),
    'nopasswd-all-elsewhere': Case(
        'printf "# ours\\nnagios ALL=(ALL) NOPASSWD: ALL\\n" >/etc/sudoers.d/zz; chmod 440 /etc/sudoers.d/zz',
        'sudo-line-too-wide',
        editor='/ALL$/d',
        is_unknown=False,
    ),
    'site-file-broken': Case(
        f'echo "{{" >{SITE}/thresholds.d/site.json',
        'site-file-invalid',
        editor='s/.*/{}/',
    ),
    'site-file-unreadable': Case(
        f'echo {{}} >{SITE}/thresholds.d/site.json; chmod 600 {SITE}/thresholds.d/site.json',
        'site-file-not-readable',
    ),
    'site-file-unknown-metric': Case(
        """echo '{"metrics": {"reallocatd": {"warning": "3"}}}' >"""
        f'{SITE}/thresholds.d/site.json',
        'site-file-invalid',
        editor='s/reallocatd/reallocated/',
    ),
    'attributes.d-wrong-key': Case(
        f"""echo '{{"entris": []}}' >{SITE}/attributes.d/site.json""",
        'site-file-invalid',
        editor='s/entris/entries/',
    ),
    'nrpe-t-120': Case(
        f'sed -i "s/ --max-output/ -t 120 --max-output/" {NRPE}',
        'time-limit-too-short',
        is_unknown=False,
    ),
    'smartctl-elsewhere': Case(
        'mv /usr/sbin/smartctl /usr/local/sbin/smartctl', 'smartctl-elsewhere'
    ),
    'nagiosplugin-removed': Case(
        'mkdir -p /srv/packages/python3-nagiosplugin/usr/lib/python3/dist-packages;'
        'mv /usr/lib/python3/dist-packages/nagiosplugin'
        ' /srv/packages/python3-nagiosplugin/usr/lib/python3/dist-packages',
        'python-package-missing',
    ),
    'attributes.json-cut': Case(
        f'truncate -s 1000 {SHARE}/attributes.json', 'program-damaged'
    ),
    'default.json-unreadable': Case(
        f'chmod 600 {SHARE}/thresholds/default.json', 'package-not-readable'
    ),
    'plugin-without-x': Case(f'chmod a-x {PLUGIN}', 'daemon-path-not-executable'),
    'another-uid': Case(
        'systemctl stop nagios-nrpe-server; old=$(id -u nagios);'
        'sed -i "s/^nagios:x:$old:/nagios:x:1005:/" /etc/passwd;'
        'find /etc /var /run -uid $old -not -path "*check-smart*" -exec chown -h nagios {} +',
        'history-folder-missing',
        is_unknown=False,
    ),
    'selinux': Case(SELINUX, 'drive-denied-by-selinux'),
    'history.sqlite-is-a-directory': Case(
        'cd /var/lib/check-smart-attributes/history; rm lock;'
        'mkdir lock history.sqlite; chown nagios lock history.sqlite',
        'history-path-in-the-way',
        is_unknown=False,
    ),
    'plugins-contrib-commented-out': Case(
        'sed -i "/plugins-contrib>/s/^/#/" /etc/icinga2/icinga2.conf',
        'check-command-not-included',
        'icinga',
    ),
    'nrpe-local-commented-out': Case(
        'sed -i /nrpe_local/s/^/#/ /etc/nagios/nrpe.cfg', 'nrpe-not-included'
    ),
    'nrpe-user-nobody': Case(
        'sed -i s/^nrpe_user=.*/nrpe_user=nobody/ /etc/nagios/nrpe.cfg',
        'daemon-user-differs',
    ),
    'nrpe-names-no-drive': Case(
        f'sed -i "s/8000/8000 -d \\/dev\\/sdz/" {NRPE}', 'daemon-names-no-drive'
    ),
    'icinga-variable-misspelt': Case(
        f'sed -i s/smart_attributes_device/smart_atributes_device/ {SERVICE}',
        'icinga-variable-misspelt',
        'icinga',
        is_unknown=False,
    ),
    'site-file-in-capitals': Case(
        f'echo {{}} >{SITE}/thresholds.d/site.JSON',
        'site-file-name-ignored',
        is_unknown=False,
    ),
    'host-without-drives': Case(NO_DRIVES, 'daemon-without-drives'),
    # Written down without sight of the code
    'state-directory-of-root': Case(
        'chown -hR root: /var/lib/check-smart-attributes',
        'history-folder-missing',
        is_unknown=False,
    ),
    'history-is-garbage': Case(
        'for f in /var/lib/check-smart-attributes/history/*.drive; do echo garbage >$f; done',
        '',  # the check has repaired it, says so, and alerts
        is_unknown=False,
    ),
    'rule-of-another-user': Case(f'sed -i s/^nagios/games/ {RULE}', 'sudo-rule-absent'),
    'rule-of-an-older-release': Case(f"sed -i '/scan/d' {RULE}", 'sudo-rule-refuses'),
    'requiretty': Case(
        'echo "Defaults requiretty" >>/etc/sudoers', 'sudo-needs-terminal'
    ),
    'nrpe-through-sudo': Case(
        f'sed -i "s/]=/]=\\/usr\\/bin\\/sudo /" {NRPE}', 'daemon-runs-sudo'
    ),
    'plugin-dir-without-plugin': Case(
        'mkdir -p /opt/plugins; sed -i "/const PluginDir/s/=.*/= \\"\\/opt\\/plugins\\"/" /etc/icinga2/constants.conf',
        'daemon-path-wrong',
        'icinga',
    ),
    'service-names-no-command': Case(
        f'sed -i s/check-smart-attributes/check-smart-atributes/ {SERVICE}',
        'icinga-command-misspelt',
        'icinga',
    ),
    'nagios-names-no-command': Case(
        'sed -i s/smart_attributes_drives!/smart_drives!/ /etc/nagios4/conf.d/smart_service.cfg',
        'nagios-command-misspelt',
        'nagios',
    ),
    'check-command-twice': Case(
        'printf "object CheckCommand \\"check-smart-attributes\\" {\\n command = [ PluginDir +'
        ' \\"/check_smart_attributes\\" ]\\n}\\n" >/etc/icinga2/conf.d/smart_command.conf',
        'icinga-command-twice',
        'icinga',
    ),
    'nagios-passes-arguments-to-nrpe': Case(
        'systemctl restart nagios-nrpe-server;'
        'sed -i "/check_nrpe/s/$/ -a -v/" /etc/nagios4/conf.d/smart_attributes.cfg;'
        'sed -i "s/smart_attributes_drives!.*/smart_attributes_nrpe/" /etc/nagios4/conf.d/smart_service.cfg',
        'daemon-arguments-refused',
        'nagios',
    ),
    'python-is-gone': Case(
        f'sed -i "1s/python3/python3.9/" {PLUGIN}', 'program-without-python'
    ),
    'rule-writable-by-all': Case(f'chmod 666 {RULE}', 'sudoers-mode-wrong'),
    'another-smartctl': Case(
        'mkdir -p /opt/smartmontools/sbin; cp /usr/sbin/smartctl /opt/smartmontools/sbin/;'
        f'sed -i "s/8000/8000 -p \\/opt\\/smartmontools\\/sbin\\/smartctl/" {NRPE}',
        'daemon-check-unknown',
    ),
    'no-new-privileges': Case(
        'mkdir -p /etc/systemd/system/nagios-nrpe-server.service.d;'
        'printf "[Service]\\nNoNewPrivileges=yes\\n" >/etc/systemd/system/nagios-nrpe-server.service.d/hardening.conf',
        'daemon-no-new-privileges',
    ),
}


@pytest.fixture(scope='module')
def base() -> Iterator[Bed]:
    """A machine where all is well."""
    if lacking():
        pytest.skip(lacking())
    with closing(Bed()) as bed:
        bed.install()
        yield bed


@pytest.fixture
def bed(base: Bed) -> Iterator[Bed]:
    """A copy of it."""
    with closing(Bed(base)) as found:
        yield found


def is_editor(command: str) -> bool:
    return 'EDITOR' in command or command.startswith('visudo -f')


def cured(bed: Bed, case: Case) -> list[tuple[str, str]]:
    """Do what doctor says until it finds no problem; return the code and the command of each step.

    A command may print another diagnosis, whose first command is the next step.
    """
    steps: list[tuple[str, str]] = []
    document = bed.doctor()
    for _ in range(MOST_ROUNDS):
        if 'error' in document:  # the program lacks something
            step = (
                document['code'],
                re.search('apt install [a-z0-9-]+', document['error'])[0],
            )
            steps.append(step)
            bed.run(step[1])
            document = bed.doctor()
            continue
        to_do = [each for each in document['findings'] if each['state'] == 'problem']
        if document['good'] or not to_do:
            break
        first = next((each for each in to_do if each['command']), to_do[0])
        step = first['code'], first['command'] or ''
        assert step not in steps, f'a circle: {steps}, then {step}: {first["message"]}'
        steps.append(step)
        assert step[1], (
            f'no command: {first["code"]}: {first["message"]} -> {first["remedy"]}'
        )
        if step[1].startswith('check_smart_attributes doctor'):
            document = bed.doctor(*step[1].split()[2:], user='')
            continue
        editors = ' '.join(
            f'{name}="sed -i -e {case.editor}"' for name in ('EDITOR', 'SUDO_EDITOR')
        )
        bed.run(f'export {editors}; {step[1]}' if is_editor(step[1]) else step[1])
        document = bed.doctor()
    return steps


@pytest.mark.parametrize('name', CASES)
def test_a_breakage_is_named_and_its_command_makes_the_check_good(bed, name):
    """No circle, and never "No problems found" beside a check of the daemon that is UNKNOWN."""
    case = CASES[name]
    bed.restart(case.daemon)
    bed.run(case.breaks)
    bed.restart(case.daemon)
    before = bed.state(case.daemon)
    assert (before[0] not in (0, 1, 2)) == case.is_unknown, before

    steps = cured(bed, case)

    after = bed.state(case.daemon)
    assert after[0] in (0, 1), (steps, after)
    assert not case.code or case.code in [code for code, _ in steps], steps
