"""The embedded states: each is whole, and belongs to the universe of its version."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from dispatch_cli import bases, universes
from dispatch_cli.bases import regenerate
from tests.capture.support import recorded_state
from tests.support import UNIVERSE_OF, load_recording

_PATH = re.compile(r"(?<![\w.])/(?:root|home|tmp|usr|opt)/")


def test_all_states_together_leave_the_wheel_small() -> None:
    """It stays under 4 MB; these files are compressed already."""
    files = [file for file in Path(bases.__file__).parent.iterdir() if file.suffix in (".state", ".overlay", ".txt")]
    assert sum(file.stat().st_size for file in files) < 2_700_000


def test_every_minor_version_is_there() -> None:
    assert bases.names() == tuple(f"torch-2.{minor}" for minor in range(15, 3, -1))
    assert universes.names() == bases.names()


@pytest.mark.parametrize("name", bases.names())
def test_a_state_holds_what_its_head_says(name: str) -> None:
    base = bases.load(name)
    described, universe = base.description, base.universe
    assert (described.name, universe.name, described.torch, described.git) == (name, name, universe.torch, universe.git)
    assert described.torch == f"{described.torch.partition('+')[0]}+{described.build}"
    assert described.build.startswith("cu")
    listings = [base.header(name) for name in base.names]
    assert len(listings) == described.operators > 3500
    assert len(base.higher_order_operators) == described.higher_order_operators
    assert "call_torchbind" in {operator.name for operator in base.higher_order_operators}
    # PyTorch's own invariants, which no declaration can break
    assert [one for one, header in zip(base.names, listings, strict=True) if not _is_of(header.schema, one)] == []
    keys = {key for header in listings for key in header.kernels}
    assert keys <= {*universe.slots, *universe.aliases} - {"Undefined"}
    texts = {kernel for listing in listings for kernel, _ in listing.kernels.values()}
    assert not [text for text in texts if _PATH.search(text)]


def _is_of(schema: str | None, name: str) -> bool:
    return schema is None or schema.partition("(")[0] == name


@pytest.mark.parametrize("version", UNIVERSE_OF)
def test_the_operators_are_those_of_an_import_of_torch(version: str) -> None:
    """No module that was imported for its higher-order operators left an operator behind."""
    assert list(bases.load(UNIVERSE_OF[version]).names) == sorted(load_recording(f"{version}.state")["ops"])


def test_a_state_is_written_once(tmp_path: Path) -> None:
    for folder in ("universes", "bases"):
        (tmp_path / folder).mkdir()
    whole = recorded_state("2.4.1")
    captured = {**whole, "operators": whole["operators"][:100]}
    files = [tmp_path / "universes" / "torch-2.4.json", tmp_path / "bases" / "torch-2.4.state"]
    assert regenerate.regenerate(captured, tmp_path) == files
    assert regenerate.regenerate(captured, tmp_path) == []
    shutil.copy(files[1], files[0])
    assert regenerate.regenerate(captured, tmp_path) == files[:1]
    assert [*bases.Base(str(files[1])).names] == [operator["name"] for operator in captured["operators"]]


@pytest.mark.parametrize(
    ("text", "name", "noted"),
    [
        ("torch-2.9.1", "torch-2.9", True),
        ("torch-2.9.0", "torch-2.9", True),
        ("torch-2.15.0+cpu", "torch-2.15", True),
        ("torch-2.15.0-mps", "torch-2.15-mps", True),
        ("torch-2.9", "torch-2.9", False),
        ("torch-2.16.1", "torch-2.16.1", False),
        ("torch-2.9.1-npu", "torch-2.9.1-npu", False),
        ("torch-2.9.1.json", "torch-2.9.1.json", False),
        ("./torch-2.9.1", "./torch-2.9.1", False),
        ("torch-2.9.1\n", "torch-2.9.1\n", False),
        ("2.9.1", "2.9.1", False),
        ("", "", False),
    ],
)
def test_what_a_name_means(text: str, name: str, noted: bool) -> None:
    base = bases.resolve(text)
    assert base.name == name
    build = bases.load(name.removesuffix("-mps")).description.torch if noted else ""
    assert base.note == (f"{text} means {name}, which is of PyTorch {build}" if noted else None)
