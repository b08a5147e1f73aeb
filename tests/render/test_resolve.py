"""Simulated calls in every format and at every width: nothing is lost, nothing is wider than the terminal."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import pytest
from rich.cells import cell_len

from dispatch_cli.answers.resolve import document as resolve
from dispatch_cli.answers.resolve import higher_order_document as resolve_higher_order
from dispatch_cli.answers.resolve.higher_order import ResolveHigherOrderReport, resolve_higher_order_report
from dispatch_cli.answers.resolve.report import ResolveReport, resolve_report
from dispatch_cli.api import load_state
from dispatch_cli.engine.call.higher_order.simulate import simulate_higher_order
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.call import CONTEXT_WORDS, TENSOR_WORDS, CallError, Context, TensorSpec
from dispatch_cli.model.names import OperatorName
from dispatch_cli.render.data import json_text
from dispatch_cli.render.document import Block
from dispatch_cli.render.html import html
from dispatch_cli.render.markdown import markdown
from dispatch_cli.render.text import text
from dispatch_cli.render.text_lines import Style

COUNT = 40
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


class Shown(NamedTuple):
    """A call in every format. texts: by width. slots: that it came to."""

    texts: dict[int | None, str]
    json: str
    markdown: str
    html: str
    slots: list[str]


def shown(state: State, rng: random.Random) -> Shown:
    """A random call."""
    tensors = [tensor(rng) for _ in range(rng.randint(0, 2))]
    contexts = [context(rng) for _ in range(rng.choice((0, 0, 1, 2)))]
    if rng.random() < 0.3:
        operator = rng.choice(state.higher_order_operators)
        called = simulate_higher_order(state, operator, tensors, contexts)
        higher = resolve_higher_order_report(state, operator, called)
        return written(higher, partial(resolve_higher_order.document, higher), [hop.key for hop in called.hops])
    name = OperatorName.parse(rng.choice(state.dispatcher.names()))
    call = simulate(state, name, tensors, contexts)
    report = resolve_report(state, call)
    return written(report, partial(resolve.document, report), [hop.slot for hop in call.hops])


def written(
    report: ResolveReport | ResolveHigherOrderReport, document: Callable[..., Iterator[Block]], slots: list[str]
) -> Shown:
    return Shown(
        texts={width: "".join(text(document(width), Style(width))) for width in (*WIDTHS, None)},
        json="".join(json_text(report)),
        markdown="".join(markdown(document())),
        html="".join(html(document(), "a call")),
        slots=slots,
    )


def test_random_calls(state: State) -> None:
    rng = random.Random(5)
    done = 0
    while done < COUNT:
        try:
            example = shown(state, rng)
        except CallError:
            continue
        done += 1
        slots = example.slots
        for width, printed in example.texts.items():
            assert width is None or max(map(cell_len, printed.splitlines())) <= width
        pipe = example.texts[None]
        for number, slot in enumerate(slots, start=1):
            assert re.search(rf"^Step {number} +{slot}: ", pipe, re.MULTILINE)
            assert f"\n- Step {number}: {slot}: " in example.markdown
            assert f'<dt><span class="head">Step {number}</span></dt><dd>{slot}: ' in example.html
        assert len(slots) == 1 or f"\nSlots: {' > '.join(slots)}\n" in pipe
        data = json.loads(example.json)
        steps = data.get("steps") or [step for selection in data["selections"] for step in selection["steps"]]
        assert [step.get("slot") or step["key"] for step in steps] == slots
        assert example.markdown.count("| Key | From | Step | ") >= 1
