"""What can go wrong in a way that the user can mend, each with its exit code."""
from __future__ import annotations


class Fault(Exception):
    """A message for the user: what, where, why, and what to do."""

    exit_code = 1


class UsageFault(Fault):
    """Wrong arguments, a wrong manifest, a model that is unknown."""

    exit_code = 2


class MissingPackageFault(Fault):
    """torch or transformers is not installed."""

    exit_code = 3


class DeviceFault(Fault):
    """No such device, or not enough memory on it."""

    exit_code = 4
