"""The commands of the documents: all are found, and each is typed by `make test-documents` or listed
with a reason.
"""

import documented
import pytest
from conftest import ROOT
from documented import Entry

pytestmark = pytest.mark.tools

PAGE = """
Run `make deb` or `make run`, then `make deb`; `FOLDER=/opt make install` differs, and `README` is
no command.

   ```sh
   # A comment
   one --option \\
     --another
   two  # at the end
   ```

```console
# three
its output
$ four
```

```text
$ no command
```
"""


def text(page: str) -> str:
    return (ROOT / page).read_text()


def test_commands_are_the_lines_of_shell_and_the_programs_in_sentences():
    assert documented.commands(PAGE) == [
        'make deb',
        'make run',
        'FOLDER=/opt make install',
        'one --option --another',
        'two  # at the end',
        'three',
        'four',
    ]


def test_a_command_that_failed_or_was_not_reached_is_wrong():
    """Each is between two marks; the shell ends in the third."""
    entry = Entry(status={'b': 1})
    printed = (
        '@typed@ 0\nsaid\n@typed@ 0 0\n@typed@ 1\n@typed@ 1 1\n@typed@ 2\nno end\n'
    )
    ended = documented.results(['a', 'b', 'c', 'd'], entry, printed)

    assert [(each.status, each.is_right) for each in ended] == [
        (0, True),
        (1, True),
        (None, False),
        (None, False),
    ]
    assert ended[0].output == 'said\n'


def test_values_and_steps_are_typed_with_their_command():
    entry = Entry(('before',), steps={'ping HOST': 'step'}, values={'HOST': '::1'})
    lines = documented.script(['ping HOST'], entry).splitlines()

    assert lines.index('before') < lines.index('step') < lines.index('{ ping ::1')


@pytest.mark.parametrize('page', documented.DOCUMENTS)
def test_the_table_names_what_its_document_has(page):
    """A step or reason for a command that was reworded would be without effect."""
    entry = documented.table(everywhere=False).get(page, Entry())
    commands = documented.commands(text(page))
    exact = {*entry.steps, *entry.status}

    assert exact - set(commands) == set()
    assert [
        value
        for value in entry.values
        if not any(value in command for command in commands)
    ] == []
    assert [
        pattern
        for pattern in entry.listed
        if not any(documented.reason(command, {pattern: 'x'}) for command in commands)
    ] == []


def test_each_command_that_is_not_typed_has_a_reason():
    """And there are few, beside those that another proof types."""
    entries = documented.table()
    reasons = [
        documented.reason(command, entries.get(page, Entry()).listed)
        for page in documented.DOCUMENTS
        for command in documented.commands(text(page))
    ]

    assert set(entries) <= set(documented.DOCUMENTS)
    assert all(
        not why or why.startswith(('needs ', 'is ', 'typed by ', 'opens '))
        for why in reasons
    )
    assert len([why for why in reasons if why.startswith('needs ')]) <= 80
