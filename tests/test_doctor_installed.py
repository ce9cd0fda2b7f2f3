"""What doctor misses on a host, with the command that brings it."""

from pathlib import Path

import pytest

from smart_attributes import installers
from smart_attributes.daemons import checks
from smart_attributes.doctor import installed

PLUGIN = '/usr/lib64/nagios/plugins/check_smart_attributes'


@pytest.fixture
def root(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(checks, 'ROOT', str(tmp_path))
    return tmp_path


def put(root: Path, path: str, text: str = '') -> None:
    (root / path.strip('/')).parent.mkdir(parents=True, exist_ok=True)
    (root / path.strip('/')).write_text(text)


def asked(program: str = '/opt/x.pyz') -> list[tuple[str, str]]:
    return [
        (finding.subject, finding.command) for finding in installed.examine(program)
    ]


PLUGIN_LINK = ('plugin', f'ln -s /opt/x.pyz {PLUGIN}')


@pytest.mark.parametrize(
    'paths, missing',
    [
        ((), []),  # no daemon
        (('/usr/lib64/nagios/plugins/check_load',), [PLUGIN_LINK]),
        ((PLUGIN,), []),
    ],
)
def test_a_plugin_that_is_missing_is_named_with_the_command_that_links_it(
    root, paths, missing
):
    for path in paths:
        put(root, path)

    assert asked() == missing


def test_a_check_command_that_icinga_does_not_read_is_included(root):
    path = f'{installed.ICINGA_FOLDERS[0]}/{installed.CHECK_COMMAND}'
    put(root, path)

    [finding] = installed.check_command('/x')

    assert finding.code == 'check-command-not-included'
    assert path in finding.command


def test_a_check_command_is_copied_from_where_make_install_has_it(root, tmp_path):
    """Icinga does not look below /usr/local."""
    put(root, '/etc/icinga2/conf.d/a.conf')
    copy = (
        tmp_path
        / 'local/share/icinga2/include/plugins-contrib.d/check-smart-attributes.conf'
    )
    put(tmp_path, f'/{copy.relative_to(tmp_path)}')

    [finding] = installed.check_command(
        f'{tmp_path}/local/lib/nagios/plugins/check_smart_attributes'
    )

    assert finding.code == 'check-command-missing'
    assert finding.command.startswith(f'install -m 644 {copy} /etc/icinga2/conf.d/ && ')


@pytest.mark.parametrize(
    'folders, expected',
    [
        ((), []),
        (('etc/icinga2/conf.d',), ['/etc/icinga2/conf.d']),
        (
            ('etc/icinga2/conf.d', installed.ICINGA_FOLDERS[0][1:]),
            [installed.ICINGA_FOLDERS[0]],
        ),
    ],
)
def test_the_check_command_is_missed_where_icinga_includes_it(root, folders, expected):
    for folder in folders:
        (root / folder).mkdir(parents=True)

    findings = installed.check_command('/x')

    assert [finding.fields['folder'] for finding in findings] == expected


@pytest.mark.parametrize(
    'release, command',
    [
        ('ID=debian\n', 'apt install'),
        ('ID="rhel"\nID_LIKE="fedora"\n', 'dnf install'),
        ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', 'dnf install'),
        ('ID="opensuse-leap"\nID_LIKE="suse opensuse"\n', 'zypper install'),
        ('ID=freebsd\n', 'pkg install'),
        ('ID=arch\n', 'pacman -S'),
        ('VERSION_ID=9\nPLATFORM_ID=rhel\nID=own\n', 'apt install'),
        ('', 'apt install'),
    ],
)
def test_the_system_names_its_own_command_for_packages(
    root, monkeypatch, release, command
):
    """Lines of os-release as these systems have them; none of them but Debian was tried."""
    monkeypatch.setattr(installers, 'ROOT', str(root))
    put(root, '/etc/os-release', release)

    assert installers.installer().install == command
