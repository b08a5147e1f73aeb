"""Refusals of the Python dispatcher: kernels that ``py_impl`` does not take. Source: ``torch/_ops.py``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dispatch_cli.engine.dispatcher.refusal import Refusal
from dispatch_cli.engine.python import table as python_table
from dispatch_cli.model.captured import StateSource
from dispatch_cli.model.declarations import PythonKernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import Problem, Related
from dispatch_cli.model.universe import PYTHON


def problems_of(declared: Iterable[PythonKernel], source: StateSource | None) -> Iterator[Problem]:
    """The declared Python kernels that ``py_impl`` refuses, beside those of a captured state; both places are named."""
    taken: dict[OperatorName, dict[str, PythonKernel]] = {}
    for kernel in declared:
        name, key = kernel.operator, kernel.dispatch_key
        if name not in taken:
            captured = source.python_kernels(str(name)) if source and str(name) in source.names else ()
            taken[name] = {place: PythonKernel(name, place, function) for place, function in captured}
        earlier = taken[name].get(key)
        message = _refusal_text(name, key, earlier is not None and not kernel.replaces)
        if message is not None:
            place = earlier.span if earlier is not None else None
            related = (Related("the earlier kernel is here", place),) if place is not None else ()
            hint = "the state below the files has one already" if earlier is not None and place is None else None
            yield Problem(Refusal.PYTHON_KERNEL.value, message, kernel.span, hint=hint, related=related)
        else:
            taken[name][key] = kernel


def _refusal_text(name: OperatorName, key: str, taken: bool) -> str | None:
    """The reason for which ``py_impl`` refuses a kernel at a key, in its words; None when it does not."""
    if key == PYTHON:
        return "Please register a mode for the DispatchKey.Python key instead."
    if taken:
        return f"Trying to override a python impl for {python_table.python_key_text(key)} on operator {name}"
    return None
