"""Questions to a PyTorch, and where its answers differ from ours.

They are recorded with their answers (``python -m tests.recordings``), and asked again of a live PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from dispatch_cli import api, universes
from dispatch_cli.engine.state import State
from dispatch_cli.model.universe import Universe, backend_keys
from tests import in_pytorch
from tests.capture.support import captured, live_universe
from tests.support import load_recording


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


@cache
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


def recorded_questions(version: str, name: str, universe: Universe) -> Any:
    """Questions of a recording, with the keys of that universe."""
    asked = load_recording(f"{version}.random")[name][0]
    keys = {
        "ids": dict(universe.ids),
        "functionalities": list(universe.per_backend),
        "keys": sorted(key for key in backend_keys(universe) if key in universe.parseable),
    }
    return {**asked, **{field: keys[field] for field in keys if field in asked}} if isinstance(asked, dict) else asked


class LiveCase(NamedTuple):
    """A kind of questions.

    answers: of a Python that has PyTorch, or a script that it runs and that prints them. wrong: where ours differs, in
    words; it also holds that enough was asked. ask: new questions by a seed, where the recorded ones are too few.
    """

    answers: Path | Callable[[str, Any], Any]
    wrong: Callable[[Side, Any, Any], list[str]]
    ask: Callable[[Side, int], Any] | None = None

    def answered(self, python: str, asked: Any) -> Any:
        """The answers of that Python's PyTorch."""
        return (
            in_pytorch.ask(python, self.answers, asked)
            if isinstance(self.answers, Path)
            else self.answers(python, asked)
        )
