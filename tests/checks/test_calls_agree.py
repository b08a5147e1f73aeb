"""Claims of the checks about calls agree with simulated calls, over random sets of registrations.

The simulation is held against live PyTorch (tests/engine/call). Every operator here has its live table in order, so
that only what its registrations determine counts.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from dispatch_cli.checks.check import Finding, Severity
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.trace import Call, EndKind, ErrorKind
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.state import State
from dispatch_cli.model.calls.call import Context, TensorSpec
from dispatch_cli.model.names import OperatorName
from tests.checks.helpers import StateOf, findings

OPERATORS = 150
TENSORS = {
    "CPU": "cpu",
    "SparseCPU": "cpu sparse",
    "SparseCsrCPU": "cpu sparse_csr",
    "QuantizedCPU": "cpu quantized",
    "NestedTensorCPU": "cpu nested",
    "MkldnnCPU": "cpu mkldnn",
    "CUDA": "cuda",
    "SparseCUDA": "cuda sparse",
    "XPU": "xpu",
    "XLA": "xla",
    "MTIA": "mtia",
    "HIP": "hip",
    "PrivateUse1": "privateuseone",
}
"""Tensors whose calls end at each of these keys."""
OTHERS = (
    *("Autograd", "AutogradCPU", "AutogradOther", "AutogradNestedTensor", "CompositeImplicitAutograd"),
    *("CompositeImplicitAutogradNestedTensor", "CompositeExplicitAutograd"),
    *("CompositeExplicitAutogradNonFunctional",),
)
INFERENCE = (Context.parse("inference_mode"),)
IMPLICIT, EXPLICIT = "CompositeImplicitAutograd", "CompositeExplicitAutograd"


def declaration(universe: str, seed: int, schema: str) -> str:
    """Operators with up to four kernels each, CompositeImplicitAutograd more often than others."""
    chance = random.Random(seed)
    lines = [f"dispatch: 1\nuniverse: {universe}\noperators:"]
    for number in range(OPERATORS):
        keys = dict.fromkeys(chance.choices([*TENSORS, *OTHERS, IMPLICIT, IMPLICIT], k=chance.randint(1, 4)))
        kernels = ", ".join(f"{key}: {_kernel(chance, key, number)}" for key in keys)
        lines.append(f"  - func: demo::op{number}{schema}\n    dispatch: {{{kernels}}}")
    return "\n".join(lines)


def _kernel(chance: random.Random, key: str, number: int) -> str:
    """Now and then a fallthrough, where people register one: at the autograd keys of backends."""
    return "fallthrough" if key in ("Autograd", "AutogradCPU") and chance.random() < 0.3 else f"k{number}"


class Said:
    """Findings about the operators, by check and operator."""

    def __init__(self, state: State) -> None:
        self._found: dict[tuple[str, str | None], list[Finding]] = {}
        for finding in findings(state):
            self._found.setdefault((finding.check, finding.operator), []).append(finding)

    def of(self, check: str, name: OperatorName) -> list[Finding]:
        return self._found.get((check, str(name)), [])

    def fact(self, check: str, name: OperatorName, fact: str) -> set[str]:
        """The keys in the facts of that name."""
        facts = [dict(finding.details).get(fact, "") for finding in self.of(check, name)]
        return {key for text in facts for key in text.split(", ") if key}


@pytest.fixture(params=["torch-2.15", "torch-2.4"])
def universe(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def operators(state: State) -> Iterator[tuple[OperatorName, frozenset[str]]]:
    for text in state.dispatcher.names():
        name = OperatorName.parse(text)
        state.dispatcher.settle(name)
        yield name, frozenset(state.dispatcher.active(name))


def autograd_hops(call: Call, state: State) -> dict[str, Rule]:
    """The autograd slots that a call went through, with their rules."""
    covered = state.dispatcher.universe.covered_by("Autograd")
    return {hop.slot: hop.live.rule for hop in call.hops if hop.slot in covered}


@pytest.mark.parametrize("seed", [1])
def test_calls_with_tensors(universe: str, seed: int, state_of: StateOf) -> None:
    state = state_of(declaration(universe, seed, "(Tensor x) -> Tensor"))
    claims = Said(state)
    seen = dict.fromkeys(("bypassed", "raises", "no derivative", "no autograd", "ambiguous"), 0)
    for name, keys in operators(state):
        for key, text in TENSORS.items():
            call = simulate(state, name, (TensorSpec.parse(text),))
            above = autograd_hops(call, state)
            first, rule = next(iter(above.items()), ("", Rule.KERNEL))
            error = call.end.error.kind if call.end.error is not None else None
            where = (name, keys, key, above, call.end)

            bypassed = key in keys and rule is Rule.MATH
            assert bypassed == (key in claims.fact("sparse-bypass", name, "bypassed")), where
            if bypassed:
                assert call.end.kind is EndKind.DECOMPOSITION, where
                seen["bypassed"] += 1

            assert (error is ErrorKind.AMBIGUOUS) == (first == "AutogradOther" and rule is Rule.AMBIGUOUS), where
            if error is ErrorKind.AMBIGUOUS:
                (finding,) = claims.of("ambiguous-autogradother", name)
                assert key not in keys or finding.severity is Severity.ERROR, where
                seen["ambiguous"] += 1

            displaced = IMPLICIT in keys and EXPLICIT not in keys and rule in (Rule.MISSING, Rule.FALLBACK)
            named = first in claims.fact("math-kernel-displaced", name, "autograd keys")
            worst = [finding.severity for finding in claims.of("math-kernel-displaced", name)]
            assert named == (displaced and (rule is Rule.MISSING or worst == [Severity.WARNING])), where
            assert (worst == [Severity.ERROR]) or not (displaced and rule is Rule.MISSING), where
            if named:
                assert (error is ErrorKind.NO_KERNEL) == (worst == [Severity.ERROR]), where
                seen["raises" if error is not None else "no derivative"] += 1

            served = key in keys and not text.endswith("quantized")
            if served and IMPLICIT not in keys and rule in (Rule.MISSING, Rule.FALLBACK):
                (finding,) = claims.of("no-autograd-kernel", name)
                assert rule is Rule.FALLBACK or finding.severity is Severity.ERROR, where
                seen["no autograd"] += 1
    assert sum(count > 10 for count in seen.values()) >= 4, seen


@pytest.mark.parametrize("seed", [3])
def test_calls_in_inference_mode(universe: str, seed: int, state_of: StateOf) -> None:
    state = state_of(declaration(universe, seed, "(Tensor x) -> Tensor"))
    claims = Said(state)
    alone = 0
    for name, keys in operators(state):
        calls = [
            simulate(state, name, (TensorSpec.parse(f"{text} inference"),), INFERENCE) for text in TENSORS.values()
        ]
        returns = [call.end.kind is not EndKind.ERROR for call in calls]
        # a kernel at MTIA is one that a call gets to, whatever the autograd keys hold
        assert all(returns[position] for position, key in enumerate(TENSORS) if key in keys), (name, keys)
        active = state.dispatcher.active(name)
        above = any(key.startswith("Autograd") and not active[key].kernel.fallthrough for key in keys)
        assert bool(claims.of("autograd-only", name)) == (above and not any(returns)), (name, keys)
        alone += above and not any(returns)
    assert alone > 2


def test_calls_without_tensors(universe: str, state_of: StateOf) -> None:
    state = state_of(declaration(universe, 4, "(int size) -> Tensor"))
    claims = Said(state)
    unreachable = 0
    for name, keys in operators(state):
        error = simulate(state, name).end.error
        fails = error is not None and error.kind is ErrorKind.NO_TENSORS
        reachable_by_tensors = any(key in TENSORS or key.startswith("Autograd") for key in keys - {"Autograd"})
        assert bool(claims.of("unreachable-factory", name)) == (fails and reachable_by_tensors), (name, keys)
        unreachable += fails
    assert unreachable > 2
