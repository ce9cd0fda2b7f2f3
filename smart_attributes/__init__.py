"""The plugin check_smart_attributes: a program, not a library. Only its command line is a stable interface."""

__all__ = ['main']

# The build of the wheel and of the Debian package read this line, and each output names it.
VERSION = '2.0.0'
