"""The previous kernel in PyTorch's warning of an override."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dispatch_cli import universes
from dispatch_cli.api import load_state
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.parser import parse_schema, parse_signature
from tests.engine.live_cases import LiveCase, Side, answers_to

NAME = OperatorName("overrides::op")
TYPED = parse_signature("(Tensor _0) -> Tensor _0")
Steps = Sequence[Sequence[str]]


def predicted(steps: Steps) -> list[str | None]:
    """Our answers for the same registrations."""
    dispatcher = Dispatcher(universes.load("torch-2.15"))
    dispatcher.define(parse_schema(f"{NAME}(Tensor x) -> Tensor"), "")
    registered = {}
    results = []
    for kind, *rest in steps:
        if kind == "drop":
            dispatcher.drop(registered.pop(rest[0]))
            continue
        key, name = rest
        kernel = Kernel(name, signature=TYPED) if kind == "cpp" else Kernel(name, python=True)
        registration = registered[name] = dispatcher.implement(NAME, key, kernel)
        if registration.warns:
            results.append(registration.warning_names)
            real = registration.overrides.debug if registration.overrides is not None else None
            assert registration.misnamed == (None if registration.warning_names == real else registration.warning_names)
    return results


def _wrong(_: Side, sequences: Any, answers: Any) -> list[str]:
    pairs = zip(sequences, answers, strict=True)
    return [f"{steps}: {live}" for steps, live in pairs if live != predicted(steps)]


CASE = LiveCase(answers_to("overrides"), _wrong)


def test_with_symint_comes_second() -> None:
    """Source: ``registerKernel`` asks for ``cpp_signature_`` before ``sym_cpp_signature_``."""
    dispatcher = Dispatcher(universes.load("torch-2.15"))
    for key, name, signature in (
        ("CUDA", "symbolic", "(Tensor _0, SymInt _1) -> Tensor _0"),
        ("XLA", "plain", "(Tensor _0, int _1) -> Tensor _0"),
    ):
        dispatcher.implement(NAME, key, Kernel(name, signature=parse_signature(signature)))
    dispatcher.implement(NAME, "CPU", Kernel("one", python=True))
    assert dispatcher.implement(NAME, "CPU", Kernel("two", python=True)).misnamed == "plain"


def test_where_it_is_not_known() -> None:
    """A kernel that does not say whether it has a signature; the kernels of a captured state, of unknown order."""
    dispatcher = Dispatcher(universes.load("torch-2.15"))
    dispatcher.implement(NAME, "CPU", Kernel("one"))
    unsaid = dispatcher.implement(NAME, "CPU", Kernel("two", signature=TYPED))
    assert (unsaid.warning_names, unsaid.misnamed) == (None, None)
    captured = load_state([], bases=["torch-2.15"]).dispatcher
    mine = captured.implement(OperatorName("aten::relu"), "CPU", Kernel("mine", signature=TYPED))
    assert mine.warns
    assert (mine.warning_names, mine.misnamed) == (None, None)
