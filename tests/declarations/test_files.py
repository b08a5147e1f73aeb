"""Several files, `extends`, universes, compression and standard input."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from dispatch_cli import bases, universes
from dispatch_cli.api import load_state
from dispatch_cli.declarations import loader
from dispatch_cli.declarations.loader import load
from dispatch_cli.declarations.source import SourceError, read_plain
from dispatch_cli.model import read_files
from dispatch_cli.model.declarations import Declarations, Implement, OpenBlock
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import InputError
from dispatch_cli.model.span import OWN, Inherited, Origin, Span
from tests.cli.support import call
from tests.declarations.helpers import refused, shown, write
from tests.support import SOME_UNIVERSES

STATES = {"new": "torch-2.15", "old": "torch-2.4"}
"""States of these tests and their universes."""


def operator(name: str, head: str = "") -> str:
    """A file with one implemented operator."""
    return f"dispatch: 1\n{head}operators: [{{name: 'm::{name}', dispatch: {{CPU: {name}}}}}]\n"


def order(declarations: Declarations) -> list[str]:
    """The kernels in the order of their registration."""
    return [step.kernel.debug for step in declarations.steps if isinstance(step, Implement)]


def test_several_files_are_one_history(tmp_path: Path) -> None:
    first, two = write(tmp_path, operator("a"), "1.yaml"), write(tmp_path, operator("b"), "2.yaml")
    declarations = load([two, first])
    assert order(declarations) == ["b", "a"]
    assert declarations.files == (two, first)
    assert declarations.universe is universes.load(universes.default_name())


def test_what_a_file_extends_comes_first_and_once(tmp_path: Path) -> None:
    write(tmp_path, operator("base"), "base.yaml")
    write(tmp_path, operator("left", "extends: [base.yaml]\n"), "left.yaml")
    write(tmp_path, operator("right", "extends: [./base.yaml]\n"), "right.yaml")
    top = write(tmp_path, operator("top", "extends: [left.yaml, right.yaml]\n"))
    declarations = load([top, str(tmp_path / "base.yaml")])
    assert order(declarations) == ["base", "left", "right", "top"]
    # base.yaml is named by the user too, so nothing that comes before it is only inherited.
    assert declarations.inherited_steps == ()
    assert len(load([top]).inherited_steps) == len(declarations.steps) - 2
    assert [Path(file).name for file in declarations.files] == ["x.yaml", "left.yaml", "base.yaml", "right.yaml"]


def test_extends_in_a_circle(tmp_path: Path) -> None:
    """Each file is read once, and the user's own comes last."""
    write(tmp_path, operator("a", "extends: [b.yaml]\n"), "a.yaml")
    write(tmp_path, operator("b", "extends: [c.yaml]\n"), "b.yaml")
    write(tmp_path, operator("c", "extends: [a.yaml]\n"), "c.yaml")
    assert order(load([str(tmp_path / "a.yaml")])) == ["c", "b", "a"]


def test_a_long_chain_of_files_is_refused(tmp_path: Path) -> None:
    for number in range(loader.MAX_FILES + 1):
        write(tmp_path, f"dispatch: 1\nextends: [{number + 1}.yaml]\n", f"{number}.yaml")
    (problem,) = refused(str(tmp_path / "0.yaml"))
    assert problem.code == "extends-too-long"
    assert problem.message == "more than 200 files are loaded through extends"


def test_embedded_states_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bases, "names", lambda: ("new", "old"))
    monkeypatch.setattr(bases, "load", lambda name: SimpleNamespace(universe=universes.load(STATES[name])))
    declarations = load([write(tmp_path, "dispatch: 1\nextends: [old, new, old]\n")])
    assert declarations.bases == ("old", "new")
    assert declarations.universe.name == "torch-2.4"
    assert load([], bases=["new"]).bases == ("new",)


def test_an_unknown_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "dispatch: 1\nextends: [neww, other]\n")
    monkeypatch.setattr(bases, "names", lambda: ("new", "old"))
    assert shown(tmp_path, refused(path)) == (
        "x.yaml:2:11 unknown-state: there is no embedded state 'neww'\n"
        "  | extends: [neww, other]\n"
        "  hint: the embedded states are new, old; write a file as a path, such as ./NAME.yaml\n"
        "x.yaml:2:17 unknown-state: there is no embedded state 'other'\n"
        "  | extends: [neww, other]\n"
        "  hint: the embedded states are new, old; write a file as a path, such as ./NAME.yaml\n"
    )


def test_a_universe_of_ones_own_is_in_a_file_or_asked_for(tmp_path: Path) -> None:
    data = json.loads((Path(universes.__file__).parent / "torch-2.4.json").read_text(encoding="utf-8"))
    write(tmp_path, json.dumps(data | {"name": "mine"}), "mine.json")
    path = write(tmp_path, "dispatch: 1\n")
    assert load([path], universe=str(tmp_path / "mine.json")).universe.name == "mine"


def test_files_must_agree_on_the_universe(tmp_path: Path) -> None:
    first = write(tmp_path, "dispatch: 1\nuniverse: torch-2.4\n", "1.yaml")
    two = write(tmp_path, "dispatch: 1\nuniverse: torch-2.15\n", "2.yaml")
    assert shown(tmp_path, refused(first, two)) == (
        "2.yaml:2:11 universe-conflict: the file has the universe torch-2.15, and not torch-2.4 as the run\n"
        "  | universe: torch-2.15\n"
        "  see 1.yaml:2:11: it is named here\n"
    )
    assert shown(tmp_path, refused(first, universe="torch-2.15")) == (
        "1.yaml:2:11 universe-conflict: the file has the universe torch-2.4, "
        "and not torch-2.15 as the run\n  | universe: torch-2.4\n"
    )


def test_an_unknown_universe_does_not_make_every_key_unknown(tmp_path: Path) -> None:
    (problem,) = refused(write(tmp_path, "dispatch: 1\nuniverse: nowhere\nfallbacks: {Foo: x}\n"))
    assert problem.code == "unknown-universe"
    (problem,) = refused(write(tmp_path, operator("a")), universe="nowhere")
    assert (problem.code, problem.span) == ("unknown-universe", None)


@pytest.mark.parametrize("name", ["x.yaml", "x.json", "x.yaml.gz"])
def test_compressed_files(name: str, tmp_path: Path) -> None:
    assert order(load([write(tmp_path, gzip.compress(operator("a").encode()), name)])) == ["a"]


def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = operator("a", f"extends: [{write(tmp_path, operator('b'))}]\n")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))
    declarations = load(["-", "-"])
    assert order(declarations) == ["b", "a"]
    assert [step.block.file for step in declarations.steps if isinstance(step, OpenBlock)][-1] == "-"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_byte_order_marks(encoding: str, tmp_path: Path) -> None:
    assert order(load([write(tmp_path, operator("a").encode(encoding))])) == ["a"]


def test_files_that_are_not_there(tmp_path: Path) -> None:
    write(tmp_path, operator("a"), "good.yaml")
    (tmp_path / "dead.yaml").symlink_to("gone")
    (tmp_path / "round.yaml").symlink_to("round.yaml")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    paths = [str(tmp_path / name) for name in ("goood.yaml", "dead.yaml", "round.yaml", "folder", "pipe")]
    hint = "  hint: name declaration files one by one, or - for standard input\n"
    assert shown(tmp_path, refused(*paths, "/dev/zero", "a\0b")) == (
        "goood.yaml:1:1 file-not-found: goood.yaml does not exist\n  hint: did you mean good.yaml?\n"
        "dead.yaml:1:1 file-not-found: dead.yaml is a link to gone, which does not exist\n"
        "round.yaml:1:1 unreadable-file: round.yaml cannot be read: too many levels of symbolic links\n"
        f"folder:1:1 not-a-file: folder is a directory\n{hint}"
        f"pipe:1:1 not-a-file: pipe is not a regular file\n{hint}"
        f"/dev/zero:1:1 not-a-file: /dev/zero is not a regular file\n{hint}"
        "a\0b:1:1 unreadable-file: a\0b cannot be read: embedded null byte\n"
    )


# Files that carry their own universe, and snapshots of running dispatchers.


EMBEDDED = Path(universes.__file__).parent
OPERATOR = "demo::op(Tensor x) -> Tensor"
STALE = {"func": OPERATOR, "dispatch": {"CompositeImplicitAutograd": "op_math", "QuantizedCPU": "op_quantized"}}


def written(tmp_path: Path, name: str = "file.json", **fields: object) -> str:
    path = tmp_path / name
    path.write_text(json.dumps({"dispatch": 1, **fields}, indent=1), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", SOME_UNIVERSES)
def test_a_universe_in_the_file_is_the_universe(tmp_path: Path, name: str) -> None:
    inline = json.loads((EMBEDDED / f"{name}.json").read_text(encoding="utf-8"))
    state = load_state([written(tmp_path, universe=inline)])
    assert universes.differences(state.dispatcher.universe, universes.load(name)) == []


def test_the_live_tables_of_a_snapshot_are_in_order(tmp_path: Path) -> None:
    name = OperatorName("demo::op")
    history = load_state([written(tmp_path, operators=[STALE])])
    assert [entry.canonical.key for entry in history.dispatcher.stale_entries(name)] == ["AutogradOther"]
    snapshot = load_state([written(tmp_path, snapshot=True, operators=[STALE])])
    assert snapshot.dispatcher.stale_entries(name) == []


def test_what_is_imported_is_laid_over_the_rest_of_a_snapshot(tmp_path: Path) -> None:
    captured = {
        "snapshot": True,
        "pytorch": True,
        "operators": [STALE],
        "imported": {
            "modules": ["mine"],
            "operators": [{"name": "demo::op", "dispatch": {"CPU": "mine"}, "python_dispatch": {"CPU": "p"}}],
            "fallbacks": {"PrivateUse1": "f"},
        },
    }
    state = load_state([written(tmp_path, **captured)])
    assert state.own_operators() == [OperatorName("demo::op")]
    assert state.base is not None
    assert not state.base.operator(OperatorName("demo::op")).has_kernel("CPU")
    assert state.dispatcher.operator(OperatorName("demo::op")).has_kernel("CPU")
    assert state.dispatcher.stale_entries(OperatorName("demo::op")) == []
    assert "PrivateUse1" in state.dispatcher.fallbacks
    assert "PrivateUse1" not in state.base.fallbacks


@pytest.mark.parametrize("field", [{"pytorch": True}, {"imported": {"modules": ["mine"]}}])
def test_only_a_snapshot_says_what_pytorch_registered(tmp_path: Path, field: dict[str, object]) -> None:
    with pytest.raises(InputError) as raised:
        load_state([written(tmp_path, **field)])
    (problem,) = raised.value.problems
    assert problem.message == f"'{next(iter(field))}' is only for a declaration file with the field 'snapshot'"


# Through what declarations come: files that the user did not name, and embedded states.


FILES = {
    "base.yaml": """\
dispatch: 1
extends: [torch-2.15]
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu}
  - name: demo::lost
    dispatch: {CPU: lost_cpu}
fallbacks: {PrivateUse1: mine}
""",
    "middle.yaml": "dispatch: 1\nextends: [base.yaml]\n",
    "overlay.yaml": """\
dispatch: 1
extends:
  - middle.yaml
operators:
  - name: demo::op
    dispatch: {CUDA: op_cuda}
  - name: aten::trunc
    dispatch: {PrivateUse2: trunc_mine}
""",
}
OVERLAY, MIDDLE, BASE = Span("overlay.yaml", 3, 5), Span("middle.yaml", 2, 11), Span("base.yaml", 2, 11)


@pytest.fixture
def overlay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")


@pytest.mark.usefixtures("overlay")
def test_declarations_know_through_what_each_file_and_state_came() -> None:
    declarations = load(["overlay.yaml"])
    assert declarations.inherited == (
        Inherited("torch-2.15", True, (OVERLAY, MIDDLE, BASE)),
        Inherited("middle.yaml", False, (OVERLAY,)),
        Inherited("base.yaml", False, (OVERLAY, MIDDLE)),
    )
    assert declarations.through(Span("base.yaml", 5, 21)) == (OVERLAY, MIDDLE)
    assert declarations.through(Span("overlay.yaml", 6, 22)) == declarations.through(None) == ()


@pytest.mark.usefixtures("overlay")
def test_what_the_user_names_came_through_nothing() -> None:
    for paths in (["overlay.yaml", "base.yaml"], ["base.yaml", "overlay.yaml"]):
        assert load(paths).through(Span("base.yaml", 5, 21)) == ()
    inherited = load(["overlay.yaml"], bases=["torch-2.15"]).inherited
    assert [base.name for base in inherited] == ["middle.yaml", "base.yaml"]


@pytest.mark.usefixtures("overlay")
def test_every_registration_has_its_origin() -> None:
    state = load_state(["overlay.yaml"])
    kernels = state.dispatcher.operator(OperatorName("demo::op")).kernels
    assert state.origin(kernels["CPU"][0]) == Origin(None, (OVERLAY, MIDDLE))
    assert state.origin(kernels["CUDA"][0]) == OWN
    trunc = state.dispatcher.operator(OperatorName("aten::trunc")).kernels
    assert state.origin(trunc["CPU"][0]) == Origin("torch-2.15", (OVERLAY, MIDDLE, BASE))
    assert state.origin(trunc["PrivateUse2"][0]) == OWN
    assert state.operator_origin(OperatorName("demo::op")) == Origin(None, (OVERLAY, MIDDLE))
    assert state.operator_origin(OperatorName("demo::lost")) == OWN, "nothing defines it"
    for name in ("aten::trunc", "aten::relu"):
        assert state.operator_origin(OperatorName(name)) == Origin("torch-2.15", (OVERLAY, MIDDLE, BASE))
    assert state.origin(state.dispatcher.fallbacks["PrivateUse1"]) == Origin(None, (OVERLAY, MIDDLE))
    assert state.origin(state.dispatcher.fallbacks["AutogradCPU"]) == OWN


@pytest.mark.usefixtures("overlay")
def test_texts_say_it_below() -> None:
    text = call("register", "overlay.yaml", "--op", "demo::op").out
    assert text.endswith(
        "CPU   op_cpu   active  1 slot  base.yaml:5:21\n"
        "CUDA  op_cuda  active  1 slot  overlay.yaml:6:22\n"
        "\n"
        "Backend fallbacks, for all operators\n"
        "\n"
        "Key          Kernel  Declared at\n"
        "PrivateUse1  mine    base.yaml:8:26\n"
        "\n"
        "base.yaml: through extends of middle.yaml:2:11, extends of overlay.yaml:3:5\n"
        "\n"
        "1 operator, 2 kernels, 38 core fallbacks of torch-2.15\n"
    )
    text = call("table", "overlay.yaml", "--op", "aten::trunc", "--key", "CPU", "--key", "PrivateUse2").out
    lines = [line.split() for line in text.splitlines()]
    assert next(line[-2:] for line in lines if line[:1] == ["CPU"]) == ["kernel", "torch-2.15"]
    assert text.endswith(
        "torch-2.15: through extends of base.yaml:2:11, extends of middle.yaml:2:11, extends of overlay.yaml:3:5\n"
    )
    assert "through" not in call("table", "base.yaml", "--op", "demo::op", "--key", "CPU").out


@pytest.mark.usefixtures("overlay")
def test_a_finding_names_the_entries_that_led_to_its_file() -> None:
    result = call("check-invariants", "overlay.yaml", "--op", "demo::lost", "--format", "json")
    (finding,) = json.loads(result.out)["findings"]
    assert [(row["message"], row["declared_at"]["file"], row["declared_at"]["line"]) for row in finding["related"]] == [
        ("this file is extended here", "middle.yaml", 2),
        ("and that file is extended here", "overlay.yaml", 3),
    ]


def test_a_file_that_is_not_there_is_none_that_was_read(tmp_path: Path) -> None:
    there, lacking = write(tmp_path, "a.yaml", "dispatch: 1\n"), tmp_path / "b.yaml"
    read_files.start()
    read_plain(str(there), 100)
    with pytest.raises(SourceError):
        read_plain(str(lacking), 100)
    assert read_files.noted() == {str(there)}
