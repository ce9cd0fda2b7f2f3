"""The command line of version 1.6: every spelling, every order, and which drives it means."""

import json
import os
import re

import early
import pytest
from conftest import ROOT, drive, run
from days import disk
from fake_smartctl import FakeSmartctl

from smart_attributes.command_line import options as asked
from smart_attributes.commands import table
from smart_attributes.errors import UsageError
from smart_attributes.model import State
from smart_attributes.reading.smartctl_calls import read_arguments
from smart_attributes.v1_6 import command_line

# One option of version 1.6 a line, in the ways in which people wrote it.
SPELLINGS = {
    ('devices', ('/dev/sda',)): [
        '-d /dev/sda',
        '-device /dev/sda',
        '--device /dev/sda',
        '-d=/dev/sda',
        '-device=/dev/sda',
        '--d /dev/sda',
        '--device=/dev/sda',
    ],
    ('regex', '/dev/sd.'): [
        '-r /dev/sd.',
        '-regex /dev/sd.',
        '--regex /dev/sd.',
        '--r /dev/sd.',
        '-r=/dev/sd.',
    ],
    ('old_database', '/x.json'): [
        '-dbj /x.json',
        '--dbj /x.json',
        '-dbjson /x.json',
        '--dbjson /x.json',
        '-dbj=/x.json',
    ],
    ('user_config', '/u.json'): [
        '-ucfgj /u.json',
        '--ucfgj /u.json',
        '-ucfgjson /u.json',
        '--ucfgjson=/u.json',
    ],
    ('smartctl', '/s'): ['-p /s', '-path /s', '--path /s', '--p /s', '-p=/s'],
    ('nosudo', True): ['-nosudo', '--nosudo'],
    ('unknown_model', State.CRITICAL): [
        '-cu',
        '--cu',
        '-critical_on_unknown',
        '--critical_on_unknown',
    ],
    ('all_perfdata', True): ['-ap', '--ap', '-allperfs', '--allperfs'],
    ('ssd_only', True): ['-s', '--s', '-ssdonly', '--ssdonly'],
    ('type_option', 'sat+'): ['-O sat+', '--O sat+', '-options sat+', '--options sat+'],
    ('verbose', 1): ['-v', '--v', '-verbose', '--verbose'],
    ('verbose', 2): ['-vv', '--vv'],
    ('verbose', 3): ['-vvv', '--vvv'],
    ('show_version', True): ['-V', '--V', '-version', '--version'],
}


@pytest.fixture
def three(fake) -> FakeSmartctl:
    """A stand-in with /dev/sda, /dev/null and a drive behind MegaRAID."""
    fake.answers(read_arguments('/dev/sda'), drive('intel-worn'))
    fake.answers(read_arguments('/dev/null'), drive('wd-gold-healthy'))
    for slot in range(3):
        fake.answers(
            read_arguments('/dev/sda', f'sat+megaraid,{slot}'),
            drive('samsung-worn-out'),
        )
    return fake


@pytest.mark.parametrize(
    ('field', 'value', 'words'),
    [
        (field, value, words)
        for (field, value), spellings in SPELLINGS.items()
        for words in spellings
    ],
)
def test_every_spelling_of_an_option_means_the_same(field, value, words):
    """Version 1.6 took one dash or two, and a blank or =."""
    options = table.understood(words.split())[1]
    groups = (
        options.before,
        *(getattr(options, name) for name in asked.GROUPS),
        options.own,
        options,
    )
    group = next(part for part in groups if hasattr(part, field))

    assert getattr(group, field) == value


@pytest.mark.parametrize(
    'words',
    [
        '-device',
        '-ve',
        '--re /dev/sda',
        '--nos',
        '-x',
        '-c',
        '-dbj',
        '-dev /dev/sda',
        '-crit',
        '-db /x.json',
    ],
)
def test_what_version_1_6_refused_is_still_refused(words):
    """A typing mistake is UNKNOWN, never half a check."""
    with pytest.raises(UsageError):
        table.understood(words.split())


@pytest.mark.parametrize('word', ['--h', '-help', '--help-all'])
def test_the_help_says_where_the_options_of_version_1_6_are(word):
    """One line of --help-all; none of them is in a list of options."""
    answer = run(word)

    assert answer.code == 0
    assert ('\nOptions of version 1.6 (-r, ' in answer.text) is (word == '--help-all')
    assert not re.search('--(regex|options|ssdonly|dbjson|ucfgjson)', answer.text)


def test_every_option_of_version_1_6_is_in_the_document_for_its_admins():
    """Who upgrades looks there."""
    text = (ROOT / 'doc/how-to/upgrade.md').read_text()

    assert [
        name
        for name in f'{command_line.SHORT}|{command_line.LONG}'.split('|')
        if not re.search(f'`-{{1,2}}{name}[`,]', text)
    ] == []


def test_our_own_letters_keep_their_meaning():
    """-c is the critical limit of all plugins, though version 1.6 took it for -cu."""
    options = table.understood(
        ['-c', 'endurance_used=90', '-t', '9', '-w', 'temperature=50', '-d/dev/sda']
    )[1]

    assert (
        options.judging.critical,
        options.how_read.timeout,
        options.which.devices,
    ) == (
        (('endurance_used', '90'),),
        9,
        ('/dev/sda',),
    )


@pytest.mark.parametrize(
    'words',
    [
        '--path {path} --device /dev/sda --dbjson /none.json --ucfgjson /none.json -nosudo '
        '--critical_on_unknown --allperfs --ssdonly --options sat --regex /dev/null',
        '-p {path} -d /dev/sda -dbj /none.json -ucfgj /none.json -cu -nosudo -ap -s -O sat '
        '-r /dev/null -v',
    ],
    ids=['icinga', 'short'],
)
def test_everything_that_icinga_passes_is_accepted_and_silent(three, words):
    """All of its options at once, by the real program."""
    result = run(*words.format(path=three.path).split())

    assert result.code == 1
    assert result.first_line.startswith(
        'SMART WARNING - sda: used write endurance 86 % '
    )
    assert "'sda_power_cycles'=" in result.text and '(check)' not in result.text


def test_words_without_an_option_are_ignored_as_before_and_told_with_v(three):
    """An empty macro, or the rest of a comment: checks with such words have run for years.

    Version 1.6 ignored a drive in silence, too, and nobody noticed that it was never checked.
    """
    words = ['-p', three.path, '-nosudo', '-d', '/dev/sda', 'left', '']

    assert run(*words).code == 3
    result = run(*words, '-s', '-v')
    assert result.code == 1 and '"left" does not ' in result.text
    refused = run(*words, '-s', '/dev/sdb')
    assert refused.code == 3 and 'write -d /dev/sdb' in refused.first_line


@pytest.mark.parametrize(
    ('address', 'option', 'meant'),
    [
        ('megaraid6,/dev/sda', 'sat+', 'sat+megaraid6,/dev/sda'),
        ('/dev/sg2', 'sat', 'sat@/dev/sg2'),
        ('/dev/sg2', 'scsi', 'scsi@/dev/sg2'),
        ('/dev/disk/by-id/ata-X', 'usbjmicron,1', 'usbjmicron,1@/dev/disk/by-id/ata-X'),
        ('/dev/sda', 'sat', '/dev/sda'),
        ('cciss,1_/dev/sg2', 'sat', 'cciss,1_/dev/sg2'),
        ('3ware,8,/dev/twa0', 'sat', '3ware,8,/dev/twa0'),
    ],
)
def test_the_type_of_o_concerns_the_same_addresses_as_before(address, option, meant):
    """One -O stood for all -d; elsewhere it was ignored."""
    assert command_line.typed(address, option) == meant


@pytest.mark.parametrize(
    ('address', 'option'), [('megaraid6,/dev/sda', 'sat'), ('/dev/sg2', 'nvme')]
)
def test_a_type_that_version_1_6_refused_is_refused_with_the_right_one(address, option):
    """The sentence says what to write."""
    with pytest.raises(UsageError, match=r'sat'):
        command_line.typed(address, option)


@pytest.mark.parametrize(
    ('option', 'address', 'code', 'asked'),
    [
        ('sat+', 'megaraid1,/dev/sda', 2, ('/dev/sda', 'sat+megaraid,1')),
        ('sat', '/dev/sda', 1, ('/dev/sda',)),
    ],
)
def test_o_reaches_smartctl_as_it_did(three, option, address, code, asked):
    """-O sat+ stands before megaraid; where it has no effect, -v says so."""
    result = run('-p', three.path, '-nosudo', '-O', option, '-d', address, '-v')

    assert (result.code, three.calls()) == (code, [' '.join(read_arguments(*asked))])
    assert (f'-O {option} does ' in result.text) == (option == 'sat')


@pytest.mark.parametrize(
    'pattern',
    [
        '/dev/nul[l]',
        "'/dev/(null|zeros)'",
        '/dev/\\(null\\|zeros\\)',
        '^/dev/\\\\(null\\\\|sdx\\\\)\\\\$',
        '"/dev/nul{1}l"',
        '/dev/n[[:lower:]]ll',
    ],
)
def test_r_takes_the_quotes_and_backslashes_that_its_shell_needed(pattern):
    """Commands carry them, doubled where Nagios wanted it so."""
    devices = command_line.Before(pattern).named(()).devices

    assert [device.path for device in devices] == ['/dev/null']


def test_r_is_no_shell(tmp_path):
    """Version 1.6 ran whatever stood behind a semicolon."""
    result = run('--nosudo', '-r', f'/dev/sd[a-z]; touch {tmp_path}/made')
    run('--nosudo', '-d', f'/dev/sda; touch {tmp_path}/made')
    run('--nosudo', '-d', '/dev/disk/by-id/x', '-O', f'sat; touch {tmp_path}/made')

    assert result.code == 3
    assert os.listdir(tmp_path) == []


def test_r_expands_slots_of_a_megaraid_and_skips_gaps(fake):
    """Where version 1.6 gave up at the first empty slot, and lost the alarm of the next one."""
    failed = 'Smartctl open device: /dev/sda [megaraid_disk_01] failed: INQUIRY failed'
    smartctl = {
        'version': [7, 3],
        'exit_status': 2,
        'messages': [{'string': failed, 'severity': 'error'}],
    }
    empty = json.dumps({'json_format_version': [1, 0], 'smartctl': smartctl})
    answers = (
        (drive('wd-gold-healthy'), 0),
        (empty, 2),
        (drive('samsung-worn-out'), 0),
    )
    for slot, (output, status) in enumerate(answers):
        fake.answers(read_arguments('/dev/sda', f'megaraid,{slot}'), output, status)

    result = run('-p', fake.path, '-nosudo', '-r', 'megaraid[0-2],/dev/sda')

    assert result.code == 2
    assert '2 drives: 1 critical, 1 ok' in result.first_line


def test_a_service_with_r_misses_only_its_own_drives(fake, tmp_path):
    """Each of two services finds other drives.

    What is selected and gone is missing, although no search finds it.
    """
    for name, serial in (
        ('null', 'null'),
        ('zero', 'zero'),
        ('full', 'full'),
        ('sdz', 'gone'),
    ):
        fake.answers(read_arguments(f'/dev/{name}'), json.dumps(disk(serial)))
    both = '/dev/(zero|nul[l]|sd[y-z])'

    def check(*words):
        return run('-p', fake.path, '--nosudo', '--state-dir', str(tmp_path), *words)

    told = [
        check('-r', pattern)
        for pattern in ('/dev/null', '/dev/(zero|full)', both, '/dev/null')
    ]
    check('-d', '/dev/sdz')
    found = check('-r', both)

    assert [result.code for result in told] == [0, 0, 0, 0], told
    assert found.code == 1 and ' sdz is missing ' in found.first_line, found.text
    selects = command_line.Before(both).named(()).selects
    assert [
        path for path in ('/dev/zero', '/dev/sdz', '/dev/full') if selects(path)
    ] == [
        '/dev/zero',
        '/dev/sdz',
    ]


def test_r_is_ignored_beside_d_and_says_so(three):
    """As before."""
    result = run('-p', three.path, '-nosudo', '-r', '/dev/null', '-d', '/dev/sda', '-v')

    assert 'note: -r is ignored ' in result.text
    assert '1 drive: ' in result.first_line


@pytest.mark.parametrize('pattern', ['/dev/nul', '['])
def test_r_without_a_drive_is_unknown(pattern):
    """No drive, no OK. The expression matches the whole path."""
    result = run('--nosudo', '-r', pattern)

    assert (result.code, len(result.text.splitlines())) == (3, 1)


def test_r_finds_files_and_links_but_neither_partitions_nor_what_links_lead_to(
    tmp_path,
):
    """As find did; partitions belong to drives that are checked already."""
    drives = ['disk/ata-X', 'nvme0n1', 'sda', 'sdb']
    for name in (*drives, 'sda1', 'nvme0n1p2', 'disk/ata-X-part1', 'shm/sdc'):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / 'sdl').symlink_to('sda')
    (tmp_path / 'sdm').symlink_to('disk')

    paths, [note] = command_line.matching_paths(
        f'{tmp_path}/(sd.*|nvme.*|.*/ata.*)', str(tmp_path)
    )

    assert paths == [f'{tmp_path}/{name}' for name in (*drives, 'sdl', 'sdm')]
    assert note.startswith('-r matches 3 ')


@pytest.mark.parametrize(
    'words',
    [
        '-d /dev/sda -O sat',
        '-r /dev/sda',
        '-d /dev/sda -ucfgj /u.json',
        '-device /dev/sda',
        '-dbj -d /dev/sda',
        '-d /dev/sda stray',
        '-d megaraid6,/dev/sda',
    ],
)
def test_nothing_is_started_that_could_be_meant_otherwise(words):
    """An early guess must never read a drive that the real command line leaves alone."""
    assert early.commands([*words.split(), '-p', '/bin/true', '--nosudo']) == []


def test_s_keeps_every_drive_without_a_spindle_and_every_unreadable_one(three):
    """Version 1.6 dropped NVMe, and said OK about nothing."""
    three.answers(read_arguments('/dev/nvme0'), drive('nvme-worn'))
    three.answers(read_arguments('/dev/sdx'), b'', 2)
    addresses = [
        word
        for path in ('sda', 'null', 'nvme0', 'sdx')
        for word in ('-d', f'/dev/{path}')
    ]

    result = run('-p', three.path, '-nosudo', '-s', *addresses)

    assert {line.split()[1] for line in result.text.splitlines()[1:-1]} == {
        'sda',
        'nvme0',
        'sdx',
    }
    nothing = run('-p', three.path, '-nosudo', '-s', '-d', '/dev/null')
    assert nothing.code == 3 and 'no drives' in nothing.first_line
