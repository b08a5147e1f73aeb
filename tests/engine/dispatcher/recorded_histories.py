"""Histories as ``record_sequences.py`` records them, replayed here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dispatch_cli import universes
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.dispatcher.dump import dump_registrations, dump_table
from dispatch_cli.engine.dispatcher.library import Library
from dispatch_cli.engine.table.registration import Refused
from dispatch_cli.model.declarations import Block, LibraryKind
from dispatch_cli.model.kernel import AliasAnalysisKind, Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.parser import parse_schema, parse_signature
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
            block = Block(LibraryKind.IMPL, "_", step["key"], "/dev/null", step.get("line", 0))
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
            library.fall_back(Kernel(library.debug, fallthrough=True))

    def invariants_hold(self) -> bool:
        """True if the live table of the operator equals the canonical one; an operator that is not there is fine."""
        return self.name not in self.dispatcher or not self.dispatcher.stale_entries(self.name)


def differing_steps(universe: Universe, histories: Iterable[list[dict[str, Any]]]) -> tuple[int, list[str]]:
    """Number of steps of the histories; and the steps where ours is different, with both."""
    steps, wrong = 0, []
    for index, history in enumerate(histories):
        replay = Replay(universe, index, "impl_t_t")
        for number, step in enumerate(history):
            steps += 1
            after = step["after"]
            theirs = (step.get("error"), after["dump"], after["table"], after["invariants"])
            ours = (
                replay.run(number, step),
                dump_registrations(replay.dispatcher, replay.name),
                dump_table(replay.dispatcher, replay.name),
                replay.invariants_hold(),
            )
            if ours != theirs:
                wrong.append(f"history {replay.namespace}, step {number}: {step['do']}\n  {ours}\n  {theirs}")
    return steps, wrong


def replays(version: str, function: str | None) -> list[tuple[list[dict[str, Any]], Replay]]:
    """The recorded histories of a version, each with a replay that has not begun."""
    universe = universes.load(UNIVERSE_OF[version])
    histories = load_recording(f"{version}.histories")["histories"]
    return [(history, Replay(universe, index, function)) for index, history in enumerate(histories)]
