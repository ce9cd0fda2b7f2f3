#!/usr/bin/env python3
"""Add entries of databases that version 1.x shipped to smart_attributes/v1_6/shipped.json, as
fingerprints.

Usage: tools/fingerprints.py check_smartdb.json [check_smartdb.json ...]

The databases themselves stay out of the project. To get one: take apart the package of Debian 13
(apt-get download monitoring-plugins-check-smart-attributes; dpkg-deb -x), or check out a tag of
version 1.x.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from smart_attributes.v1_6 import files

ROOT = Path(__file__).resolve().parent.parent

FILE = ROOT / 'smart_attributes' / files.KNOWN


def main() -> None:
    """Add the fingerprints of all entries of the files named on the command line."""
    known = json.loads(FILE.read_text())
    found = {
        files.fingerprint(data)
        for file in sys.argv[1:]
        for data in files.read(file)[0]['Devices'].values()
    }
    print(f'{len(found - set(known["entries"]))} new fingerprints')
    known['entries'] = sorted(found | set(known['entries']))
    FILE.write_text(json.dumps(known, indent=1) + '\n')


if __name__ == '__main__':
    main()
