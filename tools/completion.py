"""The completion for bash, from the table of commands."""

from __future__ import annotations

from collections.abc import Iterator

from described import metrics, names, options, states

HEAD = """\
# bash completion for check_smart_attributes                               -*- shell-script -*-
# Made by tools/generate.py from smart_attributes/commands/table.py.
"""
FUNCTION = """\
_check_smart_attributes()
{{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} words=
    case $prev in
{values}
    esac
    case ${{COMP_WORDS[1]}} in
{commands}
    esac
    (( COMP_CWORD == 1 )) && words+=" {names}"
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
}} &&
    complete -o default -F _check_smart_attributes check_smart_attributes
"""
# How the value of an option is completed, by what the help calls the value.
FILES = ('FILE', 'FILE|DIR', 'DIR')
DEVICES = ('/dev/sd*', '/dev/nvme*', '/dev/bus/*', '/dev/disk/by-id/*')


def script() -> str:
    """Return the whole completion script."""
    return HEAD + FUNCTION.format(
        values='\n'.join(_values()),
        commands='\n'.join(_commands()),
        names=' '.join(names()[1:]),
    )


def _values() -> Iterator[str]:
    """Yield the cases of options that want a value."""
    names_of: dict[str, list[str]] = {}
    for command in names():
        for option in options(command):
            if option.value:
                kind = ' '.join(option.choices) or option.value
                names_of.setdefault(kind, []).extend(
                    name for name in option.names if name not in names_of.get(kind, ())
                )
    for kind, spellings in names_of.items():
        yield f'        {"|".join(spellings)})\n            {_replies(kind)}\n            return ;;'


def _replies(kind: str) -> str:
    words = {
        'ADDRESS': f'$({"; ".join(f"compgen -G {pattern!r}" for pattern in DEVICES)})',
        'STATE': ' '.join(state.lower() for state, _, _ in states()),
        'METRIC': ' '.join(metrics()),
        'METRIC=RANGE': ' '.join(f'{metric}=' for metric in metrics()),
    }.get(kind)
    if kind in FILES:
        return 'COMPREPLY=($(compgen -f -- "$cur"))'
    if words is None and not kind.islower():
        return 'COMPREPLY=()  # a number or a pattern of your own'
    return f'COMPREPLY=($(compgen -W "{words or kind}" -- "$cur"))'


def _commands() -> Iterator[str]:
    for command in (*names()[1:], names()[0]):
        spellings = ' '.join(
            name for option in options(command) for name in option.names
        )
        yield f'        {"*" if command == "check" else command}) words="{spellings}" ;;'
