"""The start of the single-file program: plain enough for any Python to read it and to say what is missing."""
import os
import sys

if sys.version_info < (3, 9):  # noqa: UP036
    print('SMART UNKNOWN - Python 3.9 or newer is needed, this is %d.%d; start it with a newer one: python3.11 -IS %s' %  # noqa: UP031
          (sys.version_info[0], sys.version_info[1], sys.argv[0]))
    sys.exit(3)

# Modules find their data by their real path, which must be that of the file that they are imported from.
sys.path[0] = os.path.realpath(sys.path[0])

try:
    from smart_attributes.main import main
except BaseException as error:  # a module that is missing, damaged or not readable, or a Python that is too old
    import json
    words = ('check_smart_attributes cannot start: {}: {}; reinstall it completely, so that every user can read it, '
             'for Python 3.9 or newer').format(type(error).__name__, ' '.join(str(error).replace('|', '/').split()))
    print(json.dumps({'version': 2, 'state': 'UNKNOWN', 'code': 'plugin-damaged', 'error': words,
                      'drives': []}) if '--json' in sys.argv
          else 'SMART UNKNOWN - [plugin-damaged] ' + words)
    sys.exit(3)

main()
