"""Undo what mail programs, wikis, chats, ticket systems and terminals make of smartctl's text.

The result is plain lines: no transfer encoding, no markup, ASCII for hyphens, quotes and blanks, no
mark before or behind the lines. `joined_rows` then joins the lines that were wrapped. Pure.

Only recorded reports need this module.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from ..constants import LONGEST_PASTED_LINE, MOST_LINES
from ..errors import NotAReport
from . import joined_rows
from .pysmart import classic

# --- transfer encodings -------------------------------------------------------------------

_BASE64 = re.compile(
    r'(?:^[ \t>]*[A-Za-z0-9+/]{60,}[ \t]*\n)+[ \t>]*[A-Za-z0-9+/]*={0,2}', re.MULTILINE
)
_SIGNS = ('smartctl', 'SMART', 'ATTRIBUTE_NAME')
# "=3D" is an equals sign of quoted-printable.
_QUOTED_PRINTABLE = re.compile(r'=(?:3D|20|09|C2=A0|E2=80)')
# line breaks of the longest report, if an empty line follows each line
_MOST_BREAKS = 2 * MOST_LINES
_ESCAPES = {'\\n': '\n', '\\r': '\n', '\\t': ' ', '\\"': '"', '\\/': '/'}


def _decoded(text: str) -> str:
    """Return the text behind base64, quoted-printable or the escapes of a JSON string, one after
    the other; text in none of these encodings is returned unchanged.
    """
    text = _BASE64.sub(_of_base64, text)
    if _QUOTED_PRINTABLE.search(text):
        import quopri

        text = quopri.decodestring(text.encode()).decode('utf-8', 'replace')
    # "=" at the end of a line is a soft line break; some programs decode all but these.
    text = re.sub(r'(?<=[^=\s])=\n', '', text)
    return _without_escapes(text)


def _without_escapes(text: str) -> str:
    r"""Return the text in a JSON string; a text that is not one is returned unchanged.

    A text is a JSON string if most of its ends of lines are escaped: "smartctl 7.3\n\n=== START".
    A string with more lines than any report is returned unchanged, too.
    """
    escaped_ends = text.count('\\n')
    if escaped_ends <= text.count('\n'):
        return text
    if escaped_ends >= _MOST_BREAKS:
        return text
    text = re.sub(r'\\u([0-9a-fA-F]{4})', lambda code: chr(int(code[1], 16)), text)
    # The string ends at '",' or '"}', so the line ends there, too. Quotes within the string are not
    # meant; they still have their backslashes.
    text = re.sub(r'(?<!\\)" *[,}\]]+', '\n', text)
    return re.sub(r'\\[nrt"/]', lambda escape: _ESCAPES[escape[0]], text)


def _of_base64(block: re.Match[str]) -> str:
    """Return the text in a block of base64, or the block itself if it holds no report."""
    import binascii

    try:
        content = binascii.a2b_base64(block[0].replace('>', ''))
    except ValueError:
        return block[0]
    text = content.decode('utf-8', 'replace')
    return text if any(sign in text for sign in _SIGNS) else block[0]


# --- markup -------------------------------------------------------------------------------

# pattern -> replacement
_BREAKS = (
    (r'\r+\n', '\n'),
    (r'[\r\x0b\x0c\x85\u2028\u2029]', '\n'),
    (r'<br[ /]{0,2}>\n?|</(?:p|div|li|tr|pre|line|td)>\n?', '\n'),
)
_MARKUP = (
    # colours of a terminal
    (r'(?:\x1b|\^\[|\\e|\\033)\[[0-9;?]*[A-Za-z]|\x1b[()][0-9A-B]', ''),
    # tags of HTML; smartctl prints "<not available>" in place of a value
    (r'</?(?!not available>)[A-Za-z][\w-]*(?:\s[^<>\n]*)?/?>', ''),
    # {noformat}, {code:title=x}, [code], [/quote]
    (r'\{(?:noformat|code|quote|panel|color)(?:[:|][^{}\n]*)?\}', '\n'),
    (
        r'\[/?(?:code|quote|pre|spoiler|hidden|font|size|color|b|i|tt)(?:=[^\]\n]*)?\]',
        '\n',
    ),
    # fences of Markdown, with the name of a language or a line of text behind them
    (r'(?m)^([ \t>]*)(?:```+|~~~+)[ \t]*[\w+-]*[ \t]*$', r'\1'),
    (r'```+', '\n'),
    # ends of lines, tabs of cat -A
    (r'(?m)\\{1,3}[ \t]{0,3}$|(?:\^M)?\$$|\^M$|\^I', ' '),
    (r'\\(?=[^\w\s])|\\(?=_)|\*\*', ''),
    (r'(?m)(?:<[-=]+|\u2190).*$', ''),  # "<-- look at this"
)


def _without_markup(text: str) -> str:
    """Return a text without markup, each line cut at the longest length that is read.

    Raises NotAReport if there are too many lines.
    """
    # UTF-8 that was read as Windows-1252
    if '\u00e2\u20ac' in text or '\u00c2\u00a0' in text:
        text = text.encode('cp1252', 'ignore').decode('utf-8', 'ignore')
    for pattern, replacement in _BREAKS:
        text = re.sub(pattern, replacement, text)
    if text.count('\n') > _MOST_BREAKS:
        raise NotAReport(
            f'is not a smartctl report: it has more than {MOST_LINES} lines'
        )
    text = '\n'.join(line[:LONGEST_PASTED_LINE] for line in text.split('\n'))
    for pattern, replacement in _MARKUP:
        text = re.sub(pattern, replacement, text)
    if '&' in text:
        import html

        text = html.unescape(text)
    return text


# --- characters ---------------------------------------------------------------------------

# Typographic and invisible characters -> those that smartctl prints. Some locales separate groups
# of digits with such blanks and apostrophes.
_CHARACTERS = str.maketrans(
    {
        **dict.fromkeys(
            '\u00a0\u202f\u2002\u2003\u2007\u2008\u2009\u200a\u3000\t', ' '
        ),
        **dict.fromkeys(
            '\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d', '-'
        ),
        **dict.fromkeys('\u2018\u2019\u02bc\u00b4', "'"),
        **dict.fromkeys('\u201c\u201d\u201e\u00ab\u00bb', '"'),
        **dict.fromkeys('\u2502\u2503\u2551\uff5c', '|'),
        **dict.fromkeys(
            '\ufeff\u200b\u200c\u200d\u2060\u00ad\u00b6\u21b5\u23ce\u21aa\u21b3\0', ''
        ),
        '\u2026': '...',
    }
)
# A long dash that an editor made of "--", which is within flags and between the registers of an
# error.
_LONG_DASH = re.compile(
    '(?<=\\S)\u2014|\u2014(?=\\S)|(?<=[0-9a-f]{2} )\u2014(?= [0-9a-f]{2} )'
)


# --- marks before and behind the lines ----------------------------------------------------

_ANCHORS = (
    r'=== START OF|smartctl (?:version )?[5-9]\.\d|Copyright \(C\)|Device Model:|Model (?:Number|'
    r'Family):|Serial [Nn]umber:|Firmware Version:|User Capacity:|Rotation Rate:|Local Time is:|'
    r'SMART (?:overall-health|support is|Health Status|Error Log|Self-test log)|Vendor:|Product:|'
    r'ID# ATTRIBUTE_NAME|Vendor Specific SMART|Critical Warning:|Available Spare|Percentage Used:|'
    r'Power On Hours:|Error counter log:|(?:read|write): |General SMART Values'
)
_ANCHORED = re.compile(rf'^(.{{0,80}}?)(?<![A-Za-z])(?:{_ANCHORS})')
# a row of the attribute table, which is often all that is pasted
_ANCHORED_ROW = re.compile(
    r'^(.{0,80}?)(?:\b\d{1,3} +[A-Z][\w/-]+ +(?:0x[0-9a-f]{4}|[P-][O-][S-][R-][C-][K-]) )'
)
_LARGEST_STEP = 3  # between the numbers of two lines; those between them may be lost
# The quote signs before a line, such as "> > " or "| ". A "|" counts only if a blank or the end of
# the line follows, because smartctl's own "||||||_ K auto-keep" is not quoted. It may also be the
# left border of a table.
_QUOTES = re.compile(r'^[ ]*(?:>[> ]*|\|(?=[ ]|$))+')


def _without_marks(lines: Sequence[str]) -> list[str]:
    """Return the lines without the mark (quote sign, name, time, line number) that stands before
    most of the lines that begin as smartctl's do.
    """
    prefixes = _prefixes(lines)
    plain = []
    last_number = 0
    for line in lines:
        mark = _mark(line, prefixes, last_number)
        last_number = _line_number(mark) or last_number
        plain.append(line[len(mark) :])
    return plain


def _mark(line: str, prefixes: Sequence[re.Pattern[str]], last_number: int) -> str:
    """Return the mark before a line; '' if it has none.

    prefixes: patterns of such marks, as returned by _prefixes(). last_number: that of the last
    numbered line before it; 0 if there is none.
    """
    for prefix in prefixes:
        match = prefix.match(line)
        if not match:
            continue
        number = _line_number(match[0])
        if number is None:
            return match[0]
        is_first = not last_number
        follows_last = last_number < number <= last_number + _LARGEST_STEP
        # Any other number is the ID of an attribute, which belongs to the line.
        if is_first or follows_last:
            return match[0]
    return ''


def _line_number(mark: str) -> int | None:
    """Return the number in a mark such as "12:"; None if a mark has anything else."""
    number = re.fullmatch(r'(\d+)[^\w#]*', mark.strip())
    return int(number[1]) if number else None


def _prefixes(lines: Sequence[str]) -> list[re.Pattern[str]]:
    """Return patterns of the marks before the lines that begin as smartctl's do, most frequent
    first; [] if too few lines have the same mark. A number in a mark may be any number.

    "Nov 12 host smartd[123]: Device Model: ..." -> _pattern_of("Nov 0 host smartd[0]:")
    """
    # "Nov 0 host smartd[0]:" -> how many lines have this mark; 0 stands for each number
    marks: Counter[str] = Counter()
    for line in lines:
        match = _ANCHORED.match(line) or _ANCHORED_ROW.match(line)
        if match:
            words = re.sub(r'\d+', '0', match[1]).split()
            marks[' '.join(words)] += 1
    # half of these lines, but no more than three
    least_count = min(3, (sum(marks.values()) + 1) // 2)
    return [
        _pattern_of(mark)
        for mark, count in marks.most_common(6)
        if mark and count >= least_count
    ]


def _pattern_of(mark: str) -> re.Pattern[str]:
    r"""Return the pattern of a mark in which 0 stands for any number, with blanks around it.

    "host smartd[0]:" -> \s*host\s+smartd\[\d{1,9}\]:\s?
    """
    pattern = re.escape(mark).replace('0', r'\d{1,9}').replace(r'\ ', r'\s+')
    # a number at the end must be whole
    end = r'(?:\s|$)' if mark.endswith('0') else r'\s?'
    return re.compile(rf'\s*{pattern}{end}')


def _unframed(line: str) -> str:
    """Return a line without quote signs before it, and without the frame of a table.

    A rule between two rows of a table: "> |----|----------------|" -> ""
    A row of a table: "> | 9 | Power_On_Hours | 0x0032 |" -> "9 Power_On_Hours 0x0032"
    Any other line: "> 9 Power_On_Hours 0x0032" -> "9 Power_On_Hours 0x0032"
    """
    # The right border of a table is left out, and so is a backslash at the end of the line.
    without_end = line.rstrip(' |\\')
    has_only_signs = re.fullmatch(r'[-> +|:=.\\]*', line)
    # "-----|" is a rule whose left border is removed; "-- -- == -- |", with blanks, is a line of
    # smartctl in a box.
    is_unbroken = '|' in line and ' ' not in without_end.strip()
    if has_only_signs and ('|' in without_end or is_unbroken):
        return ''
    match = _QUOTES.match(line)
    quote_signs = match[0] if match else ''
    content = without_end[len(quote_signs) :]
    # smartctl's own lines have at most three " | " and five ";"
    has_columns = content.count(' | ') > 3 or content.count(';') > 5
    is_row = '|' in quote_signs or has_columns
    if is_row:
        cells = re.sub('[|;]', ' ', content).split()
        return ' '.join(cells).strip(' `')
    return content.strip(' `')


def plain_lines(text: str) -> list[str]:
    """Return the lines of a pasted text, as smartctl printed them or as they were wrapped; blanks at
    their ends are removed.
    """
    bare = _without_markup(_decoded(text))
    plain = _LONG_DASH.sub('--', bare).translate(_CHARACTERS)
    lines = _without_marks(_unbroken(plain.split('\n')))
    return _single_spaced(list(map(_unframed, lines)))


def _single_spaced(lines: list[str]) -> list[str]:
    """Return the lines of a double-spaced text without every second one; other lines unchanged.

    A text is double-spaced if at least six of its lines are not empty, and if nearly all its line
    breaks come in pairs: "Vendor: X", "", "Product: Y", "". For every five lines that are not
    empty, one line break may be single.
    """
    text = '\n'.join(lines)
    full_count = len(lines) - lines.count('')
    # each is a single line break, or several without any text between them
    breaks = re.findall('\n+', text)
    has_few_single_breaks = breaks.count('\n') <= full_count / 5
    if full_count >= 6 and has_few_single_breaks:
        return text.replace('\n\n', '\n').split('\n')
    return lines


# --- lines that a terminal broke at a column ----------------------------------------------

_BEGINS = re.compile(
    r'\s*(?:\||0x[0-9a-f]{2}\s|\d{1,3} +[A-Za-z_]|[A-Z][\w /-]+:|===|#|Error \d)'
)


def _unbroken(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines after joining those that were broken at a column, within words and numbers
    as well.

    If one line is certainly broken, the longest lines are as wide as the terminal was. Then each of
    them is joined to the next line, unless that begins as a line of its own.
    """
    width = max(map(len, lines))
    has_broken_line = any(
        len(line) == width and _is_broken(line, following, later)
        for line, following, later in zip(lines, lines[1:], [*lines[2:], ''])
    )
    if not has_broken_line:
        return lines
    joined: list[str] = []
    is_previous_full = False
    for line in lines:
        if is_previous_full and not _BEGINS.match(line):
            joined[-1] += line
        else:
            joined.append(line)
        is_previous_full = len(line) == width
    return joined


def _is_broken(line: str, following: str, later: str) -> bool:
    """Return whether a line of the full width ends within a word or a number that goes on in the
    following line. later: the line after that.

    True if the two lines are a whole row when they are joined directly, but not when a blank is put
    between them: "9 Power_On_Hours 0x0032 100 100 000 Old_age Alw", "ays - 8211"

    False if the following line is a number that can be the ID of a damaged row between its
    neighbours: "5 Reallocated_Sector_Ct ... - 1", "9", "12 Power_Cycle_Count ... - 80"
    """
    row = _QUOTES.sub('', line).lstrip()
    rest = following.rstrip()
    if not joined_rows.is_whole(row + rest):
        return False
    if joined_rows.is_whole(f'{row} {rest}'):
        return False
    can_be_id = rest.isdigit() and _id(row) < int(rest) < _id(later)
    return not can_be_id


def _id(line: str) -> int:
    """Return the ID of the attribute in a row; for other lines, one that is higher than any."""
    row = classic(line.strip())
    return int(row.partition(' ')[0]) if row else 256
