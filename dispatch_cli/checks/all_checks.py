"""The checks, in the order of their codes, in which they are listed and reported: one for each file in `catalogue`."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from dispatch_cli.checks import catalogue
from dispatch_cli.checks.check import Check


def _checks() -> list[Check]:
    names = (f"{catalogue.__name__}.{module.name}" for module in iter_modules(catalogue.__path__))
    return sorted((import_module(name).CHECK for name in names), key=lambda check: check.code)


CHECKS = tuple(_checks())
