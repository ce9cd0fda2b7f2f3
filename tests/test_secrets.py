"""Error messages quote nothing of a file that the reader of the output could not read."""

import json
import os

import abilities
import pytest
from conftest import NOBODY, run

TOKEN = 'S3CRET-TOKEN'
SECRETS = {
    'object': f'{{"{TOKEN}": "{TOKEN}"}}',
    'entries': f'{{"entries": ["{TOKEN}"], "metrics": {{"{TOKEN}": {{}}}}}}',
    'limits': f'{{"overrides": [{{"for": {{"serial": "{TOKEN}"}}}}]}}',
    'list': f'["{TOKEN}"]',
    'version-1.6': f'{{"Devices": {{"/{TOKEN}": {{"Threshs": {{"{TOKEN}": "{TOKEN}"}}}}}}}}',
    'smartctl': f'smartctl 7.3\n{TOKEN}: failed\n',
    'number': '{"a": %s}' % ('7' * 50),
    'smartctl-json': json.dumps(
        {
            'json_format_version': [1, 0],
            'smartctl': {
                'version': [7, 3],
                'exit_status': 2,
                'messages': [{'string': TOKEN, 'severity': 'error'}],
            },
        }
    ),
    'triage': f'{{"version": 2, "drives": [], "notes": ["{TOKEN}"]}}',
}
REPORTS = ('smartctl', 'smartctl-json', 'object')
DATA = ('object', 'entries', 'limits', 'list', 'version-1.6', 'number')
READERS = {
    'check': (('-vvv', '--report'), REPORTS),
    'explain': (('explain', '--report'), REPORTS),
    'triage': (('triage', '--report'), REPORTS),
    'draft': (('draft', '--report'), REPORTS),
    'list': (('list', '--report'), REPORTS),
    'history': (('history', '--report'), REPORTS),
    'acknowledge': (('acknowledge', '--all', '--why', 'as found', '--report'), REPORTS),
    'fleet': (('fleet',), ('smartctl', 'triage', 'object')),
    'validate': (('validate',), DATA),
    'format': (('validate', '--format'), DATA),
    'migrate': (('migrate',), DATA),
    'thresholds': (('--report', '/dev/null', '--thresholds'), DATA),
    'attributes': (('--report', '/dev/null', '--attributes'), DATA),
    'dbjson': (('--report', '/dev/null', '-dbj'), DATA),
    'ucfgjson': (('--report', '/dev/null', '-ucfgj'), DATA),
}


@abilities.as_root
@pytest.mark.parametrize('reader', READERS)
@pytest.mark.long
def test_roots_error_messages_quote_nothing_of_a_file_that_another_user_has_linked(
    open_place, tmp_path, reader
):
    """The reader of the output may be whoever planted the link."""
    link = open_place / 'mine.json'
    words, names = READERS[reader]
    for name in names:
        secret = tmp_path / f'{name}.json'
        secret.write_text(SECRETS[name])
        secret.chmod(0o600)
        if link.is_symlink():
            link.unlink()
        link.symlink_to(secret)
        os.chown(link, NOBODY, NOBODY, follow_symlinks=False)
        done = run(*words, str(link))

        assert [
            word for word in (TOKEN, '777', 'inside check_smart') if word in done.text
        ] == [], (
            name,
            done.text,
        )
        assert done.code
