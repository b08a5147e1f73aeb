"""Key-set expressions: what is read, what it comes to, what is said about it, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from dispatch_cli import universes
from dispatch_cli.answers.keys.key import key_report
from dispatch_cli.bindings import Bindings
from dispatch_cli.engine.keys.expression import ExpressionNoteKind, evaluate
from dispatch_cli.model.problem import InputError
from dispatch_cli.model.text.suggest import KEYS_LISTED
from dispatch_cli.model.universe import AUTOGRAD, Universe, autograd_key_of, autograd_keys_of
from tests.engine.live_cases import LiveCase, Side, answers_to
from tests.support import UNIVERSE_OF, load_recording

UNIVERSE = universes.load("torch-2.15")
NOT_ONE = "this is not a key-set expression"
JOIN = "join keys by | (or), & (and) or - (without)"


@pytest.mark.parametrize(
    ("text", "reading", "keys"),
    [
        ("CPU | AutogradCPU - AutogradFunctionality", "CPU | (AutogradCPU - AutogradFunctionality)", ["CPU"]),
        ("CPU & CPU - Dense", "CPU & (CPU - Dense)", []),
        ("Python - (CPU - Python)", "Python - (CPU - Python)", ["Python"]),
        ("DispatchKeySet(CPU, AutogradCPU)", "DispatchKeySet(CPU, AutogradCPU)", ["CPU", "AutogradCPU"]),
        ("DispatchKeySet()", "DispatchKeySet()", []),
        ("torch._C.DispatchKey.CPU | c10::DispatchKey::Python", "CPU | Python", ["CPU", "Python"]),
        ("0x10001", "0x10001", ["CPU"]),
        ("Dense | CPUBit", "Dense | CPUBit", ["CPU"]),
        ("AutogradMTIA", "AutogradMTIA", ["AutogradMTIA"]),  # a key that PyTorch's parser does not know
        ("backends(AutogradCPU)", "backends(AutogradCPU)", ["CPU"]),
        (
            "autograd(SparseCPU) | autograd(HIP)",
            "autograd(SparseCPU) | autograd(HIP)",
            ["AutogradOther", "AutogradCPU"],
        ),
        ("runtime(Autograd) & autogradother_backends", "runtime(Autograd) & autogradother_backends", []),
        ("FULL_AFTER(Dense)", "FULL_AFTER(Dense)", ["PythonDispatcher"]),
        ("default_included", "default_included", ["BackendSelect", "ADInplaceOrView"]),
        ("default_excluded & AutocastCPU", "default_excluded & AutocastCPU", ["AutocastCPU"]),
        ("FULL - after_autograd & AutogradOther", "(FULL - after_autograd) & AutogradOther", ["AutogradOther"]),
    ],
)
def test_what_an_expression_comes_to(text: str, reading: str, keys: list[str]) -> None:
    result = evaluate(UNIVERSE, text)
    assert (result.text, result.reading, list(result.keys)) == (text, reading, keys)


@pytest.mark.parametrize("version", UNIVERSE_OF)
def test_named_sets_are_as_recorded(version: str) -> None:
    universe, recorded = universes.load(UNIVERSE_OF[version]), load_recording(f"{version}.state")["universe"]

    def keys(text: str) -> list[str]:
        return list(evaluate(universe, text).keys)

    assert keys("FULL") == recorded["runtime"]
    assert keys("after_autograd") == recorded["after_autograd"]
    assert keys("after_ADInplaceOrView") == recorded["after_ADInplaceOrView"]
    assert keys("autogradother_backends") == recorded["autogradother_backends"]
    for functionality, after in recorded["full_after"].items():
        assert keys(f"FULL_AFTER({functionality})") == after
    for alias, covered in recorded["alias"].items():
        assert set(covered) <= set(keys(f"runtime({alias})"))
    for key, backends in recorded["autograd_backends"].items():
        assert keys(f"backends({key})") == backends


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("CPU | AutogradCPU - AutogradFunctionality", [(ExpressionNoteKind.BACKENDS_STAY, ("CPUBit",))]),
        (
            "DispatchKeySet(CPU, CUDA, AutogradCPU) - CUDA",
            [(ExpressionNoteKind.OTHERS_GO, ("CPU",))],
        ),
        ("CPU | AutogradCUDA", [(ExpressionNoteKind.CROSS_PRODUCT, ("CUDA", "AutogradCPU"))]),
        ("Autograd | Undefined | CPU", [(ExpressionNoteKind.ADDS_NOTHING, ("Autograd", "Undefined"))]),
        ("Sparse | Python", [(ExpressionNoteKind.NO_BACKEND, ("Sparse",))]),
    ],
)
def test_notes(text: str, notes: list[tuple[ExpressionNoteKind, tuple[str, ...]]]) -> None:
    assert list(evaluate(UNIVERSE, text).notes) == notes


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("", [(1, "a key is missing at the end", None)]),
        ("CPU |", [(6, "a key is missing at the end", None)]),
        ("CPU CUDA", [(5, NOT_ONE, JOIN)]),
        ("(CPU", [(1, NOT_ONE, JOIN)]),
        ("CPU + CUDA", [(5, "'+' has no meaning in a key-set expression", "write | for the union")]),
        ("CPU and CUDA", [(1, "expected a key, or keys in brackets", JOIN)]),
        ("FULL_AFTER", [(1, "FULL_AFTER needs a key", "write FULL_AFTER(KEY)")]),
        ("FULL_AFTER()", [(1, "FULL_AFTER takes one key", "write FULL_AFTER(KEY)")]),
        ("CPU | FULL_AFTER(CPU | CUDA)", [(7, "FULL_AFTER takes one key", "write FULL_AFTER(KEY)")]),
        ("full_aftr(CPU)", [(1, "there is no function 'full_aftr'", "did you mean FULL_AFTER?")]),
        (
            "zz(CPU)",
            [(1, "there is no function 'zz'", "there are FULL_AFTER, runtime, backends, autograd, DispatchKeySet")],
        ),
        ("0xzz", [(1, "'0' has no meaning in a key-set expression", JOIN)]),
        ("CPU | 0x4000000000000000", [(7, "only the lowest 62 bits are keys of torch-2.15", None)]),
        (
            " CPUU | FULL_AFTER(AutogradCPPU) |\n XYZZYQ",
            [
                (2, "torch-2.15 has no dispatch key 'CPUU'", "did you mean CPU?"),
                (20, "torch-2.15 has no dispatch key 'AutogradCPPU'", "did you mean AutogradCPU?"),
                (2, "torch-2.15 has no dispatch key 'XYZZYQ'", KEYS_LISTED),
            ],
        ),
    ],
)
def test_what_is_refused(text: str, problems: list[tuple[int, str, str | None]]) -> None:
    with pytest.raises(InputError) as caught:
        evaluate(UNIVERSE, text, "KEYS")
    raised = caught.value.problems
    assert [(problem.span and problem.span.column, problem.message, problem.hint) for problem in raised] == problems
    assert {problem.span and problem.span.file for problem in raised} == {"KEYS"}
    lines = text.split("\n")
    assert all(problem.span is not None and problem.line_text == lines[problem.span.line - 1] for problem in raised)


# Autograd keys that come with a backend key, judged by the key sets of real tensors.


def check(universe: Universe, keys: list[str]) -> int:
    """Hold one tensor's keys, without those of inference tensors, against what we say; how many keys it has of both."""
    autograd = [key for key in universe.covered_by(AUTOGRAD) if key in keys]
    backends = [key for key in keys if autograd_keys_of(universe, key)]
    assert [list(reversed(autograd_keys_of(universe, key))) for key in backends] == [autograd]
    assert [autograd_key_of(universe, key) for key in backends] == autograd[-1:]
    assert list(evaluate(universe, f"autograd({backends[0]})").keys) == autograd
    assert list(key_report(universe, backends[0]).autograd_keys) == list(reversed(autograd))
    return len(autograd)


@pytest.mark.parametrize("version", ["2.13.0", "2.15.0"])
def test_recorded_tensors(version: str) -> None:
    universe = universes.load(UNIVERSE_OF.get(version, "torch-2.15"))
    kinds = {
        call["tensor"]: call["tensor_keys"]
        for case in load_recording(f"{version}.calls")["cases"]
        for call in case["calls"]
        if "inference" not in call["tensor"]
    }
    assert {name: check(universe, keys) for name, keys in kinds.items() if name in ("cpu nested", "cpu mkldnn")} == {
        "cpu nested": 2,
        "cpu mkldnn": 1,
    }
    assert sum(check(universe, keys) for keys in kinds.values()) == len(kinds) + 1


def test_what_is_no_backend_key_has_none() -> None:
    universe = universes.load("torch-2.15")
    for key in (*universe.covered_by(AUTOGRAD), "Python", "ADInplaceOrView", "Undefined", AUTOGRAD):
        assert autograd_keys_of(universe, key) == ()


# Key-set expressions, evaluated by PyTorch and here.


def _wrong(side: Side, texts: Any, answers: Any) -> list[str]:
    names, wrong = Bindings(side.universe).space, []
    for text, live in zip(texts, answers, strict=True):
        result = evaluate(side.universe, text)
        keys = result.keys
        assert evaluate(side.universe, result.reading).keys == keys, "the brackets that are shown change nothing"
        highest = names.highest(keys.bits)
        ours = {"raw": keys.bits, "text": str(keys), "highest": highest.value}
        assert names.text(highest) == keys.highest_priority()
        if live is not None and any(ours[field] != live[field] for field in ours if live[field] is not None):
            wrong.append(f"{text}: {live}, ours: {ours}")
    assert sum(live is not None for live in answers) > len(answers) / 4
    return wrong


CASE = LiveCase(answers_to("expressions"), _wrong)
