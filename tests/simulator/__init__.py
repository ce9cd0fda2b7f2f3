"""Simulated drives for the real smartctl; README.md explains how."""

from .descriptions import Description, names, read
from .library import why_not
from .machine import Machine

__all__ = ['Description', 'Machine', 'names', 'read', 'why_not']
