"""Places in narrow terminals: never broken, and shortened in the middle where no line has room for them."""

from __future__ import annotations

import re
import shlex

import pytest

from dispatch_cli.render.document import (
    Block,
    Column,
    Fact,
    Facts,
    Paragraph,
    Run,
    TableBlock,
    Tone,
    Under,
    lines,
)
from dispatch_cli.render.text import Style, text
from tests.cli.support import call

PLACES = (
    "a/b.yaml:12345:67",
    "/__w/pytorch/pytorch/build/aten/src/ATen/RegisterCompositeExplicitAutogradNonFunctional_0.cpp:12345",
    "C:\\Users\\someone\\a folder\\declarations\\of\\mine.yaml:12345:67",
    "日本語/カーネル/とても長い名前の宣言ファイル.yaml:12345:67",
    "deep/" * 40 + "x.yaml:12345",
    "x" * 150 + ":12345:6",
)
NUMBER = re.compile(r":12345(?::67?)?(?!\d)")


def blocks(place: str) -> list[Block]:
    """A place wherever one can be: in sentences, in brackets, in facts and in cells."""
    columns: list[Column[str]] = [
        Column("Key", lambda _, __: "AutogradPrivateUse1", wraps=False),
        Column("Kernel", lambda row, _: f"registered at {row}"),
        Column("Declared at", lambda row, _: Run(row, Tone.PLACE)),
    ]
    narrow: Column[str] = Column("Place", lambda row, _: Run(row, Tone.PLACE), Under("Key"))
    return [
        Paragraph(f"AutogradCPU holds the kernel registered at {place} (rule 1, kernel), and that is the answer."),
        Paragraph((Run("declared at ", Tone.DIM), Run(place, Tone.PLACE), Run(".")), indent=4, hang=4),
        Paragraph(f"previous registration (registered at {place}), new", hang=4),
        Facts([Fact("note", lines(f"the kernel is here ({place})", f"see {place}."))], indent=4),
        Facts([Fact("a label that is long, longer than its share of a line", f"at {place}")]),
        TableBlock(columns, [place]),
        TableBlock([columns[0], narrow], [place]),
    ]


@pytest.mark.parametrize("color", [False, True])
@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("place", PLACES)
def test_a_place_is_in_one_piece(place: str, width: int, color: bool) -> None:
    plain = re.sub(r"\x1b\[[0-9;]*m", "", "".join(text(blocks(place), Style(width, color))))
    assert len(NUMBER.findall(plain)) == 9
    last = place.partition(":12345")[0].split()[-1]
    for line in plain.splitlines():
        for number in NUMBER.finditer(line):
            before = line[: number.start()].split()[-1]
            assert before.lstrip("(") == last or "…" in before, line


IN_TABLES = (
    *("table examples/add.yaml", "table examples/custom_library.yaml", "table examples/overlay.yaml"),
    "table examples/call_torchbind.yaml",
    *("register examples/custom_library.yaml", "register examples/custom_ops.yaml"),
    *("guards examples/scenarios/04_alias_gaps.fixed.yaml",),
    *("explain aten::to.dtype AutogradPrivateUse1 examples/scenarios/01_composite_override.yaml",),
    *("resolve mylib::norm examples/scenarios/10_sparse_bypass.yaml --tensor 'cpu sparse' --context inference_mode",),
    *("resolve pylib::round examples/custom_ops.yaml --tensor 'cpu fake'",),
    *("resolve call_torchbind examples/call_torchbind.yaml --tensor cpu --context mode=FakeTensorMode",),
)
WHOLE = re.compile(r"[^\s(]*\.yaml:\d+(?::\d+)?")
STATED = re.compile(r"\b(?:active|overridden|CompositeImplicitAutograd)\b")


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("command", IN_TABLES)
def test_the_width_takes_nothing_away(command: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every place of the user's files is whole, and every alias key and state is there, as where nothing is narrow."""
    unlimited = call(*shlex.split(command)).out
    monkeypatch.setattr("dispatch_cli.cli.output.style_for", lambda *_: Style(width))
    output = call(*shlex.split(command)).out
    assert max(map(len, output.splitlines())) <= width
    assert set(WHOLE.findall(output)) == set(WHOLE.findall(unlimited)) != set()
    for word in STATED.findall(unlimited):
        assert word in "".join(output.split())
