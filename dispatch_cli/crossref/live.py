"""Asking a live PyTorch what the modules of a library registered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dispatch_cli import universes
from dispatch_cli.capture.document import universe_before
from dispatch_cli.capture.probe import PACKAGES
from dispatch_cli.capture.run import CAPTURE, SECONDS, run_probe
from dispatch_cli.model.built import BuiltKernel, BuiltLibrary, BuiltOperator
from dispatch_cli.model.kernel import WrapKind
from dispatch_cli.model.problem import InputError, Problem
from dispatch_cli.model.universe import Universe


def ask_built(
    python: str | None,
    modules: Sequence[str] = (),
    seconds: float = SECONDS,
    conditions: Iterable[str] = (),
) -> tuple[BuiltLibrary, Universe, dict[str, bool]]:
    """Registrations of the PyTorch of *python*, its universe as it was before *modules* were imported, and conditions.

    python: a path or a command; None is the Python that runs this. modules: imported after torch, in order.
    seconds: the time that it has. conditions: about PyTorch; the truth of those that it can answer is the last part.
    Errors: InputError, with the last lines of what went wrong.
    """
    data = run_probe(python, modules, CAPTURE, seconds=seconds, conditions=conditions)
    try:
        return built_of(data), universes.from_data(universe_before(data)), data.get("conditions", {})
    except universes.UniverseError as error:
        raise InputError((Problem("capture-failed", f"the keys of that PyTorch cannot be used: {error}"),)) from None


def built_of(data: Mapping[str, Any]) -> BuiltLibrary:
    """The answer of ``capture/probe.py`` in our types."""
    imported = frozenset(data["imported_fallbacks"])
    modules = tuple(data["modules"])
    # PyTorch's own modules are imported before the others, so that nothing of theirs counts as imported
    are_apart = bool(data["known"]) and any(module.partition(".")[0] not in PACKAGES for module in modules)
    return BuiltLibrary(
        source=f"PyTorch {data['torch']}" + (f" with {', '.join(modules)}" if modules else ""),
        modules=modules,
        operators={operator["name"]: _operator(operator, are_apart) for operator in data["operators"]},
        fallbacks={
            fallback["key"]: BuiltKernel(fallback["debug"], fallback["fallthrough"], fallback["key"] in imported)
            for fallback in data["universe"]["fallbacks"]
        },
        apart=are_apart,
        universe=data["universe"]["name"],
    )


def _operator(operator: Mapping[str, Any], are_apart: bool) -> BuiltOperator:
    imported = operator["imported"]
    counts = imported.get("kernels", {})
    is_defined = operator["schema"] is not None
    return BuiltOperator(
        schema=operator["schema"],
        kernels={key: _kernel(kernels[0], bool(counts.get(key))) for key, kernels in operator["kernels"].items()},
        python=tuple(imported.get("python", ()) if are_apart else operator["python"]),
        imported=bool(imported.get("schema")),
        tags=tuple(operator["tags"]) if is_defined else None,
        alias_analysis=operator["alias_analysis"],
        debug=operator.get("debug"),
    )


def _kernel(kernel: Mapping[str, Any], imported: bool) -> BuiltKernel:
    fake, wraps = kernel.get("fake"), kernel.get("wraps", {})
    return BuiltKernel(
        kernel["debug"],
        kernel["fallthrough"],
        imported,
        fake=None if fake is None else not fake.get("missing", False),
        backward="kernel" in wraps if wraps.get("by") == WrapKind.AUTOGRAD.value else None,
    )
