"""What smartmontools knows and the database lacks is listed, and only that."""

import sys

import pytest
from conftest import ROOT
from small_database import database

from smart_attributes.knowledge.drive_database import SpecDatabase

sys.path.insert(0, str(ROOT / 'tools'))
import drivedb_gaps

pytestmark = pytest.mark.tools

KNOWN = """  { "ACME X1 SSDs", // tested with ACME X1-240/1.0
    "ACME X1-[0-9]{3}",
    "1\\\\.[0-9]",
    "Stops, "
    "see https://acme.example/x1",
    "-v 233,raw48,Media_Wearout_Indicator " // as in the manual
    "-v 248,raw48,Flux"
  },
  { "USB: ACME bridge; ",
    "0x1234:0x5678", "", "", "-d sat"
  },
  { "ACME Z9 SSDs",
    "ACME (Z9|Y9) ?.*",
    "", "", ""
  },
"""


def test_families_names_and_warnings_that_are_lacking_are_listed():
    """Adjacent strings are one, comments and USB bridges are skipped."""
    data = {**database(), 'advisories': []}
    lines = [
        drivedb_gaps.gaps(entry, SpecDatabase(data))
        for entry in drivedb_gaps.entries(KNOWN)
    ]

    assert lines == [
        [
            'attribute: ACME X1 SSDs (ACME X1-000 1.0): 248 Flux',
            'warning: ACME X1 SSDs (ACME X1-000 1.0): Stops, see https://acme.example/x1',
        ],
        ['family: ACME Z9 SSDs (ACME Z9)'],
    ]
    # it has an advisory
    assert (
        len(drivedb_gaps.gaps(drivedb_gaps.entries(KNOWN)[0], SpecDatabase(database())))
        == 1
    )


@pytest.mark.parametrize(
    'pattern, text',
    [('A[1-9B]C?', 'A1'), ('(X|Y)(Z{2})', 'XZZ'), ('.*K.+', 'KX'), ('', '')],
)
def test_the_example_is_the_shortest_text_that_matches(pattern, text):
    """It is asked about in the place of a drive."""
    assert drivedb_gaps.example(pattern) == text
