"""doc/reference/alerts.md shows what the program prints in each situation: it is compared, not
trusted. Run `make catalogue` after a change of the output.
"""

import catalogue
import pytest
import simulator
import situations

# its runs take a second; those of all chapters about twenty
QUICK = 'Temperature and firmware'
CHAPTERS = dict.fromkeys(situation.chapter for situation in situations.ALL)


def test_the_document_has_each_situation_with_what_it_means_and_no_other():
    text = catalogue.DOCUMENT.read_text()
    titles = [situation.title for situation in situations.ALL]

    assert text.startswith(catalogue.HEAD)
    assert [line[4:] for line in text.splitlines() if line.startswith('### ')] == titles
    assert [line[3:] for line in text.splitlines() if line.startswith('## ')] == [
        *CHAPTERS
    ]
    assert len({*titles}) == len(titles) >= 60
    for situation in situations.ALL:
        _, _, section = text.partition(f'\n### {situation.title}\n\n')
        assert section.startswith(situation.meaning or '```text'), situation.title


@pytest.mark.skipif(bool(simulator.why_not()), reason=simulator.why_not())
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    'chapter',
    [
        pytest.param(name, marks=[] if name == QUICK else [pytest.mark.long])
        for name in CHAPTERS
    ],
)
def test_the_program_prints_what_the_document_shows(tmp_path, chapter):
    text = catalogue.DOCUMENT.read_text()
    chosen = [situation for situation in situations.ALL if situation.chapter == chapter]
    sections = [
        catalogue.section(situation, tmp_path / str(number))
        for number, situation in enumerate(chosen)
    ]

    assert [section for section in sections if section not in text] == []
