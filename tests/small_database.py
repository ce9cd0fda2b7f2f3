"""A small attributes.json of an invented vendor, whole and without mistakes, for tests that
spoil one thing in it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from smart_attributes.devtools import entry_rules
from smart_attributes.knowledge import drive_database, formatting
from smart_attributes.model import AttributeRow

Json = dict[str, Any]

# metric: (unit, worse, smallest, largest plausible value)
NUMBERS = {
    'endurance_used': ('%', 'high', 0, 255),
    'spare_available': ('%', 'low', 0, 100),
    'reallocated': ('', 'high', 0, 10**7),
    'capacitor_test_age': ('s', 'high', 0, 4 * 10**6),
    'temperature': ('C', 'high', 1, 120),
    'power_on_time': ('s', 'none', 0, 10**9),
    'critical_temperature_time': ('s', 'none', 0, 10**9),
    'power_cycles': ('', 'none', 0, 10**6),
    'host_written': ('B', 'none', 0, 10**17),
    'host_read': ('B', 'none', 0, 10**17),
    'pending': ('', 'high', 0, 10**7),
}
VERDICTS = (
    'power_loss_protection',
    'write_protect',
    'smart_status',
    'vendor_threshold',
    'self_test',
    'spare_warning',
    'temperature_warning',
    'reliability',
    'persistent_memory',
)


def metrics() -> Json:
    """Return every metric that standard logs need, and those of the invented drives."""
    numbers = {
        name: {
            'meaning': f'meaning of {name}',
            'unit': unit,
            'worse': worse,
            'valid': [lowest, highest],
        }
        for name, (unit, worse, lowest, highest) in NUMBERS.items()
    }
    verdicts = {
        name: {
            'meaning': f'meaning of {name}',
            'unit': '',
            'worse': 'low',
            'valid': [0, 1],
            'verdict': True,
        }
        for name in VERDICTS
    }
    others = {
        name: {
            'meaning': f'meaning of {name}',
            'unit': '',
            'worse': 'none',
            'valid': [0, 10**17],
        }
        for name in entry_rules.STANDARD_METRICS
    }
    return {**others, **numbers, **verdicts}


def database() -> Json:
    """Return the database as data."""
    return {
        'date': '2026-01-31',
        'documents': {
            'acme-manual': {
                'title': 'ACME X1 and X2 product manual',
                'publisher': 'ACME',
                'url': 'https://acme.example/x1',
            }
        },
        'metrics': metrics(),
        'sets': {
            'ata-common': {
                'source': 'acme-manual, section 2',
                'attributes': {
                    '9': {
                        'name': 'Power_On_Hours',
                        'readings': {
                            'power_on_time': {'from': 'raw bytes 0-2', 'unit': 'h'}
                        },
                    },
                    '12': {
                        'name': 'Power_Cycle_Count',
                        'readings': {'power_cycles': {'from': 'raw bytes 0-3'}},
                    },
                    '194': {
                        'name': 'Temperature_Celsius',
                        'readings': {'temperature': {'from': 'raw byte 0'}},
                    },
                },
            }
        },
        'entries': [
            {
                'family': 'ACME X1',
                'models': ['ACME X1-[0-9]{3}'],
                'source': 'acme-manual, section 5.4',
                'attributes': {
                    '175': {
                        'name': 'Power_Loss_Cap_Test',
                        'readings': {
                            'power_loss_protection': {
                                'from': 'value',
                                'states': {
                                    '100': 'passed',
                                    '11': 'not tested, because too hot',
                                    '0-10': 'failed',
                                },
                            },
                            'capacitor_test_age': {
                                'from': 'raw bytes 2-3',
                                'unit': 'min',
                                'ceiling': 65535,
                            },
                        },
                    },
                    '233': {
                        'name': 'Media_Wearout_Indicator',
                        'readings': {
                            'endurance_used': {'from': '100 - value', 'valid': [0, 99]}
                        },
                    },
                    '241': {
                        'name': 'Host_Writes_32MiB',
                        'readings': {'host_written': {'from': 'raw', 'unit': '32MiB'}},
                    },
                    '245': {'name': 'Timed_Workload', 'trap': True},
                },
            },
            {
                'family': 'ACME X2',
                'models': ['ACME X2-[0-9]{3}'],
                'source': 'measured on 12 drives',
                'attributes': {
                    '202': {
                        'name': 'Percent_Used',
                        'readings': {
                            'endurance_used': {'from': 'raw', 'valid': [0, 254]}
                        },
                    }
                },
            },
            {
                'family': 'Controller Z',
                'generic': True,
                'uses_common': False,
                'first': [1, 163, 164],
                'source': 'measured on 30 drives',
                'attributes': {
                    '163': {
                        'name': 'Bad_Blocks',
                        'readings': {'reallocated': {'from': 'raw'}},
                    }
                },
            },
            {
                'family': 'Unknown solid state drive',
                'kind': 'ssd',
                'fallback': True,
                'source': 'measured on 900 drives',
            },
        ],
        'advisories': [
            {
                'id': 'acme-x1-stops',
                'models': ['ACME X1-.*'],
                'firmware': '1\\.0',
                'fixed_in': '1.1',
                'hour': 1000,
                'effect': 'the drive stops',
                'action': 'update the firmware',
                'date': '2026-05',
                'severity': 'outage',
                'source': 'acme-manual, erratum 3',
            }
        ],
    }


def samples() -> list[Json]:
    """Return the samples that validate the database."""
    return [
        {
            'family': 'ACME X1',
            'model': 'ACME X1-240',
            'origin': 'composed',
            'lines': [
                '  9 Power_On_Hours          0x0032   100   100   000    Old_age   Always       - '
                '      1234',
                '233 Media_Wearout_Indicator 0x0032   022   022   000    Old_age   Always       - '
                '      0',
                '175 Power_Loss_Cap_Test     0x0033   100   100   010    Pre-fail  Always       - '
                '      640 (409 5906)',
                '241 Host_Writes_32MiB       -O--CK   100   100   000    -    1000',
            ],
            'expect': {
                'power_on_time': 4442400,
                'endurance_used': 78,
                'power_loss_protection': 'passed',
                'capacitor_test_age': 354360,
                'host_written': 33554432000,
            },
        },
        {
            'family': 'ACME X2',
            'model': 'ACME X2-480',
            'origin': 'composed',
            'lines': [
                '202 Percent_Used            -O--CK   100   100   000    -    300'
            ],
            'expect': {'endurance_used': None},
        },
        {
            'family': 'Controller Z',
            'model': 'NONAME',
            'origin': 'composed',
            'lines': [
                '  1 Raw_Read_Error_Rate     -O--CK   100   100   000    -    0',
                '163 Bad_Blocks              -O--CK   100   100   000    -    3',
                '164 Erase_Count             -O--CK   100   100   000    -    9',
            ],
            'expect': {'reallocated': 3},
        },
        {
            'family': 'Unknown solid state drive',
            'model': 'WHO',
            'origin': 'composed',
            'lines': [' 12 Power_Cycle_Count       -O--CK   100   100   000    -    7'],
            'expect': {'power_cycles': 7},
        },
    ]


class Checkout(NamedTuple):
    """The database as files: attributes.json, tests/samples/acme.json and tests/models.csv."""

    folder: Path

    @property
    def path(self) -> str:
        return str(self.folder / 'attributes.json')

    def write(
        self,
        data: Json,
        of_samples: list[Json],
        models: str = 'model,firmware,attributes\nACME X1-480,1.0,9 12 233\n',
    ) -> None:
        (self.folder / 'tests' / 'samples').mkdir(parents=True, exist_ok=True)
        (self.folder / 'attributes.json').write_text(formatted(data))
        (self.folder / 'tests' / 'samples' / 'acme.json').write_text(
            json.dumps(of_samples)
        )
        (self.folder / 'tests' / 'models.csv').write_text(models)


def formatted(data: Json) -> str:
    """Return data as the usual layout has it, or plainly where it is too wrong for that."""
    try:
        return formatting.formatted(data)
    except (KeyError, TypeError, AttributeError):
        return json.dumps(data)


def spec_database(*local: Json) -> drive_database.SpecDatabase:
    """Return the database with additions of a site on top."""
    return drive_database.SpecDatabase(
        database(),
        [(f'site{number}.json', data) for number, data in enumerate(local, 1)],
    )


def row(number: int, value: Any = 100, raw: str = '0', **more: Any) -> AttributeRow:
    """Return an attribute row with the given columns."""
    fields = {
        'name': 'Some_Name',
        'worst': value,
        'threshold': 0,
        'prefail': False,
        'when_failed': '',
        **more,
    }
    return AttributeRow(id=number, value=value, raw=raw, **fields)
