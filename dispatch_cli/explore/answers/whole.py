"""Reports that are computed as they are read, made whole, so that they can be read more than once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, TypeVar

Report = TypeVar("Report")


def whole(report: Report) -> Report:
    """A report (a dataclass) with tuples in the place of its iterators."""
    instance: Any = report
    values = ((field.name, getattr(instance, field.name)) for field in fields(instance))
    result: Report = replace(instance, **{name: tuple(value) for name, value in values if isinstance(value, Iterator)})
    return result
