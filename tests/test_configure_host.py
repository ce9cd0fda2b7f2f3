"""contrib/configure-host: what it makes below a folder that is taken for /, and what it removes
again.

Root runs it, with a stand-in for the plugin and with users that each machine has.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import abilities
import pytest
from conftest import ROOT

pytestmark = pytest.mark.skipif(
    not abilities.IS_ROOT, reason='only root can give files away'
)

SCRIPT = ROOT / 'contrib/configure-host'
SHELLS = [['sh'], ['dash'], ['busybox', 'sh']]
RULE, STATE, CONFIG = (
    'etc/sudoers.d/check-smart-attributes',
    'var/lib/check-smart-attributes',
    'etc/check-smart-attributes',
)
# The program: prints a rule, or what stops it.
PROGRAM = """#!/bin/sh
[ -e "${0%/*}/no-drives" ] && { echo 'error: [no-drives] no drives found; name them with -d'; exit 3; }
echo "# number $(cat "${0%/*}/number")"
echo "$3 ALL=(root) NOPASSWD: /usr/sbin/smartctl --scan"
"""
VISUDO = (
    '#!/bin/sh\ngrep -q BROKEN "$2" && { echo "$2: syntax error"; exit 1; } || exit 0\n'
)
CHANGED = f'keep /{RULE}: it was made or changed on this host; '
STAYS = 'site configuration and history stay; to delete them, run: rm -r'


class Site:
    """A folder that is taken for /, and the programs of this host."""

    def __init__(self, folder: Path) -> None:
        self.root, self.programs = folder / 'root', folder / 'programs'
        for path in ('etc/sudoers.d', 'var/lib'):
            (self.root / path).mkdir(parents=True, mode=0o755)
        self.programs.mkdir()
        self.puts('check_smart_attributes', PROGRAM)
        self.puts('number', '1')
        for name, text in (('sudo', '#!/bin/sh\n'), ('visudo', VISUDO)):
            self.puts(name, text)

    def puts(self, name: str, text: str) -> None:
        (self.programs / name).write_text(text)
        (self.programs / name).chmod(0o755)

    def runs(
        self, *words: str, shell: tuple[str, ...] = ('sh',), code: int = 0
    ) -> list[str]:
        """Run the script; return its lines."""
        done = subprocess.run(
            [*shell, str(SCRIPT), *words],
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={
                'PATH': f'{self.programs}:{os.environ["PATH"]}',
                'DESTDIR': str(self.root),
            },
        )
        assert done.returncode == code, done.stdout
        return done.stdout.splitlines()

    def makes(
        self, *words: str, code: int = 0, shell: tuple[str, ...] = ('sh',)
    ) -> list[str]:
        return self.runs(
            '--user',
            'nobody',
            '--program',
            str(self.programs / 'check_smart_attributes'),
            *words,
            code=code,
            shell=shell,
        )

    @property
    def rule(self) -> Path:
        return self.root / RULE

    def paths(self) -> set[str]:
        return {str(path.relative_to(self.root)) for path in self.root.rglob('*')}


@pytest.fixture
def site(tmp_path) -> Iterator[Site]:
    yield Site(tmp_path)


@pytest.mark.parametrize('shell', SHELLS, ids=' '.join)
def test_it_makes_each_part_once_and_removes_them_again(site, shell):
    """With the shells of Debian and of small systems. Nothing that it did not make is touched."""
    abilities.skip_without(abilities.without(shell[0]))
    before = site.paths()
    first = site.makes(shell=tuple(shell))
    second = site.makes(shell=tuple(shell))
    status = [
        (path.owner(), oct(path.stat().st_mode & 0o777))
        for path in (site.rule, site.root / STATE)
    ]
    made = site.paths() - before
    last = site.runs('--remove', shell=tuple(shell))

    folders = [f'{CONFIG}{below}' for below in ('', '/attributes.d', '/thresholds.d')]
    assert [line.split()[:2] for line in first] == [
        ['create', f'/{path}'] for path in (RULE, STATE, *folders)
    ]
    assert second == ['nothing to change']
    assert status == [('root', '0o440'), ('nobody', '0o750')]
    assert made == {RULE, STATE, *folders}
    assert last == [f'remove /{path}' for path in (RULE, STATE, *folders[1:], CONFIG)]
    assert site.paths() == before
    assert site.runs('--remove') == ['nothing to change']


def test_a_rule_of_each_user_is_renewed_until_somebody_changes_it(site):
    site.makes('--user', 'games')
    assert re.findall(r'^(\w+) ALL', site.rule.read_text(), re.MULTILINE) == [
        'nobody',
        'games',
    ]
    site.puts('number', '2')
    assert site.makes('--user', 'games')[0].startswith(f'replace /{RULE} ')
    assert '# number 2' in site.rule.read_text()
    site.rule.chmod(0o644)
    assert site.makes('--user', 'games')[0].startswith(f'replace /{RULE} ')

    text = site.rule.read_text().replace('--scan', '--scan-open')
    site.rule.write_text(text)
    site.puts('number', '3')
    assert site.makes()[0].startswith(CHANGED)
    assert site.runs('--remove')[0].endswith(f' run: rm /{RULE}')
    assert site.rule.read_text() == text


def test_users_that_were_named_stay_when_none_is_named(site):
    """As in an upgrade of the RPM, whose script names nobody."""
    site.makes()
    site.puts('number', '2')
    assert site.runs('--program', str(site.programs / 'check_smart_attributes'))[
        0
    ].startswith('replace')
    assert 'nobody ALL=' in site.rule.read_text()


def test_a_rule_that_an_admin_wrote_stays(site):
    """Also one that is a link; the same text is no reason to say anything."""
    site.makes()
    own = ''.join(site.rule.read_text().splitlines(True)[:-1])
    site.rule.unlink()
    site.rule.write_text(own)
    assert site.makes() == ['nothing to change']

    target = site.root / 'target'
    target.write_text('precious')
    site.rule.unlink()
    site.rule.symlink_to(target)
    assert site.makes()[0].startswith(CHANGED)
    assert site.runs('--remove')[0].startswith(CHANGED)
    assert (site.rule.is_symlink(), target.read_text()) == (True, 'precious')


@pytest.mark.parametrize(
    'fault, words',
    [
        ('no-drives', 'error: [no-drives] '),
        ('BROKEN', 'visudo refuses it: '),
    ],
)
def test_without_a_valid_rule_the_old_one_stays(site, fault, words):
    """sudo would refuse everything if one file had an error."""
    site.makes()
    before = site.rule.read_text()
    site.puts('no-drives' if fault == 'no-drives' else 'number', fault)

    assert f'not written: {words}' in site.makes(code=1)[0]
    assert site.rule.read_text() == before
    assert [path.name for path in site.rule.parent.iterdir()] == [site.rule.name]


def test_the_real_visudo_accepts_the_rule(site):
    abilities.skip_without(abilities.without('visudo'))
    (site.programs / 'visudo').unlink()

    assert site.makes()[0].startswith('create')


def test_a_history_of_another_user_stays_his(site):
    """The first monitoring user gets an empty one; the directory of a monitoring user is kept."""
    state = site.root / STATE
    state.mkdir()
    assert any(f' mode of /{STATE} ' in line for line in site.makes())
    (state / 'history').write_text('')
    os.chown(state, 5, 5)  # games
    [kept] = site.makes()
    assert kept.startswith(f'keep /{STATE}: ') and kept.endswith(
        f': chown -hR nobody: /{STATE}'
    )
    assert ' belongs to games; ' in site.makes('--user', 'games')[1]
    assert state.owner() == 'games'
    assert site.runs('--remove')[-1] == f'{STAYS} /{STATE}'


def test_files_of_the_site_stay(site):
    site.makes()
    (site.root / CONFIG / 'thresholds.d/mine.json').write_text('{}')
    (site.root / STATE / 'history').write_text('')

    assert site.runs('--remove') == [
        f'remove /{RULE}',
        f'remove /{CONFIG}/attributes.d',
        f'{STAYS} /{CONFIG} /{STATE}',
    ]


@pytest.mark.parametrize('folder', ['etc/sudoers.d', 'etc', 'var/lib', CONFIG])
@pytest.mark.parametrize('fault', ['mode', 'owner', 'link of another'])
def test_nothing_is_written_where_others_could_plant_links(site, folder, fault):
    """Nothing at all is changed then."""
    path = site.root / folder
    path.mkdir(exist_ok=True)
    if fault == 'mode':
        path.chmod(0o775)
    elif fault == 'owner':
        os.chown(path, 5, 5)
    else:
        path.rename(site.root / 'elsewhere')
        path.symlink_to(site.root / 'elsewhere')
        os.chown(path, 5, 5, follow_symlinks=False)
    before = site.paths()

    [refused] = site.makes(code=3)
    assert (
        refused.endswith(f'; chmod go-w /{folder}')
        and f'chown root /{folder};' in refused
    )
    assert site.paths() == before


def test_a_link_in_place_of_the_history_is_not_followed(site):
    elsewhere = site.root / 'elsewhere'
    elsewhere.mkdir()
    (site.root / STATE).symlink_to(elsewhere)

    assert site.makes(code=1)[1].startswith(f'keep /{STATE}: ')
    assert elsewhere.owner() == 'root'


def test_without_a_monitoring_user_the_next_step_is_named(site):
    if subprocess.run(['id', 'nagios'], capture_output=True).returncode == 0:
        pytest.skip('this machine has a monitoring user')
    said = site.runs('--program', str(site.programs / 'check_smart_attributes'), code=1)

    assert (
        'monitoring user' in said[0]
        and f': {SCRIPT} --program {site.programs}/' in said[0]
    )


@pytest.mark.parametrize(
    'words, code, said',
    [
        (['--user', 'csa-missing'], 2, 'user csa-missing '),
        (['--user'], 2, 'usage: '),
        (['--yes'], 2, 'usage: '),
        (['--program', '/nowhere', '--user', 'nobody'], 2, '/nowhere cannot'),
    ],
)
def test_wrong_arguments_change_nothing(site, words, code, said):
    before = site.paths()

    assert said in site.runs(*words, code=code)[0]
    assert site.paths() == before


def test_only_root_configures(site):
    abilities.skip_without(abilities.no_other_user())
    done = subprocess.run(
        [*abilities.AS_NOBODY, 'sh', str(SCRIPT), '--user', 'nobody'],
        text=True,
        capture_output=True,
    )

    assert done.returncode == 3 and 'only root' in done.stderr


def test_a_place_without_sudo_says_so(site):
    (site.programs / 'sudo').unlink()
    if any(
        os.path.exists(f'{folder}/sudo') for folder in ('/usr/bin', '/usr/local/bin')
    ):
        pytest.skip('this machine has sudo')

    assert 'is not installed' in site.makes(code=1)[0]
