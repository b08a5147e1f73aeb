"""Questions to a PyTorch, at random or all there are, and where its answers differ from ours.

Each is asked live, and of recordings (``python -m tests.recordings``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from dispatch_cli import api, universes
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.universe import Universe
from tests import in_pytorch
from tests.capture.support import captured, live_universe


class Side:
    """A PyTorch as the engine has it. name: of its captured state. data: of its universe, or the name of that."""

    def __init__(self, name: str, data: Any) -> None:
        self.name = name
        self.data = data

    @cached_property
    def universe(self) -> Universe:
        """Its keys."""
        return universes.load(self.data) if isinstance(self.data, str) else universes.from_data(self.data)

    @cached_property
    def state(self) -> State:
        """Everything that it registers."""
        return api.load_state([], bases=[self.name]) if self.name == self.data else api.load_state([self.name])


def live_side() -> Side:
    """The PyTorch of the Python that is named for live tests."""
    return Side(str(captured()), live_universe())


def embedded_side(version: str) -> Side:
    """The embedded universe and state of a version, such as ``2.15.0``."""
    name = f"torch-{version.rpartition('.')[0]}"
    return Side(name, name)


def answers_to(case: str) -> Callable[[str, Any], Any]:
    """Answers of a case of `live_answers.py` by the PyTorch of a Python."""
    return lambda python, asked: in_pytorch.ask(python, Path(__file__).with_name("live_answers.py"), [case, asked])


class LiveCase(NamedTuple):
    """A kind of questions.

    answers: of a Python that has PyTorch, or a script that it runs and that prints them. ask: questions by a seed.
    wrong: where ours differs, in words; it also holds that enough was asked.
    """

    answers: Path | Callable[[str, Any], Any]
    ask: Callable[[Side, int], Any]
    wrong: Callable[[Side, Any, Any], list[str]]

    def answered(self, python: str, asked: Any) -> Any:
        """The answers of that Python's PyTorch."""
        return (
            in_pytorch.ask(python, self.answers, asked)
            if isinstance(self.answers, Path)
            else self.answers(python, asked)
        )
