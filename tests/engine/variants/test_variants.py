"""Variants: consistent, few, with every case of every operator, and never with two branches that exclude each other."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping

import pytest

from dispatch_cli.api import run_declarations, run_variant
from dispatch_cli.engine.variants import MOST_CASES, Variants, case_of
from dispatch_cli.model.conditions.condition import atoms, parse_condition, value
from dispatch_cli.model.conditions.simplify import all_of
from dispatch_cli.model.conditions.worlds import assignments, groups_of
from dispatch_cli.model.declarations import Block, Declarations, Implement, LibraryKind, OpenBlock, Step
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.universes import load

KEYS = ("CPU", "CUDA", "XLA", "Autograd")
TEXTS = ("defined(A)", "not defined(A)", "A >= 2", "A < 2", "B", "not B", "C or B", "D and C", "E == 1", "E == 2")


def step(operator: str, key: str, *texts: str) -> Step:
    block = Block(LibraryKind.FRAGMENT, operator.partition("::")[0], None, "x.cpp", 1)
    when = tuple(map(parse_condition, texts))
    return Implement(block, OperatorName(operator), key, Kernel("f"), None, when)


def declared(steps: list[Step]) -> Declarations:
    return Declarations(load("torch-2.15"), steps=tuple(steps))


def random_steps(dice: random.Random) -> list[Step]:
    return [
        step(f"m::op{dice.randrange(5)}", dice.choice(KEYS), *dice.sample(TEXTS, dice.randrange(3)))
        for _ in range(dice.randrange(1, 16))
    ]


def consistent(known: dict[str, bool]) -> bool:
    return known in list(assignments(groups_of(known)))


def test_every_case_of_every_operator_is_in_a_variant_that_is_consistent() -> None:
    dice = random.Random(11)
    for _ in range(150):
        steps = random_steps(dice)
        variants = Variants(declared(steps), {})
        for variant in variants.variants:
            assert consistent(variant.known)
        for unit, family in variants.family_of.items():
            own = [item for item in steps if isinstance(item, Implement) and item.operator.name == unit]
            conditions = {all_of(item.when) for item in own if item.when}
            texts = dict.fromkeys(atom for condition in conditions for atom in atoms(condition))
            every = {
                frozenset(condition for condition in conditions if value(condition, known))
                for known in assignments(groups_of(texts))
            }
            looked_at = set()
            for variant in variants.variants:
                if unit in variant.cases:
                    values = case_of(family.conditions, variant.known).values
                    looked_at.add(frozenset(itertools.compress(family.conditions, values)))
                    position = variant.cases[unit]
                    assert family.cases[position].values == values
            assert looked_at == every


def test_the_first_variant_has_the_branch_with_the_most_registrations() -> None:
    less = [step("m::a", "CPU", "defined(A)")]
    more = [step("m::a", key, "not defined(A)") for key in KEYS]
    variants = Variants(declared(less + more), {})
    assert variants.default.known == {"defined(A)": False}
    assert Variants(declared(less + more), {"A": "1"}).default.known == {"defined(A)": True}


@pytest.mark.parametrize(("first", "second"), [("B", "not B"), ("not B", "B")])
def test_of_equal_branches_the_first_is_shown(first: str, second: str) -> None:
    variants = Variants(declared([step("m::a", "CPU", first), step("m::a", "CPU", second)]), {})
    assert variants.default.known == {"B": first == "B"}


def test_branches_that_exclude_each_other_are_never_loaded_together() -> None:
    steps = [OpenBlock(Block(LibraryKind.FRAGMENT, "m", None, "x.cpp", 1))]
    steps += [step("m::a", "CPU", "defined(A)"), step("m::a", "CPU", "not defined(A)")]
    state = run_declarations(declared(steps))
    assert state.variants is not None
    for variant in state.variants.variants:
        kernels = run_variant(state, variant).dispatcher.operator(OperatorName("m::a")).kernels
        assert len(kernels["CPU"]) == 1


def test_operators_with_other_conditions_share_variants() -> None:
    steps = [step(f"m::op{number}", "CPU", f"A{number}") for number in range(100)]
    assert len(Variants(declared(steps), {}).variants) == 2


def test_the_base_decides_conditions_on_the_version_of_pytorch() -> None:
    texts = (
        "torch.__version__ >= 2.9",
        "not torch.__version__ >= 2.10.1",
        "torch.__version__ >= 2.11",
        "TORCH_VERSION_MAJOR > 2 or (TORCH_VERSION_MAJOR == 2 and TORCH_VERSION_MINOR >= 10)",
        "TORCH_VERSION_MINOR < 6",
    )
    steps = [step(f"m::op{number}", "CPU", text) for number, text in enumerate(texts)]
    over_base = Declarations(load("torch-2.10"), steps=tuple(steps), bases=("torch-2.10",))
    assert [steps.index(kept) for kept in only_variant(over_base).steps] == [0, 1, 3]
    assert [steps.index(kept) for kept in only_variant(over_base, {"torch.__version__": "2.15.0"}).steps] == [0, 2, 3]
    assert len(Variants(declared(steps), {}).variants) > 1  # no base, no version


def only_variant(declarations: Declarations, chosen: Mapping[str, str] | None = None) -> Declarations:
    variants = Variants(declarations, chosen or {})
    (variant,) = variants.variants
    return variants.select(variant)


def test_very_many_combinations_are_cut_short_and_said() -> None:
    steps = [step("m::a", "CPU", f"A{number}") for number in range(100)]
    variants = Variants(declared(steps), {})
    assert len(variants.variants) <= MOST_CASES + 1
    assert variants.capped == ["m::a"]
    everything: dict[str, bool] = dict.fromkeys(variants.atoms, True)
    assert variants.default.known == everything


def test_guards_are_what_python_alone_asks_and_never_denies() -> None:
    """Related to no other atom, as files of which one is in the build are."""
    conditions = {
        "built()": "a.py",
        "B": "a.py",
        "defined(C)": "a.cpp",
        "a.py is in the build, not b.py": "a.py",
        "b.py is in the build, not a.py": "b.py",
        "torch.cuda.is_available()": "a.py",
        "hasattr(torch.ops.my, 'f')": "a.py",
        "D": "a.py",
        "not D": "a.py",
        "E and F": "a.py",
        "G or H": "a.py",
    }
    steps = [step("m::op", "CPU", text) for text in conditions]
    steps = [
        item._replace(span=Span(file, number + 1, 1)) if isinstance(item, Implement) else item
        for number, (item, file) in enumerate(zip(steps, conditions.values(), strict=True))
    ]
    assert Variants(declared(steps), {}).guards == {"built()", "B", "hasattr(torch.ops.my, 'f')", "E", "F"}
    steps.append(step("m::op", "CUDA", "not B")._replace(span=Span("a.cpp", 1, 1)))
    assert Variants(declared(steps), {}).guards == {"built()", "hasattr(torch.ops.my, 'f')", "E", "F"}
