"""What an extraction says, as rows that can be compared with live registrations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dispatch_cli.model.condition import Condition
from dispatch_cli.model.extracted import (
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
    found = Rows([], [], [])
    custom = {one.name for extraction in extractions for one in extraction.found if isinstance(one, CustomOperator)}
    for extraction in extractions:
        for one in extraction.found:
            match one:
                case ExtractedDefinition():
                    if isinstance(one.name, Unknown):
                        found.undecided.append(f"{one.at}: {one.name}")
                    else:
                        found.schemas.append(Schema(one.name, one.schema, one.at, _both(one.when, one.block)))
                case ExtractedKernel(operator=str(operator), key=None | str() as key):
                    block = None if one.block.python else (one.block.at.file, one.block.at.line)
                    when = _both(one.when, one.block)
                    found.rows.append(
                        Row(operator, _name(key), one.at, when, block, one.fallthrough, one.block.python or one.python)
                    )
                case CustomOperator(name=str(name)):
                    found.schemas.append(Schema(name, one.schema, one.at, one.when))
                    found.rows.extend(Row(name, key, one.at, one.when, python=True) for key in _custom_keys(one))
                case OperatorFunction(operator=str(operator)):
                    keys = _function_keys(one, is_custom=operator in custom)
                    found.rows.extend(Row(operator, key, one.at, one.when, python=True) for key in keys)
                case ExtractedBlock() | ExtractedFallback():
                    pass
                case _:
                    found.undecided.append(f"{one.at}: {one}")
    return found


def _both(when: tuple[Condition, ...], block: ExtractedBlock) -> tuple[Condition, ...]:
    return (*block.when, *(one for one in when if one not in block.when))


def _name(key: str | None) -> str:
    return NAMES.get(key, key or MATH)


def _custom_keys(one: CustomOperator) -> Iterator[str]:
    """What ``CustomOpDef._register_to_dispatcher`` of PyTorch 2.6 registers."""
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
