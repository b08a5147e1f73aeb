"""Texts that live PyTorch printed, cut in every way: a part is held for a part, and what it shows is what was there."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from dispatch_cli import bases
from dispatch_cli.answers.errors.printed import PrintedTable, printed_table, read_key, version_of
from dispatch_cli.answers.errors.read import ErrorText, find_errors
from dispatch_cli.api import load_state, load_universes
from dispatch_cli.model.universe import META, Universe
from tests.support import UNIVERSE_OF, slot_errors

LINE = re.compile(r"[A-Z]\w+: .* \[[a-z ]+\]")


def universes() -> list[Universe]:
    return load_universes(["torch-2.15", "torch-2.4"])


def recorded(version: str) -> list[dict[str, Any]]:
    """The errors of PyTorch's operators that print a table."""
    errors = slot_errors(version)
    return [error for error in errors if error["operator"].startswith("aten::") and "[kernel]" in error["text"]]


def table_lines(text: str) -> list[int]:
    return [at for at, line in enumerate(text.splitlines()) if LINE.fullmatch(line)]


def first(text: str) -> ErrorText:
    return find_errors(text)[0]


def agrees(part: PrintedTable, whole: PrintedTable, universe: Universe) -> bool:
    """A part shows all kernels that the whole text shows, or none; it may not tell Meta's from a fallback."""
    kernels, all_kernels = part.kernels(universe), whole.kernels(universe)
    assert all_kernels is not None
    left_out = {META} & {*(part.listed or ())} - {*part.lines}  # the text does not tell a kernel from a fallback there
    return kernels is None or {*kernels} == {*all_kernels} - left_out


@pytest.mark.parametrize("version", UNIVERSE_OF)
def test_a_text_that_ends_in_its_table(version: str) -> None:
    """As it is in a terminal that shows the first lines, or a post that is cut."""
    state = load_state([], bases=[UNIVERSE_OF[version]])
    universe = state.dispatcher.universe
    choose = random.Random(11)
    for error in recorded(version):
        lines, at = error["text"].splitlines(), table_lines(error["text"])
        whole = printed_table(universe, first(error["text"]))
        assert whole.whole
        for end in sorted(choose.sample(at[1:], 3)):
            text = "\n".join(lines[:end])
            shown = printed_table(universe, first(text))
            assert (shown.whole, len(shown.lines)) == (True, at.index(end))
            assert agrees(shown, whole, universe)


@pytest.mark.parametrize("version", UNIVERSE_OF)
def test_a_text_whose_middle_is_left_out(version: str) -> None:
    state = load_state([], bases=[UNIVERSE_OF[version]])
    for error in recorded(version):
        lines, at = error["text"].splitlines(), table_lines(error["text"])
        text = "\n".join([*lines[: at[2]], "...", *lines[at[-3] :]])
        shown = printed_table(state.dispatcher.universe, first(text))
        assert (shown.whole, len(shown.lines)) == (True, 5)


@pytest.mark.parametrize("version", UNIVERSE_OF)
def test_a_text_that_ends_in_its_list_of_keys(version: str) -> None:
    """After any letter: half a name is no key."""
    state = load_state([], bases=[UNIVERSE_OF[version]])
    universe = state.dispatcher.universe
    choose = random.Random(12)
    for error in recorded(version):
        whole = printed_table(universe, first(error["text"]))
        begin = error["text"].index("backends: [") + len("backends: [")
        for end in choose.sample(range(begin + 4, error["text"].index("]", begin)), 3):
            text = error["text"][:end]
            shown = printed_table(universe, first(text))
            assert len(shown.lines) == 0
            assert shown.whole is ("BackendSelect," in text)
            assert agrees(shown, whole, universe)


@pytest.mark.parametrize("version", UNIVERSE_OF)
def test_a_table_without_the_list(version: str) -> None:
    """It tells of all backends where it goes on behind them, to BackendSelect."""
    universe = load_state([], bases=[UNIVERSE_OF[version]]).dispatcher.universe
    for error in recorded(version):
        text = re.sub(r"is only available for these backends: \[[^\]]*\]", "is not available", error["text"])
        assert printed_table(universe, first(text)).whole
        assert not printed_table(universe, first(text.partition("\nBackendSelect: ")[0])).whole


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (
            "PyTorch 2.9.1 Could not run 'aten::relu' with arguments from the 'CPU' backend.",
            ("2.9", "torch-2.4", False),
        ),
        ("Could not run 'aten::relu' with arguments from the 'CPU' backend.", (None, None, False)),
        ("Could not run 'aten::relu' with arguments from the 'Named' backend.", (None, "torch-2.4", False)),
        ("Could not run 'aten::relu' with arguments from the 'CPUTensorId' backend.", (None, "torch-2.4", True)),
    ],
)
def test_the_version_of_a_text(text: str, version: tuple[str | None, str | None, bool]) -> None:
    """The text names it, or a key that newer versions lack; names of keys before 1.6 tell an older one."""
    assert version_of(text, first(text), universes()) == version


@pytest.mark.parametrize(("version", "nearest"), [("2.15.0", None), ("2.13.0", None), ("2.4.1", "torch-2.4")])
def test_whole_tables_and_lists_tell_the_version(version: str, nearest: str | None) -> None:
    """A part may leave it open, and does not tell another. 2.13 has the keys of 2.15."""
    known = universes()
    for error in recorded(version):
        for text in (error["text"], error["text"].partition("\n\n")[0]):
            assert version_of("", first(text), known) == (None, nearest, False)
        for end in (200, 600, 900, 1200):
            cut = error["text"][error["text"].index("Could not run") :][:end]
            assert version_of("", first(cut), known).nearest in (nearest, None)


@pytest.mark.parametrize(("version", "nearest"), [("2.15.0", None), ("2.13.0", "torch-2.13"), ("2.4.1", "torch-2.4")])
def test_the_lines_of_fallbacks_tell_the_version(version: str, nearest: str | None) -> None:
    """Those of another build fit no embedded version, and tell nothing."""
    known = load_universes(bases.names())
    for error in recorded(version):
        text = error["text"]
        assert version_of(text, first(text), known).nearest == nearest
        moved = re.sub(r":(\d+) \[backend", r":1\1 [backend", text)
        assert version_of(moved, first(moved), known) == version_of("", first(text), known)


def test_the_names_of_keys() -> None:
    """Live, 2.13 printed SparseCsrfoo, Quantizedfoo and NestedTensorfoo after ``rename_privateuse1_backend("foo")``."""
    universe, _ = universes()
    for printed, key, backend in (
        ("SparseCsrfoo", "SparseCsrPrivateUse1", "foo"),
        ("Quantizedfoo", "QuantizedPrivateUse1", "foo"),
        ("NestedTensorfoo", "NestedTensorPrivateUse1", "foo"),
        ("npu", "PrivateUse1", "npu"),
        ("privateuseone", "PrivateUse1", None),
        ("SparseCPUTensorId", "SparseCPU", None),
        ("CUDATensorId", "CUDA", None),
        ("Autocast", "AutocastCUDA", None),
        ("SparseCUDA", "SparseCUDA", None),
        ("DML", "PrivateUse1", "DML"),
    ):
        assert read_key(universe, printed) == (key, backend)
    for cut in ("Dispa", "Spar", "UNKNOWN_TENSOR_TYPE_ID", ""):
        assert read_key(universe, cut) == (None, None)


@pytest.mark.parametrize("version", UNIVERSE_OF)
def test_a_list_that_was_shortened_by_hand_is_a_part(version: str) -> None:
    """Of the keys that it leaves out nothing is known."""
    universe = load_state([], bases=[UNIVERSE_OF[version]]).dispatcher.universe
    for error in recorded(version):
        head, _, rest = error["text"].partition("backends: [")
        names = rest.partition("]")[0].split(", ")
        whole = printed_table(universe, first(f"{head}backends: [{', '.join(names)}]."))
        assert whole.whole
        for kept in (names[:3], [name for name in names if name in ("CPU", "CUDA", "Meta", "BackendSelect", "Python")]):
            text = first(f"{head}backends: [{', '.join(kept)}].")
            shown = printed_table(universe, text)
            assert (shown.whole, shown.listed) == (False, None)
