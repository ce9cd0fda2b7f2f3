"""The code blocks of the documents: each is fenced and names its language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from described import ROOT

PAGES = (
    'README',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'thresholds/README.md',
    *sorted(str(path.relative_to(ROOT)) for path in (ROOT / 'doc').rglob('*.md')),
)
_FENCE = re.compile(r'^( *)```([a-z0-9]*)$\n(.*?)^\1```$', re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """One fenced block."""

    page: str
    line: int  # of its fence, counted from 1
    language: str
    text: str

    @property
    def place(self) -> str:
        """Where it is, for a message."""
        return f'{self.page}:{self.line}'


def blocks(page: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page, without the indentation of a list around them."""
    text = (ROOT / page).read_text()
    for match in _FENCE.finditer(text):
        body = re.sub(f'^{match[1]}', '', match[3], flags=re.MULTILINE)
        yield Block(page, text.count('\n', 0, match.start()) + 1, match[2], body)


def in_language(*languages: str) -> list[Block]:
    """Return the blocks of all pages in these languages."""
    return [
        block for page in PAGES for block in blocks(page) if block.language in languages
    ]


def unfenced(page: str) -> list[str]:
    """Return the lines of code outside of fences: nothing can say what these are."""
    text = _FENCE.sub('', (ROOT / page).read_text())
    return [line for line in text.splitlines() if line.startswith('    ')]


def anchors(page: str) -> list[str]:
    """Return the anchors of the headings of a page, as GitHub and GitLab make them."""
    text = _FENCE.sub('', (ROOT / page).read_text())
    titles = re.findall(r'^#+ (.+)$', text, re.MULTILINE)
    # the text of links without their targets
    plain = (re.sub(r'\]\([^)]*\)', '', title) for title in titles)
    return [
        re.sub(r'[^\w -]', '', title).strip().lower().replace(' ', '-')
        for title in plain
    ]
