"""The inside of the plugin check_smart_attributes; its face is the command line."""

__all__ = ['main']
