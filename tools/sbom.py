#!/usr/bin/env python3
"""Write a software bill of materials for each file of a release: FILE.cdx.json, in CycloneDX 1.5.

Usage: tools/sbom.py FOLDER SECONDS        (the time of the commit, since 1970)

The libraries are those of the pinned requirements. What a file really contains is compared with
them, and a difference is an error. The same files give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tarfile
import time
import uuid
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
# What the program itself is licensed under; NOTICE says which part is which.
LICENSE = 'GPL-3.0-or-later AND CC-BY-4.0'
PIN = re.compile(
    r'^([A-Za-z0-9._-]+)==(\S+)((?:[ \\\n]+--hash=sha256:[0-9a-f]{64})+)', re.MULTILINE
)
DIST_INFO = re.compile(r'([^/]+)-([^/-]+)\.dist-info/')


class Pin(NamedTuple):
    """A library of the pinned requirements, with the hashes of the files that pip accepts for
    it.
    """

    name: str
    version: str
    hashes: list[str]

    @property
    def purl(self) -> str:
        """The name of the library in all ecosystems. Source: the specification of package URLs."""
        return f'pkg:pypi/{self.name}@{self.version}'


def pins(path: str) -> list[Pin]:
    """Return the libraries of a file of requirements."""
    found = PIN.findall((ROOT / path).read_text())
    return [
        Pin(normal(name), version, re.findall('sha256:([0-9a-f]+)', hashes))
        for name, version, hashes in found
    ]


def normal(name: str) -> str:
    """Return the name as PyPI compares it. Source: PEP 503."""
    return re.sub('[-_.]+', '-', name).lower()


def contained(names: list[str]) -> set[tuple[str, str]]:
    """Return name and version of each library whose metadata is among these files, without the
    program.
    """
    found = (DIST_INFO.search(name) for name in names)
    libraries = {(normal(match[1]), match[2]) for match in found if match}
    return {library for library in libraries if library[0] != 'check-smart-attributes'}


def compared(path: Path, names: list[str], wanted: list[Pin]) -> None:
    """End with a message if a file contains other libraries than those that are wanted."""
    difference = contained(names) ^ {(pin.name, pin.version) for pin in wanted}
    if difference:
        sys.exit(
            f'sbom: the libraries in {path.name} differ from the pinned requirements: '
            f'{sorted(difference)}'
        )


def printed(*command: str) -> str:
    """Return the output of a command that must succeed."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def metadata(program: Path) -> dict[str, Message]:
    """Return the metadata of each library in a single-file program or a wheel."""
    with zipfile.ZipFile(program) as archive:
        texts = [
            archive.read(name).decode()
            for name in archive.namelist()
            if name.endswith('.dist-info/METADATA')
        ]
    return {
        normal(message['Name']): message for message in map(message_from_string, texts)
    }


def license_name(message: Message | None) -> str:
    """Return the license as a library states it, or '' if it does not."""
    if message is None:
        return ''
    stated = message.get('License-Expression') or message.get('License') or ''
    classified = [
        line.rpartition(' :: ')[2]
        for line in message.get_all('Classifier', [])
        if line.startswith('License ::')
    ]
    return stated if stated and '\n' not in stated else ', '.join(classified)


def component(pin: Pin, scope: str, license_: str) -> dict[str, Any]:
    """Return the entry of a library. scope: required if the file contains it, excluded if only
    the build uses it.
    """
    entry: dict[str, Any] = {
        'type': 'library',
        'bom-ref': pin.purl,
        'name': pin.name,
        'version': pin.version,
        'scope': scope,
    }
    if license_:
        entry['licenses'] = [{'license': {'name': license_}}]
    return {
        **entry,
        'purl': pin.purl,
        'properties': [{'name': 'pinned:sha256', 'value': each} for each in pin.hashes],
    }


def requirements(path: Path) -> list[str]:
    """Return what a file requires of the system or of PyPI, in its own words."""
    if path.suffix == '.deb':
        return re.split(
            r',\s*', printed('dpkg-deb', '--field', str(path), 'Depends').strip()
        )
    if path.suffix == '.rpm':
        return sorted(set(printed('rpm', '-qp', '--requires', str(path)).splitlines()))
    if path.suffix == '.whl':
        return metadata(path)['check-smart-attributes'].get_all('Requires-Dist', [])
    if path.suffix == '.gz':
        with tarfile.open(path) as source:
            member = source.extractfile(f'{path.name[: -len(".tar.gz")]}/PKG-INFO')
            text = member.read().decode() if member else ''
        return message_from_string(text).get_all('Requires-Dist', [])
    return ['Python >=3.9']


def libraries(path: Path) -> list[Pin]:
    """Return the libraries that a file contains, after a look into it."""
    if path.suffix == '.pyz':
        wanted, names = (
            pins('requirements/zipapp.txt'),
            zipfile.ZipFile(path).namelist(),
        )
    elif path.suffix == '.rpm':
        wanted = pins('requirements/zipapp.txt')
        names = [f'{line}/' for line in printed('rpm', '-qlp', str(path)).splitlines()]
    elif path.suffix == '.deb':
        if '/pySMART/' not in printed('dpkg-deb', '--contents', str(path)):
            sys.exit(f'sbom: {path.name} does not contain pySMART')
        return pins('debian/pysmart.requirements')
    else:
        wanted, names = [], []
    compared(path, names, wanted)
    return wanted


def bill(
    path: Path, version: str, seconds: int, stated: dict[str, Message]
) -> dict[str, Any]:
    """Return the bill of materials of one file."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    inside = libraries(path)
    tools = [] if path.suffix == '.deb' else pins('requirements/build.txt')
    entries = [
        component(pin, 'required', license_name(stated.get(pin.name))) for pin in inside
    ]
    entries += [component(pin, 'excluded', '') for pin in tools]
    subject = {
        'type': 'application',
        'bom-ref': path.name,
        'name': 'check_smart_attributes',
        'version': version,
        'hashes': [{'alg': 'SHA-256', 'content': digest}],
        'licenses': [{'expression': LICENSE}],
        'properties': [
            {'name': 'file', 'value': path.name},
            *({'name': 'requires', 'value': each} for each in requirements(path)),
        ],
    }
    return {
        'bomFormat': 'CycloneDX',
        'specVersion': '1.5',
        'version': 1,
        'serialNumber': f'urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest)}',
        'metadata': {
            'timestamp': time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(seconds)),
            'component': subject,
        },
        'components': entries,
        'dependencies': [{'ref': path.name, 'dependsOn': [pin.purl for pin in inside]}],
    }


def main(folder: Path, seconds: int) -> None:
    """Write a bill for each file of the folder that has none."""
    program = folder / 'check_smart_attributes.pyz'
    stated, version = (
        metadata(program),
        printed('sh', str(ROOT / 'tools/version')).strip(),
    )
    for path in sorted(
        each
        for each in folder.iterdir()
        if each.suffix in ('.gz', '.whl', '.pyz', '.deb', '.rpm')
    ):
        text = json.dumps(bill(path, version, seconds, stated), indent=1)
        path.with_name(f'{path.name}.cdx.json').write_text(f'{text}\n')


if __name__ == '__main__':
    main(Path(sys.argv[1]), int(sys.argv[2]))
