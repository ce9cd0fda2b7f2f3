"""The shipped data files, and what the program makes of them: read once."""

import json
from typing import Any

from conftest import ROOT

from smart_attributes.knowledge.drive_database import SpecDatabase
from smart_attributes.knowledge.thresholds import Thresholds

ATTRIBUTES: Any = json.loads((ROOT / 'attributes.json').read_text())
DEFAULTS: Any = json.loads((ROOT / 'thresholds/default.json').read_text())
DATABASE, LIMITS = SpecDatabase(ATTRIBUTES), Thresholds(DEFAULTS)
