"""Simulated calls in every format and at every width: nothing is lost, nothing is wider than the terminal."""

from __future__ import annotations

import json
import random
import re

import pytest
from rich.cells import cell_len

from dispatch_cli.api import load_state
from dispatch_cli.engine.call.higher_order.simulate import simulate_higher_order
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.call import CONTEXT_WORDS, TENSOR_WORDS, CallError, Context, TensorSpec
from dispatch_cli.model.names import OperatorName
from dispatch_cli.render.resolve import resolve_text
from dispatch_cli.render.resolve_higher_order import resolve_higher_order_text
from dispatch_cli.render.resolve_higher_order_machine import resolve_higher_order_json, resolve_higher_order_markdown
from dispatch_cli.render.resolve_machine import resolve_json, resolve_markdown
from dispatch_cli.render.style import Style
from dispatch_cli.report.resolve import resolve_report
from dispatch_cli.report.resolve_higher_order import resolve_higher_order_report

COUNT = 120
WIDTHS = (40, 80, 200)
NAMES = {"fake": ("fake", "fake=A", "fake=B"), "subclass": ("subclass=MyTensor",)}
VALUES = {
    "autocast": ("autocast cpu", "autocast cuda"),
    "mode": ("mode=FakeTensorMode", "mode=ProxyTorchDispatchMode", "mode=M"),
    "pre_dispatch_mode": ("pre_dispatch_mode=ProxyTorchDispatchMode",),
    "include": ("include=Tracer", "include=CPU,CUDA"),
    "exclude": ("exclude=AutogradCPU",),
}


@pytest.fixture(scope="module")
def state() -> State:
    return load_state([], bases=["torch-2.15"])


def tensor(rng: random.Random) -> TensorSpec:
    words = [rng.choice(TENSOR_WORDS) for _ in range(rng.choice((0, 0, 1, 2)))]
    return TensorSpec.parse(
        " ".join([rng.choice(("cpu", "cuda", "meta")), *(rng.choice(NAMES.get(w, (w,))) for w in words)])
    )


def context(rng: random.Random) -> Context:
    word = rng.choice(CONTEXT_WORDS)
    return Context.parse(rng.choice(VALUES.get(word, (word,))))


def texts(state: State, rng: random.Random) -> tuple[dict[int | None, str], str, str, list[str]]:
    """A random call: the texts for people by width, JSON, Markdown, and the slots that it came to."""
    tensors = [tensor(rng) for _ in range(rng.randint(0, 2))]
    contexts = [context(rng) for _ in range(rng.choice((0, 0, 1, 2)))]
    if rng.random() < 0.3:
        operator = rng.choice(state.higher_order_operators)
        called = simulate_higher_order(state, operator, tensors, contexts)
        higher = resolve_higher_order_report(state.higher_order_table(operator), called)
        shown = {width: "".join(resolve_higher_order_text(higher, Style(width))) for width in (*WIDTHS, None)}
        slots = [hop.key for hop in called.hops]
        return shown, "".join(resolve_higher_order_json(higher)), "".join(resolve_higher_order_markdown(higher)), slots
    name = OperatorName.parse(rng.choice(state.dispatcher.names()))
    call = simulate(state, name, tensors, contexts)
    report = resolve_report(state, call)
    shown = {width: "".join(resolve_text(report, Style(width))) for width in (*WIDTHS, None)}
    slots = [hop.slot for hop in call.hops]
    return shown, "".join(resolve_json(report)), "".join(resolve_markdown(report)), slots


def test_random_calls(state: State) -> None:
    rng = random.Random(5)
    done = 0
    while done < COUNT:
        try:
            shown, as_json, as_markdown, slots = texts(state, rng)
        except CallError:
            continue
        done += 1
        for width, text in shown.items():
            assert width is None or max(map(cell_len, text.splitlines())) <= width
        pipe = shown[None]
        for number, slot in enumerate(slots, start=1):
            assert re.search(rf"^Step {number} +{slot}: ", pipe, re.MULTILINE)
        assert len(slots) == 1 or f"\nSlots: {' > '.join(slots)}\n" in pipe
        data = json.loads(as_json)
        steps = data.get("steps") or [step for one in data["selections"] for step in one["steps"]]
        assert [step.get("slot") or step["key"] for step in steps] == slots
        assert as_markdown.count("| Key | From | Step | ") >= 1
