"""What holds for all tests."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

SKIPPED = """
import pytest

@pytest.mark.skipif(True, reason='sudo is not installed')
def test_marked(): pass

def test_on_its_way(): pytest.skip('the rule is not tried: missing sudo')

def test_for_another_reason(): pytest.skip('only root can try that')
"""


@pytest.mark.parametrize('promised, words', [
    pytest.param({}, '3 skipped', id='here'),
    pytest.param({'TEST_DAEMONS': '1'}, '1 failed, 1 skipped, 1 error', id='in-ci')])
def test_where_all_programs_are_promised_none_is_missed_in_silence(tmp_path: Path, promised, words):
    """124 tests, all of sudo among them, were once skipped in CI, and nobody saw it."""
    (tmp_path / 'test_some.py').write_text(SKIPPED)
    environment = {name: value for name, value in os.environ.items() if name != 'TEST_DAEMONS'}
    done = subprocess.run([sys.executable, '-m', 'pytest', '-p', 'conftest', '-p', 'no:cacheprovider', str(tmp_path)],
                          cwd=tmp_path,
                          env={**environment, 'PYTHONPATH': f'{ROOT / "tests"}:{ROOT}', **promised},
                          capture_output=True, text=True)

    assert words in done.stdout.splitlines()[-1]
