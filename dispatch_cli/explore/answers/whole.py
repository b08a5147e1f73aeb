"""Reports that are computed as they are read, made whole, so that they can be read more than once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, TypeVar

Report = TypeVar("Report")


def whole(report: Report) -> Report:
    """A report (a dataclass) with tuples in the place of its iterators."""
    made: Any = report
    values = ((field.name, getattr(made, field.name)) for field in fields(made))
    found: Report = replace(made, **{name: tuple(value) for name, value in values if isinstance(value, Iterator)})
    return found
