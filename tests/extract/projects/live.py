"""Registrations of the projects' builds in a live PyTorch."""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from dispatch_cli.model.conditions.condition import Condition
from dispatch_cli.model.sources.extracted import (
    CustomOperator,
    ExtractedBlock,
    ExtractedDefinition,
    ExtractedFallback,
    ExtractedKernel,
    Extraction,
    FunctionRole,
    OperatorFunction,
    Unknown,
)
from dispatch_cli.model.span import Span
from tests.extract.projects.project import Project

_PLACE = re.compile(r"registered at (/\S+):(\d+)$")
_PYTHON = re.compile(r"registered at /dev/null:\d+$")
PYTORCHS_OWN = frozenset(
    {
        *("prims", "debugprims", "rngprims", "_c10d_functional", "c10d_functional", "fsdp", "symm_mem", "_dtensor"),
        *("flex_lib", "_inductor_test", "quantized_decomposed"),
    }
)
"""Namespaces in which PyTorch's own Python modules register what importing a project pulls in."""


class LiveRow(NamedTuple):
    """A live registration. place: of its C++ block, as (path, line); None where the debug text has none.

    python: it is made by ``torch.library``. boxed: it has no signature, as fallthroughs have none.
    """

    operator: str
    key: str
    place: tuple[str, int] | None
    python: bool
    boxed: bool


class Live(NamedTuple):
    """A recording, without what PyTorch's own Python modules registered."""

    torch: str
    rows: tuple[LiveRow, ...]
    schemas: dict[str, str]


def load_live(folder: Path, project: Project) -> Live:
    """The recording of a project, without what PyTorch's Python modules registered."""
    with lzma.open(folder / f"{project.name}.live.json.xz", "rt") as opened:
        data = json.load(opened)
    rows = []
    for operator, key, _, debug, signature in data["registrations"]:
        place = _PLACE.match(debug)
        python = _PYTHON.match(debug) is not None
        position = None if place is None or python else (place[1], int(place[2]))
        rows.append(LiveRow(operator, key, position, python, signature == "(none)"))
    kept = tuple(row for row in rows if not (row.python and is_pytorchs(row.operator)))
    definitions = data["definitions"]
    schemas = {
        operator: one["schema"]
        for operator, one in definitions.items()
        if not (_PYTHON.match(one["debug"]) and is_pytorchs(operator))
    }
    return Live(data["torch"], kept, schemas)


def is_pytorchs(operator: str) -> bool:
    """True if PyTorch's own Python modules define it."""
    return operator.partition("::")[0] in PYTORCHS_OWN


# Rows of an extraction that can be compared with live registrations.


MATH = "CompositeImplicitAutograd"
NAMES = {None: MATH, "CatchAll": MATH, "Autocast": "AutocastCUDA", "CompositeImplicitAutograd": MATH}
"""Names of one key, as C++ has them."""


class Row(NamedTuple):
    """A registration. block: file and line of its C++ block; None in Python. boxed: it can have no signature."""

    operator: str
    key: str
    at: Span
    when: tuple[Condition, ...] = ()
    block: tuple[str, int] | None = None
    fallthrough: bool = False
    python: bool = False


class Schema(NamedTuple):
    """A definition. schema: None where it is not known."""

    operator: str
    schema: str | None
    at: Span
    when: tuple[Condition, ...] = ()


class Rows(NamedTuple):
    """undecided: entries of which the operator or the key is not known."""

    rows: list[Row]
    schemas: list[Schema]
    undecided: list[str]


def rows_of(extractions: Sequence[Extraction]) -> Rows:
    """The registrations and definitions of extractions, those of ``torch.library`` as PyTorch 2.6 makes them."""
    rows = Rows([], [], [])
    custom = {item.name for extraction in extractions for item in extraction.items if isinstance(item, CustomOperator)}
    for extraction in extractions:
        for item in extraction.items:
            match item:
                case ExtractedDefinition():
                    if isinstance(item.name, Unknown):
                        rows.undecided.append(f"{item.at}: {item.name}")
                    else:
                        rows.schemas.append(Schema(item.name, item.schema, item.at, _both(item.when, item.block)))
                case ExtractedKernel(operator=str(operator), key=None | str() as key):
                    block = None if item.block.python else (item.block.at.file, item.block.at.line)
                    when = _both(item.when, item.block)
                    rows.rows.append(
                        Row(
                            operator,
                            _name(key),
                            item.at,
                            when,
                            block,
                            item.fallthrough,
                            item.block.python or item.python,
                        )
                    )
                case CustomOperator(name=str(name)):
                    rows.schemas.append(Schema(name, item.schema, item.at, item.when))
                    rows.rows.extend(Row(name, key, item.at, item.when, python=True) for key in _custom_keys(item))
                case OperatorFunction(operator=str(operator)):
                    keys = _function_keys(item, is_custom=operator in custom)
                    rows.rows.extend(Row(operator, key, item.at, item.when, python=True) for key in keys)
                case ExtractedBlock() | ExtractedFallback():
                    pass
                case _:
                    rows.undecided.append(f"{item.at}: {item}")
    return rows


def _both(when: tuple[Condition, ...], block: ExtractedBlock) -> tuple[Condition, ...]:
    return (*block.when, *(condition for condition in when if condition not in block.when))


def _name(key: str | None) -> str:
    return NAMES.get(key, key or MATH)


def _custom_keys(one: CustomOperator) -> Iterator[str]:
    """Keys at which ``CustomOpDef._register_to_dispatcher`` of PyTorch 2.6 registers."""
    yield "Meta"
    yield "Autograd"
    if one.schema is not None and "!" in one.schema:
        yield "ADInplaceOrView"
    if one.device_types is None:
        yield "CompositeExplicitAutograd"
    else:
        yield from map(_device, one.device_types)


def _function_keys(one: OperatorFunction, is_custom: bool) -> Iterator[str]:
    if one.role is FunctionRole.FAKE and not is_custom:
        yield "Meta"
    elif one.role is FunctionRole.AUTOGRAD and not is_custom:
        yield "Autograd"
    elif one.role is FunctionRole.VMAP:
        yield "FuncTorchBatched"
    elif one.role is FunctionRole.KERNEL:
        yield from (_device(device) for device in one.devices if isinstance(device, str))


def _device(name: str) -> str:
    known = {"default": "CompositeExplicitAutograd", "cpu": "CPU", "cuda": "CUDA", "meta": "Meta", "xpu": "XPU"}
    return known.get(name, name)
