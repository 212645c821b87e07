"""Errors that the user can fix, each with its exit code."""
from __future__ import annotations


class Fault(Exception):
    """A message for the user: what failed, where, why, and the remedy."""

    exit_code = 1


class UsageFault(Fault):
    """Wrong arguments, an invalid manifest, an unknown model."""

    exit_code = 2


class MissingPackageFault(Fault):
    """torch or transformers is not installed."""

    exit_code = 3


class DeviceFault(Fault):
    """No such device, or not enough memory on it."""

    exit_code = 4
