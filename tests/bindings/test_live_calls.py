"""Calls of all functions of the bindings, bad arguments included: answers and errors are those of PyTorch 2.13."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli import bindings as module
from dispatch_cli import universes
from dispatch_cli.api import load_state
from dispatch_cli.bindings import Bindings, PythonDispatcher
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from tests import in_pytorch
from tests.bindings.answers import Answer
from tests.bindings.compared import (
    ON_PURPOSE,
    RECORDED,
    OnPurpose,
    Own,
    differences,
    live_answers,
    reason_of,
    recordable,
    recorded_programs,
    written_programs,
)
from tests.capture.support import captured, torch_python
from tests.support import load_recording

EVERY = 12
"""Of so many recorded programs, one is asked again of a live PyTorch."""
UNIVERSE = universes.load("torch-2.13")
VERSION = "2.13."
"""The version that the signatures and messages are of."""


@pytest.fixture(scope="module")
def python() -> str:
    executable = torch_python()
    version = in_pytorch.run([executable, "-c", "import torch; print(torch.__version__)"]).stdout
    if not version.startswith(VERSION):
        pytest.skip(f"the texts are those of PyTorch {VERSION}*")
    return executable


@pytest.fixture(scope="module")
def own(python: str) -> Own:  # noqa: ARG001
    dispatcher = load_state([str(captured(vmap=False))]).dispatcher
    return Own(dispatcher.universe, dispatcher)


def test_recorded_calls() -> None:
    written = recordable(written_programs())
    recorded = load_recording(RECORDED)
    recorded = [row for number, row in enumerate(recorded) if number % 2 == 0 or row[0] in written]
    programs, answers = [program for program, _ in recorded], [[Answer(*a) for a in each] for _, each in recorded]
    problems = differences(programs, answers, Own(UNIVERSE, Dispatcher(UNIVERSE)).answers(programs))
    assert [str(difference) for difference in problems if reason_of(difference) is None] == []
    assert sum(map(len, programs)) > 2000
    assert [program for program in written if program not in programs] == []


def compared(python: str, own: Own, programs: list[list[str]]) -> Any:
    return differences(programs, live_answers(python, programs), own.answers(programs))


@pytest.mark.live
def test_calls_are_answered_as_by_a_live_pytorch(python: str, own: Own) -> None:
    programs = [*written_programs(), *recorded_programs()[::EVERY]]
    rest = [difference for difference in compared(python, own, programs) if reason_of(difference) is None]
    assert rest == [], "\n\n".join(map(str, rest[:5]))


@pytest.mark.live
def test_what_is_listed_as_different_is(python: str, own: Own) -> None:
    """Each listed difference has an example, whose last step differs in that way."""
    examples = [list(entry.example) for entry in ON_PURPOSE]
    problems = compared(python, own, examples)
    last = {(*difference.before, difference.step): difference for difference in problems}
    assert [entry.reason for entry in ON_PURPOSE if not _covered(entry, last)] == []


def _covered(entry: OnPurpose, last: dict[tuple[str, ...], Any]) -> bool:
    difference = last.get(entry.example)
    return difference is not None and entry.covers(difference)


# Functions that no program of calls can show.


@pytest.fixture
def bindings() -> Bindings:
    return Bindings(universes.load("torch-2.15"))


def fragment(bindings: Bindings, namespace: str = "ns") -> Any:
    return bindings._dispatch_library("FRAGMENT", namespace, "")


def test_dangling_implementations(bindings: Bindings) -> None:
    library = fragment(bindings)
    library.def_("fine(Tensor x) -> Tensor").impl_t_t("fine", "CPU").impl_t_t("op", "CPU")
    assert bindings._dispatch_find_dangling_impls() == [
        "name: ns::op\nschema: (none)\nCPU: impl_t_t :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]\n"
    ]


def test_printed_registrations(bindings: Bindings, capfd: pytest.CaptureFixture[str]) -> None:
    library = fragment(bindings)
    library.impl_t_t("a", "CPU").impl_t_t("b.c", "CPU").impl_t_t("d", "CUDA")
    bindings._dispatch_print_registrations_for_dispatch_key("CPU")
    assert capfd.readouterr().out == "ns::a\nns::b.c\n"


def test_all_invariants(bindings: Bindings) -> None:
    bindings._dispatch_check_all_invariants()
    library = fragment(bindings)
    library.def_name_t_t("op").impl_t_t("op", "QuantizedCPU")
    with pytest.raises(RuntimeError, match="ns::op"):
        bindings._dispatch_check_all_invariants()


def test_registrations_go_with_their_object_at_once(bindings: Bindings) -> None:
    gc.disable()
    try:
        library = fragment(bindings)
        library.def_("op(Tensor x) -> Tensor").impl_t_t("op", "CPU")
        with pytest.raises(RuntimeError, match="multiple times"):
            library.def_("op(Tensor x) -> Tensor")
        bound = library.impl_t_t
        del library
        assert bindings._dispatch_has_kernel("ns::op")
        del bound
        assert not bindings._dispatch_has_kernel("ns::op")
    finally:
        gc.enable()


def test_the_python_module_of_an_operator() -> None:
    state = load_state([str(Path(__file__).with_name("python_module.yaml"))])
    bindings = Bindings(state.dispatcher.universe, state.dispatcher)
    assert bindings._dispatch_pystub("mylib::f", "") == ("mylib.ops", "")
    assert bindings._dispatch_pystub("mylib::g", "out") == ("mylib.others", "//mylib:others")
    assert bindings._dispatch_pystub("mylib::h", "") is None


def test_the_module_itself_is_a_set_of_bindings() -> None:
    library = module._dispatch_library("FRAGMENT", "of_the_module", "")
    library.impl_t_t("op", "CPU")
    assert module._dispatch_has_kernel("of_the_module::op")
    assert module.default().universe.name == universes.default_name()
    assert "_dispatch_dump" in dir(module)
    with pytest.raises(AttributeError, match="has no attribute '_dispatch_nonsense'"):
        _ = module._dispatch_nonsense


def test_importing_loads_no_universe_and_ending_is_quiet() -> None:
    program = (
        "import gc\n"
        "from dispatch_cli import bindings as C\n"
        "assert C.default.cache_info().currsize == 0\n"
        "library = C._dispatch_library('FRAGMENT', 'ns', '')\n"
        "library.impl_t_t('op', 'CPU')\n"
        "guard = C._AutoDispatchBelowAutograd()\n"
        "guard.__enter__()\n"
        "cycle = [library]\n"
        "cycle.append(cycle)\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# ``PythonDispatcher``; its texts are recorded with the other answers of PyTorch.


def test_the_default_dispatcher_takes_one_at_a_time() -> None:
    first = PythonDispatcher()
    with pytest.raises(RuntimeError, match="multiple times"):
        PythonDispatcher()
    del first
    assert PythonDispatcher().rawRegistrations().startswith("name: __test__::foo\n")
