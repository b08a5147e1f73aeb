"""Random histories on live dispatchers: after every step the dumps, the error and the invariants are PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest

from dispatch_cli import universes
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.dispatcher.dump import dump_registrations, dump_table
from dispatch_cli.engine.dispatcher.library import Library
from dispatch_cli.engine.dispatcher.refusal import Refused
from dispatch_cli.model.declarations import Block, LibraryKind
from dispatch_cli.model.kernel import AliasAnalysisKind, Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema import parse_schema, parse_signature
from dispatch_cli.model.universe import Universe
from tests.support import UNIVERSE_OF, load_recording

SIGNATURE = parse_signature("(Tensor _0) -> Tensor _0")


class Replay:
    """One recorded history, step by step. function: what every kernel's function is taken to be."""

    def __init__(self, universe: Universe, index: int, function: str | None) -> None:
        self.dispatcher = Dispatcher(universe)
        self.namespace = f"seq{index}"
        self.name = OperatorName(f"{self.namespace}::foo")
        self.function = function
        self.libraries: dict[int, Library] = {}

    def run(self, number: int, step: dict[str, Any]) -> str | None:
        """Do a step; the error it is refused with, if it is."""
        if step["do"] == "drop":
            self.libraries.pop(step["step"]).drop()
            return None
        if step["do"] == "fallback_fallthrough":
            block = Block(LibraryKind.IMPL, "_", step["key"], "/dev/null", 0)
        else:
            block = Block(LibraryKind.FRAGMENT, self.namespace, None, "/dev/null", 0)
        library = Library(self.dispatcher, block)
        try:
            self._act(library, step)
        except Refused as refused:
            return str(refused)
        self.libraries[number] = library
        return None

    def _act(self, library: Library, step: dict[str, Any]) -> None:
        if step["do"] == "def":
            library.define(parse_schema(step["schema"]), AliasAnalysisKind[step["alias"] or "FROM_SCHEMA"])
        elif step["do"] == "impl":
            kernel = Kernel(step["debug"], self.function, SIGNATURE, unboxed=True)
            library.implement(OperatorName("foo"), kernel, step["key"])
        else:
            library.fall_back(Kernel("registered at /dev/null:0", fallthrough=True))

    def invariants_hold(self) -> bool:
        """Whether the live table of the operator equals the canonical one; an operator that is not there is fine."""
        return self.name not in self.dispatcher or not self.dispatcher.stale_entries(self.name)


@pytest.mark.parametrize("version", UNIVERSE_OF)
def test_every_step_is_as_recorded(version: str) -> None:
    steps = 0
    for history, replay in replays(version, "impl_t_t"):
        for number, step in enumerate(history):
            error = replay.run(number, step)
            after = step["after"]
            where = f"history {replay.namespace}, step {number}"
            assert error == step.get("error"), where
            assert dump_registrations(replay.dispatcher, replay.name) == after["dump"], where
            assert dump_table(replay.dispatcher, replay.name) == after["table"], where
            assert replay.invariants_hold() == after["invariants"], where
            steps += 1
    assert steps > 1400


@pytest.mark.parametrize("version", UNIVERSE_OF)
def test_distinct_functions_fail_wherever_pytorch_fails(version: str) -> None:
    """PyTorch's kernels there share one function, so it can miss a stale slot. It never sees one that is not there."""
    failing = 0
    for history, replay in replays(version, None):
        for number, step in enumerate(history):
            replay.run(number, step)
            holds, recorded = replay.invariants_hold(), step["after"]["invariants"]
            assert recorded or not holds, f"history {replay.namespace}, step {number}"
            failing += not recorded
    assert failing > 0


def replays(version: str, function: str | None) -> list[tuple[list[dict[str, Any]], Replay]]:
    universe = universes.load(UNIVERSE_OF[version])
    histories = load_recording(f"{version}.histories")["histories"]
    return [(history, Replay(universe, index, function)) for index, history in enumerate(histories)]


@pytest.mark.parametrize(
    ("functions", "holds"),
    [
        # of one function, as impl_t_t registers: PyTorch 2.13 and 2.15 take the live kernel for the canonical one
        (("t_t", "t_t", "t_t"), True),
        # the math kernel another function, as def_name_t_t registers it: their invariants fail
        (("def_t_t", "t_t", "t_t"), False),
        ((None, None, None), False),
    ],
)
def test_kernels_are_compared_by_function(functions: tuple[str | None, ...], holds: bool) -> None:
    """The math kernel stays live at AutogradNestedTensor, where Autograd's is the canonical one."""
    dispatcher, name = Dispatcher(universes.load("torch-2.15")), OperatorName("demo::foo")
    keys = ("CompositeImplicitAutograd", "Autograd", "NestedTensorCPU")
    for key, function in zip(keys, functions, strict=True):
        dispatcher.implement(name, key, Kernel(f"fn_{key}", function))
    assert (dispatcher.stale_entries(name) == []) is holds
    assert dispatcher.operator(name).live["AutogradNestedTensor"].kernel == Kernel(
        "fn_CompositeImplicitAutograd", functions[0]
    )
