"""Errors and their codes, and what is said of those that nobody expected."""

import os
import sys
import zlib

import pytest

from smart_attributes import alarm, errors, failures
from smart_attributes.errors import DriveError, Identity, SmartError, UsageError

PACKAGE = os.path.dirname(failures.__file__)
BUG = 'inside check_smart_attributes'


@pytest.mark.parametrize(
    'error, code',
    [
        (SmartError('x'), ''),
        (UsageError('x'), 'usage-error'),
        (DriveError('x', 'own'), 'own'),
        (errors.DriveAbsent('x'), 'no-such-device'),
    ],
)
def test_an_error_has_the_code_of_its_class_or_its_own(error, code):
    assert (error.code, str(error)) == (code, 'x')


def test_a_class_of_errors_without_a_code_has_that_of_its_base():
    class Silent(DriveError):
        pass

    assert Silent('x').code == 'drive-unreadable'


@pytest.mark.parametrize(
    'identity, is_known',
    [
        (Identity(model='M'), True),
        (Identity(serial='S'), True),
        (Identity(wwn='W'), True),
        (Identity(protocol='ATA', firmware='F'), False),
    ],
)
def test_an_error_knows_the_drive_if_anything_names_it(identity, is_known):
    assert DriveError('x').of(identity).identity == (identity if is_known else None)


@pytest.mark.parametrize(
    'error, code, sentence',
    [
        (UsageError('wrong'), 'usage-error', 'wrong'),
        (KeyboardInterrupt(), 'interrupted', 'interrupted; run it again'),
        (
            alarm.TimeIsOver('5 s are over'),
            'time-over',
            '5 s are over; there is no result',
        ),
        (
            ModuleNotFoundError(name='numpy'),
            'python-package-missing',
            'the Python package numpy is not installed; ',
        ),
        (
            ModuleNotFoundError(name='smart_attributes.x'),
            'plugin-damaged',
            'reinstall ModuleNotFoundError',
        ),
        (SyntaxError(), 'plugin-damaged', 'reinstall SyntaxError'),
        (zlib.error(), 'plugin-damaged', 'reinstall error'),
        (
            OSError(2, 'gone', f'{PACKAGE}/x.json'),
            'plugin-damaged',
            'reinstall FileNotFoundError',
        ),
        (
            OSError(2, 'gone', sys.argv[0]),
            'plugin-damaged',
            'reinstall FileNotFoundError',
        ),
        (
            OSError(2, 'gone', '/etc/x'),
            'internal-error',
            f'FileNotFoundError {BUG}: [Errno 2] gone: ',
        ),
        (
            KeyError('k'),
            'internal-error',
            f"KeyError {BUG}: 'k'; please report this with the command line",
        ),
    ],
    ids=repr,
)
def test_what_ends_a_command_is_explained(error, code, sentence):
    found = failures.explained(error, lambda error: f'reinstall {type(error).__name__}')

    assert found[0] == code and found[1].startswith(sentence)


@pytest.mark.parametrize(
    'error, code, sentence',
    [
        (
            ModuleNotFoundError(name='numpy'),
            'python-package-missing',
            'cannot be shown: the Python package numpy is not ',
        ),
        (
            SyntaxError(),
            'plugin-damaged',
            'cannot be shown: SyntaxError in a file of check_smart_attributes; reinstall',
        ),
        (
            KeyError(),
            'internal-error',
            f'cannot be shown: KeyError {BUG}; please report this with the output of: lsblk',
        ),
    ],
)
def test_what_is_wrong_inside_is_told_of_one_drive(error, code, sentence):
    found = failures.inside(error, 'cannot be shown', 'lsblk')

    assert found.code == code and str(found).startswith(sentence)


@pytest.mark.parametrize(
    'module, sentence',
    [
        (
            'numpy.linalg',
            f'the Python package numpy is not installed; {failures.installing("numpy")}',
        ),
        (
            'smart_attributes.x',
            'the module smart_attributes.x of this program cannot be loaded; ',
        ),
        (
            'sys.gone',
            "the module sys of Python's standard library cannot be loaded from ",
        ),
    ],
)
def test_a_missing_module_is_told_by_its_owner(module, sentence):
    assert failures.not_installed(module).startswith(sentence)


@pytest.mark.parametrize(
    'facts, kind',
    [
        ({'protocol': 'NVMe', 'rotation': 7200}, 'nvme'),
        ({'protocol': 'SCSI', 'rotation': 0}, 'sas'),
        ({'rotation': 7200}, 'hdd'),
        ({'rotation': 0}, 'ssd'),
        ({'rotation': 0, 'spins': True}, 'ssd'),
        ({'spins': True}, 'hdd'),
        ({}, 'ssd'),
    ],
)
def test_the_kind_of_a_drive_is_that_of_its_limits(facts, kind):
    assert Identity(**{'protocol': 'ATA', **facts}).kind == kind
