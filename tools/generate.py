#!/usr/bin/env python3
"""Write the files that follow from the parsers and the data; the tests fail when one is out of
date.

Usage: tools/generate.py        (from the project's virtual environment: .venv/bin/python tools/generate.py)
"""

from __future__ import annotations

from typing import Callable

import completion
import example
import icinga
import man
import picture
from described import ROOT


def sudoers_rule() -> str:
    """Return the file for /etc/sudoers.d, as the command prints it where sudo is a new one."""
    from smart_attributes.command_line.options import USER
    from smart_attributes.model import HowRead
    from smart_attributes.sudo import rule as sudo_rules

    return (
        sudo_rules.document(sudo_rules.general(sudo_rules.RuleRequest(USER), HowRead()))
        + '\n'
    )


FILES: dict[str, Callable[[], str]] = {
    'doc/check_smart_attributes.8': man.page,
    'contrib/bash-completion/check_smart_attributes': completion.script,
    'contrib/icinga2/check-smart-attributes.conf': icinga.check_command,
    'contrib/icinga-director/check-smart-attributes.json': icinga.basket,
    'contrib/sudoers/check-smart-attributes': sudoers_rule,
}


def main() -> None:
    """Rewrite every file that is out of date."""
    for name, content in FILES.items():
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != content():
            path.write_text(content())
            print(f'{name}: written')
    for name in example.write():
        print(f'{name}: the example is the output of today')
    picture.write()


if __name__ == '__main__':
    main()
