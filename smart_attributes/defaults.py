"""Defaults of the options that say how drives are read.

Imported before the first process starts, so it imports nothing.
"""

SMARTCTL = '/usr/sbin/smartctl'
PARALLEL = 64         # drives at once; the drives take the time, not this machine
DRIVE_TIMEOUT = 30.0  # seconds
TIMEOUT = 55.0        # seconds; Icinga ends a check after 60
