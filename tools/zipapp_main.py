"""The start of the single-file program: plain enough for any Python to read it and to say what
is missing.
"""

import os
import sys

if sys.version_info < (3, 9):  # noqa: UP036
    old = 'Python 3.9 or newer is needed, this is %d.%d' % sys.version_info[:2]  # noqa: UP031
    print(
        'SMART UNKNOWN - '
        + old
        + '; start it with a newer one: python3.11 -IS '
        + sys.argv[0]
    )
    sys.exit(3)

# Modules find their data by their real path, which must be that of the file that they are imported
# from.
sys.path[0] = os.path.realpath(sys.path[0])

try:
    from smart_attributes.main import main
except BaseException as error:
    # A module is missing, damaged or not readable, or Python is too old.
    import json

    said = ' '.join(str(error).replace('|', '/').split())
    reason = ': '.join((type(error).__name__, said))
    words = 'check_smart_attributes cannot start: ' + reason
    words += '; reinstall it completely, so that every user can read it, for Python 3.9 or newer'
    if '--json' in sys.argv:
        document = {'version': 2, 'state': 'UNKNOWN', 'code': 'plugin-damaged'}
        document.update({'error': words, 'drives': []})
        print(json.dumps(document))
    else:
        print('SMART UNKNOWN - [plugin-damaged] ' + words)
    sys.exit(3)

main()
