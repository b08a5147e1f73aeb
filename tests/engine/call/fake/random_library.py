"""Random operators of random libraries, as the live script defines them and as declarations."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

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
    "CPU",
    "CPU",
    "CUDA",
    "Meta",
    "CompositeExplicitAutograd",
    "CompositeImplicitAutograd",
    "SparseCPU",
    "AutogradCPU",
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
    found = []
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
        found.append(RandomOperator(f"{name}{schema}", returns, rng.choice(TAGS), tuple(steps)))
    return found


def plan_of(operators: list[RandomOperator]) -> list[dict[str, Any]]:
    """The library of a plan of the live script."""
    return [one._asdict() for one in operators]


def declarations_of(operators: list[RandomOperator], universe: Any) -> dict[str, Any]:
    """The same as a declaration file. Fake implementations have the name of their operator."""
    entries = []
    for one in operators:
        libraries: list[dict[str, Any]] = []
        namespace, _, rest = one.schema.partition("::")
        short = rest.partition("(")[0]
        libraries.append({"define": [{"func": rest, "tags": [*one.tags]}]})
        for kind, key in one.steps:
            kernel = {"kernel": f"{short}_{key}", "python": True, "dispatch_key": key}
            if kind == "autograd":
                kernel["redispatches"] = "below-autograd"
            libraries.append({"fake": {short: f"{short}_fake"}} if kind == "fake" else {"impl": {short: kernel}})
        entries += [{"kind": "FRAGMENT", "namespace": namespace, **library} for library in libraries]
    return {"dispatch": 1, "universe": universe, "libraries": entries}
