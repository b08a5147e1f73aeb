"""Facts about PyTorch's own kernels: what each does that does not redispatch by convention, and which others call.

The first is a table. Names tell which operator a composite kernel calls that PyTorch's code generator makes of another
operator: ``gen_composite_functional_kernel`` and ``gen_composite_out_kernel`` in
``torchgen/native_function_generation.py``, and for those that copy a view, ``torchgen/gen_functionalization_type.py``.
Those of lists of tensors (``ForeachOpsKernels.cpp``) call the operator for each tensor. Those that take a number for a
tensor make a tensor of it (``wrapped_scalar_tensor``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from dispatch_cli.engine.call.schema_facts import most_tensors
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.table.table import TableEntry
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import META

Place = tuple[str, str, str]
"""A kernel: the file of its source, the key it is registered at, the operator."""
NO_FILE = "-"
_FILE = Path(__file__).with_suffix(".txt")
_SOURCE = re.compile(r"(?:^|[/\\ ])([A-Za-z0-9_]+)\.(?:cpp|h):[0-9]+")
_NUMBER = re.compile(r"_[0-9]+$")
"""Number that torchgen appends to the name of a file when it writes several of them."""
_PYTHON = re.compile(r"[/\\]torch[/\\](_prims|_functorch)[/\\]\w+\.py:[0-9]+")
"""Folders with Python code that registers kernels for PyTorch's operators."""
CALLS, RAISES = "calls", "raises"
"""Kinds of effect: a composite kernel calls other operators; a kernel only raises."""
_COMPOSITE = re.compile(r"\bRegisterCompositeExplicitAutograd(?:NonFunctional)?(?:_[0-9]+)?\.cpp:[0-9]+$")
GENERATED, VIEW_COPY = "generated", "view_copy"
"""Tags: the operator is not in ``native_functions.yaml``; it copies the view that another one makes."""
_OUT = "out"
_COPY = "_copy"
_FOREACH = "_foreach_"
_OF_EACH = {
    "": ("",),
    "List": ("Tensor", "Tensor_Tensor"),
    "Scalar": ("Tensor_Scalar", "Scalar", ""),
    "ScalarList": ("Tensor_Scalar", "Scalar", ""),
    "ScalarAndTensor": ("Scalar",),
}
"""The overload of an operator of lists, and those that the operator of one tensor may have for it."""
_ONE_OF = {"maximum": "clamp_min", "minimum": "clamp_max"}
"""The operators of lists whose kernels call an operator of another name for each tensor."""
_EXPLICIT = ("CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")
"""The alias keys at which a kernel may call other operators, below autograd."""
_IN_CPP = re.compile(r"\.(?:cpp|h|cc|cu):[0-9]+$")


class Does(NamedTuple):
    """Effect of a kernel: its kind, which form of that, and a text of it. Each is empty where there is none."""

    what: str
    how: str = ""
    text: str = ""


NOTHING_KNOWN = Does("")


class KernelRow(NamedTuple):
    """A row. source, key: with ``*`` for any text. operators: none where it is of all."""

    does: Does
    source: str
    key: str
    operators: tuple[str, ...]

    def is_of(self, source: str, key: str) -> bool:
        """True if it is about kernels of that file at that key."""
        return fnmatchcase(source, self.source) and fnmatchcase(key, self.key)


def place_of(debug: str, key: str, operator: str) -> Place:
    """Place that a kernel is from, by its debug text."""
    match = _SOURCE.search(debug)
    if match is not None:
        return _NUMBER.sub("", match[1]), key, operator
    python = _PYTHON.search(debug)
    return NO_FILE if python is None else f"torch/{python[1]}", key, operator


def does(place: Place) -> Does:
    """Effect of the kernel at a place."""
    source, key, operator = place
    return next((row.does for row in _rows_at(source, key) if not row.operators or operator in row.operators), Does(""))


@lru_cache(maxsize=4096)
def _rows_at(source: str, key: str) -> tuple[KernelRow, ...]:
    """The rows about kernels of a file at a key, those that count before others first."""
    matching = (row for row in rows() if row.does.what != CALLS and row.is_of(source, key))
    exact = [(bool(row.operators), "*" not in row.source, "*" not in row.key, row) for row in matching]
    return tuple(row for *_, row in sorted(exact, key=lambda entry: entry[:3], reverse=True))


@cache
def rows() -> tuple[KernelRow, ...]:
    """The rows of the table."""
    return tuple(_rows(_FILE.read_text(encoding="utf-8")))


@cache
def of_operators(what: str) -> dict[str, tuple[KernelRow, ...]]:
    """The rows that say that of some operators, by operator."""
    by_operator: dict[str, tuple[KernelRow, ...]] = {}
    for row in rows():
        for operator in row.operators if row.does.what == what else ():
            by_operator[operator] = (*by_operator.get(operator, ()), row)
    return by_operator


def _rows(text: str) -> Iterator[KernelRow]:
    for line in text.splitlines():
        words, _, more = line.partition("|")
        if words and not words.startswith("#"):
            way, source, key, *operators = words.split()
            what, _, how = way.partition(":")
            names = tuple(name if "::" in name else f"aten::{name}" for name in operators)
            yield KernelRow(Does(what, how, more.strip()), source, key, names)


def called_by(dispatcher: Dispatcher, name: OperatorName, tags: tuple[str, ...], debug: str) -> OperatorName | None:
    """The operator that such a kernel calls; None for another kernel. debug: the kernel's text."""
    if _COMPOSITE.search(debug) is None:
        return None
    if (rows := of_operators(CALLS).get(str(name))) is not None:
        return OperatorName.parse(rows[0].does.text)
    callee = next((callee for callee in _candidates(name, tags) if callee in dispatcher and callee != name), None)
    if callee is not None and GENERATED not in tags and _takes_number(name) and not _more(dispatcher, callee, name):
        return None
    return callee


def calls_more(name: OperatorName, tags: tuple[str, ...]) -> bool:
    """True if the kernel does more after that call: one for ``out`` may resize that, and copies the result."""
    return str(name) in of_operators(CALLS) or _writes_out(name, tags)


def _writes_out(name: OperatorName, tags: tuple[str, ...]) -> bool:
    return GENERATED in tags and (name.overload == _OUT or name.overload.endswith(f"_{_OUT}"))


def calls_hidden(slot: str, entry: TableEntry) -> bool:
    """True if a kernel in C++ may call operators that are not known, and that may have no kernel for the slot.

    At the slot Meta that is taken to make no difference: nearly every operator has a kernel there.
    """
    registration, kernel = entry.registration, entry.kernel
    if slot == META or registration is None or kernel is None or kernel.redispatches is not None:
        return False
    return registration.key in _EXPLICIT and _IN_CPP.search(kernel.debug) is not None


def _takes_number(name: OperatorName) -> bool:
    return "scalar" in name.overload.lower() and _FOREACH not in name.name


def _more(dispatcher: Dispatcher, called: OperatorName, name: OperatorName) -> bool:
    """True if an operator takes more tensors than another one."""
    counts = []
    for operator in (called, name):
        definition = dispatcher.operator(operator).definition
        counts.append(None if definition is None else most_tensors(definition.schema))
    return counts[0] is not None and counts[1] is not None and counts[0] > counts[1]


def _candidates(name: OperatorName, tags: tuple[str, ...]) -> Iterator[OperatorName]:
    overload = name.overload
    if VIEW_COPY in tags and name.name.endswith(_COPY) and not overload.endswith(_OUT):
        yield name._replace(name=name.name.removesuffix(_COPY))
    if GENERATED in tags:
        if _writes_out(name, tags):
            inner = overload.removesuffix(_OUT).removesuffix("_")
            yield name._replace(overload=inner)
            yield name._replace(name=f"{name.name}_", overload=inner)
        else:
            yield name._replace(name=f"{name.name}_")
        return
    namespace, _, short = name.name.partition("::")
    if short.startswith(_FOREACH):
        each = short.removeprefix(_FOREACH)
        of_each = f"{namespace}::{_ONE_OF.get(each, each)}"
        yield from (name._replace(name=of_each, overload=other) for other in _OF_EACH.get(overload, ()))
    elif _takes_number(name):
        out = _OUT if overload.endswith(_OUT) else ""
        yield name._replace(overload=f"Tensor_{out}" if out else "Tensor")
        yield name._replace(overload=out)
