"""Call every operator of a live PyTorch with fake tensors, and compare what happens with what the engine says.

usage: python -m tests.engine.call.fake PYTHON [SEED] [KINDS] [RANDOM]

KINDS: kinds of calls, separated by commas (see `live_calls.py`). RANDOM: how many random operators are called besides.
It prints a table by what FakeTensorMode did: calls made, judged and agreed, those of which only the way is judged and
not the error, those whose end the engine leaves open; and calls that cannot be made, by reason.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from dispatch_cli.api import load_state
from dispatch_cli.engine.history.state import State
from tests.capture.support import TORCH_PYTHON
from tests.engine.call.fake.judge import Verdict, judge, live_answers
from tests.engine.live_cases import live_side

NAMESPACES = ("fakelib", "fakelib", "fakelib", "vision", "torchtext")
"""Mostly one that PyTorch does not know; and two for which FakeTensorMode runs real kernels on zeros."""
SCHEMAS = (
    ("(Tensor x) -> Tensor", "tensor"),
    ("(Tensor x, Tensor? y, int n=1) -> Tensor", "tensor"),
    ("(Tensor[] xs) -> Tensor", "tensor"),
    ("(Tensor(a!) x) -> ()", "nothing"),
    ("(Tensor x, Tensor(a!) y) -> ()", "nothing"),
    ("(Tensor(a!) x) -> Tensor(a!)", "first"),
    ("(int n) -> Tensor", "tensor"),
    ("(int n, *, Device? device=None) -> Tensor", "tensor"),
    ("(int n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None) -> Tensor", "tensor"),
    ("(Tensor x) -> ()", "nothing"),
)
TAGS = (
    (),
    (),
    (),
    (),
    ("pt2_compliant_tag",),
    ("data_dependent_output",),
    ("dynamic_output_shape",),
    ("inplace_view",),
)
KEYS = (
    *("CPU", "CPU", "CUDA", "Meta", "CompositeExplicitAutograd", "CompositeImplicitAutograd", "SparseCPU"),
    *("AutogradCPU",),
)
COMPOSITE = "CompositeImplicitAutograd"


class RandomOperator(NamedTuple):
    """An operator: its schema, what it returns, its tags, and what is registered in turn: a kind and a key."""

    schema: str
    returns: str
    tags: tuple[str, ...]
    steps: tuple[tuple[str, str | None], ...]

    @property
    def name(self) -> str:
        """Its name."""
        return self.schema.partition("(")[0]


def operators_of(rng: random.Random, count: int, fakes_override: bool = True) -> list[RandomOperator]:
    """Random operators; a fake implementation is registered only where PyTorch takes one.

    fakes_override: ``Universe.fake_overrides``: PyTorch takes one beside a kernel at Meta.
    """
    verdicts = []
    for number in range(count):
        schema, returns = rng.choice(SCHEMAS)
        keys = (
            rng.sample(sorted(set(KEYS)), rng.choice((0, 1, 1, 2, 2, 3))) if rng.random() < 0.5 else [rng.choice(KEYS)]
        )
        keys.sort(key=COMPOSITE.__eq__)  # after it, torch.library takes no kernel at Meta
        steps: list[tuple[str, str | None]] = [("autograd" if key == "AutogradCPU" else "kernel", key) for key in keys]
        takes_fake = COMPOSITE not in keys and (fakes_override or "Meta" not in keys)
        if rng.random() < 0.35 and takes_fake:
            steps.insert(rng.randint(0, len(steps)), ("fake", None))
        name = f"{rng.choice(NAMESPACES)}::fake{number}"
        verdicts.append(RandomOperator(f"{name}{schema}", returns, rng.choice(TAGS), tuple(steps)))
    return verdicts


def plan_of(operators: list[RandomOperator]) -> list[dict[str, Any]]:
    """The library of a plan of the live script."""
    return [operator._asdict() for operator in operators]


def declarations_of(operators: list[RandomOperator], universe: Any) -> dict[str, Any]:
    """The same as a declaration file. Fake implementations have the name of their operator."""
    entries = []
    for operator in operators:
        libraries: list[dict[str, Any]] = []
        namespace, _, rest = operator.schema.partition("::")
        short = rest.partition("(")[0]
        libraries.append({"define": [{"func": rest, "tags": [*operator.tags]}]})
        for kind, key in operator.steps:
            kernel = {"kernel": f"{short}_{key}", "python": True, "dispatch_key": key}
            if kind == "autograd":
                kernel["redispatches"] = "below-autograd"
            libraries.append({"fake": {short: f"{short}_fake"}} if kind == "fake" else {"impl": {short: kernel}})
        entries += [{"kind": "FRAGMENT", "namespace": namespace, **library} for library in libraries]
    return {"dispatch": 1, "universe": universe, "libraries": entries}


KINDS = "plain,alone,requires_grad,no_grad,inference_mode,sparse,cuda,mixed,modes,modes alone"


def table(verdicts: list[Verdict]) -> str:
    """The table, and every call that differs."""
    simulated = [verdict for verdict in verdicts if verdict.path]
    lines = [f"{'path':<18}{'calls':>8}{'judged':>8}{'agreed':>8}{'in part':>10}{'left open':>11}"]
    for path in sorted({verdict.path for verdict in simulated}):
        own = [verdict for verdict in simulated if verdict.path == path]
        lines.append(_row(path, own))
    lines.append(_row("all", simulated))
    lines += ["", "not makeable:"]
    reasons = Counter(verdict.why for verdict in verdicts if not verdict.path)
    lines += [f"{count:>8}  {why}" for why, count in reasons.most_common()]
    lines += ["", "judged in part:"]
    lines += [
        f"{count:>8}  {why}"
        for why, count in Counter(verdict.part for verdict in simulated if verdict.part).most_common()
    ]
    lines += ["", "not judged:"]
    lines += [
        f"{count:>8}  {why}" for why, count in Counter(gap.why for gap in simulated if not gap.judged).most_common()
    ]
    lines += ["", "different:"]
    for gap in simulated:
        if gap.judged and not gap.agrees:
            answer = gap.answer
            text = f"{answer['path']} {answer.get('function') or ''} {answer.get('error') or ''}".strip()
            lines.append(f"  {answer['operator']} {answer['kind']}: {text}; {gap.why}")
    return "\n".join(lines)


def _row(word: str, verdicts: list[Verdict]) -> str:
    judged, agreed = sum(verdict.judged for verdict in verdicts), sum(verdict.agrees for verdict in verdicts)
    in_part, left_open = sum(bool(verdict.part) for verdict in verdicts), sum(verdict.left_open for verdict in verdicts)
    return f"{word:<18}{len(verdicts):>8}{judged:>8}{agreed:>8}{in_part - left_open:>10}{left_open:>11}"


def state_of(operators: list[RandomOperator], universe: Any) -> State:
    """The state of random operators, of which PyTorch knows nothing but what is registered."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "library.json"
        file.write_text(json.dumps(declarations_of(operators, universe)), encoding="utf-8")
        return load_state([str(file)])


def main(python: str, seed: str = "", kinds: str = KINDS, count: str = "500") -> None:
    """Make the calls and print the table."""
    seed, of_calls = seed or str(random.SystemRandom().randrange(1, 1 << 31)), kinds.split(",")
    print(f"seed {seed}, calls: {kinds}\n")
    os.environ[TORCH_PYTHON] = python
    side = live_side()
    print(table([*judge(side.state, live_answers(python, None, of_calls, seed))]))
    if int(count):
        print(f"\n{count} random operators:\n")
        made = operators_of(random.Random(seed), int(count), side.universe.fake_overrides)
        answers = live_answers(python, [operator.name for operator in made], of_calls, seed, plan_of(made))
        print(table([*judge(state_of(made, side.data), answers)]))


if __name__ == "__main__":
    main(*sys.argv[1:])
