"""The plugin check_smart_attributes: a program, not a library.

Only its command line is a stable interface.
"""

import sys

__all__ = ['main']

# The builds of the wheel and of the Debian package read this line, and each output shows the
# version.
VERSION = '2.0.0'

if sys.version_info < (3, 9):  # noqa: UP036  here, because every way to start the program imports this file first
    raise ImportError(
        'Python 3.9 or newer is needed, this is {}.{}'.format(*sys.version_info[:2])
    )
