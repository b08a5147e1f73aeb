"""The Python side of operators against a live PyTorch: every answer, and what is remembered after every act."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli import universes
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.dispatcher.refusal import Refused
from dispatch_cli.engine.python.operator import Choice, Handles, PythonOperator
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema import parse_schema
from dispatch_cli.model.universe import Universe
from tests import in_pytorch
from tests.capture.support import live_universe, torch_python

pytestmark = pytest.mark.live

COUNT = 1000


def answer(choice: Choice) -> list[str]:
    """A choice as the script says it."""
    found = [choice.handles.value]
    return found if choice.handles is Handles.MODE_IMPLS else [*found, str(choice.key)]


def asked(operator: PythonOperator, key: str) -> list[str]:
    return answer(operator.dispatch(key))


def attempt(act: Callable[[], list[str] | None]) -> list[str]:
    try:
        return act() or ["done"]
    except Refused as error:
        return ["error", str(error)]


def replayed(universe: Universe, history: dict[str, Any]) -> list[Any]:
    """The same acts on ours, with our answers."""
    dispatcher = Dispatcher(universe)
    name = OperatorName(f"python_operators::{history['name']}")
    dispatcher.define(parse_schema(f"{name}(Tensor x) -> Tensor"), "here")
    operator = PythonOperator(dispatcher, name)
    acts = []
    for kind, key, theirs, _ in history["acts"]:
        found = ["done"]
        if kind == "cpp":
            if theirs == ["done"]:
                dispatcher.implement(name, key, Kernel(debug=key))
            found = theirs  # what torch.library takes is not asked here
        elif kind == "python":
            wanted = "Python" if key == "QuantizedCPU" else key
            found = attempt(partial(operator.py_impl, wanted, wanted))
        elif kind == "mode":
            found = attempt(partial(operator.py_impl_mode, "Mode", "rule"))
        elif kind == "uncache":
            operator.uncache(key)
        else:
            found = attempt(partial(asked, operator, key))
        acts.append([kind, key, found, {key: answer(choice) for key, choice in operator.cache.items()}])
    return acts


def test_histories() -> None:
    seed = int(os.environ.get("DISPATCH_CLI_LIVE_SEED") or secrets.randbits(32))
    script = Path(__file__).with_name("live_python_operators.py")
    command = [torch_python(), str(script), str(seed), str(COUNT)]
    output = in_pytorch.run(command).stdout
    histories = json.loads(output)
    universe = universes.from_data(live_universe())
    different = [
        (history["acts"], ours) for history in histories if (ours := replayed(universe, history)) != history["acts"]
    ]
    assert different == [], f"seed {seed}: {len(different)} of {len(histories)}"
    acts = [act for history in histories for act in history["acts"]]
    assert {act[2][0] for act in acts} == {"done", "error", "cpp-kernel", "python-kernel", "mode-impls"}
