"""Captures of a live PyTorch: equal each time, complete, and the same state once they are read back."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from dispatch_cli import universes
from dispatch_cli.capture.probe import NAMESPACE
from dispatch_cli.capture.write import state_text
from dispatch_cli.declarations.loader import load
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.dispatcher.dump import dump_registrations, dump_table
from dispatch_cli.engine.history import run
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from tests import in_pytorch
from tests.capture.extensions import PYTORCHS_LATER, RANDOM_SCHEMAS, captured_extensions
from tests.capture.support import SEED, live_state, read_document, torch_python, unpacked
from tests.capture.support import captured as captured_once
from tests.cli.support import COMMAND
from tests.engine.live_cases import answers_to
from tests.model.schema.test_live_schemas import comparable

pytestmark = pytest.mark.live

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


@dataclass(frozen=True)
class Captured:
    """A capture in both formats, a second one, and what PyTorch itself says of every operator: its two dumps."""

    yaml: Path
    json: Path
    again: Path
    live: dict[str, list[str]]


def ask(*arguments: str, text: str = "") -> str:
    """The output of a script in the live PyTorch."""
    return in_pytorch.run([torch_python(), *arguments], text).stdout


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Captured:
    directory = tmp_path_factory.mktemp("captured")
    as_yaml, as_json = directory / "a.yaml", directory / "a.json"
    again = unpacked(captured_once(), directory / "b.json")
    as_yaml.write_text("".join(state_text(live_state(), as_json=False)), encoding="utf-8")
    command = [*COMMAND, "capture", "--python", torch_python(), "-o", str(as_json)]
    written = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    assert written.startswith(f"{as_json}: PyTorch ") and written.count("\n") == 1
    # The one thing a capture changes: where PyTorch is installed. That is known here from its own words.
    site = ask("-c", "import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))").strip()
    live = json.loads(ask(str(HERE / "live_state.py")))
    cut = {name: [text.replace(f"{site}/", "site-packages/") for text in texts] for name, texts in live.items()}
    return Captured(as_yaml, as_json, again, cut)


@cache
def read(file: Path) -> Any:
    text = file.read_text(encoding="utf-8")
    return json.loads(text) if file.suffix == ".json" else yaml.load(text, yaml.CSafeLoader)


@cache
def loaded(file: Path) -> Dispatcher:
    return run(load([str(file)])).dispatcher


def test_a_second_capture_is_identical(captured: Captured) -> None:
    assert captured.json.read_bytes() == captured.again.read_bytes()


def test_both_formats_say_the_same(captured: Captured) -> None:
    assert read(captured.yaml) == read(captured.json)


def test_nothing_of_this_machine_is_in_it(captured: Captured) -> None:
    text = captured.yaml.read_text(encoding="utf-8")
    python = Path(torch_python())
    assert NAMESPACE not in text
    assert re.findall(r"0x[0-9a-fA-F]{5,}", text) == []
    for path in (python.parent.parent, python.resolve().parent.parent, Path.home(), ROOT):
        assert f"{path}/" not in text


@pytest.mark.parametrize("how", ["by hand", "yaml", "json"])
def test_every_dump_is_the_live_one(captured: Captured, how: str) -> None:
    if how == "by hand":
        dispatcher = read_document(read(captured.yaml))
    else:
        dispatcher = loaded(captured.yaml if how == "yaml" else captured.json)
    assert sorted(map(str, dispatcher)) == sorted(captured.live)
    assert len(captured.live) > 3500
    for name, (registrations, table) in captured.live.items():
        assert dump_registrations(dispatcher, OperatorName.parse(name)) == registrations
        assert dump_table(dispatcher, OperatorName.parse(name)) == table


def test_live_tables_hold_what_pytorch_holds(captured: Captured) -> None:
    """Every key with the aliases, in both orders and where they have left slots stale: which kernel each slot runs."""
    universe = universes.from_data(read(captured.yaml)["universe"])
    keys = [key for key in universe.ids if key in universe.slot or key in universe.per_backend]
    befores = [(alias,) for alias in universe.aliases] + [("CompositeImplicitAutograd", "CompositeExplicitAutograd")]
    histories = [(*before, key) for before in befores for key in keys]
    histories += [(key, alias) for alias in universe.aliases for key in keys]
    histories += [*((alias,) for alias in universe.aliases), *itertools.permutations(universe.aliases, 2)]
    slots = ["Undefined", *universe.aliases["Autograd"], "CPU", "NestedTensorCPU", "FuncTorchBatched", "Functionalize"]
    asked = {"ids": {**universe.ids, "Undefined": 0}, "slots": slots, "histories": histories}
    answers = answers_to("slots")(torch_python(), asked)
    dispatcher = Dispatcher(universe)
    stale = 0
    for number, (history, ran) in enumerate(zip(histories, answers, strict=True)):
        name = OperatorName(f"a::op{number}")
        for key in history:
            dispatcher.implement(name, key, Kernel(debug=key))
        live = dispatcher.operator(name).live
        expected = [entry.kernel.debug if entry.kernel else None for entry in (live[slot] for slot in slots)]
        assert [debug if debug in history else None for debug in expected] == ran, history
        stale += bool(dispatcher.stale_entries(name))
    assert 100 < stale < len(histories)


def test_python_kernels_and_higher_order_operators(captured: Captured) -> None:
    """The contents of PyTorch's own Python objects, counted there without the probe.

    Higher-order operators are counted after every module was imported whose text has the name of their class.
    """
    declared = read(captured.yaml)
    counts = ask(
        "-c",
        "import torch, torch._ops as o\n"
        "from torch import _C\n"
        "kernels = 0\n"
        "for name in _C._dispatch_get_all_op_names():\n"
        "    (ns, _, rest) = name.partition('::')\n"
        "    (base, _, overload) = rest.partition('.')\n"
        "    kernels += len(getattr(getattr(getattr(torch.ops, ns), base), overload or 'default').py_kernels)\n"
        "import contextlib, importlib, pathlib\n"
        "root = pathlib.Path(torch.__file__).parent\n"
        "for file in sorted(root.rglob('*.py')):\n"
        "    if b'HigherOrderOperator' in file.read_bytes() and file.name != '__init__.py':\n"
        "        with contextlib.suppress(ImportError):\n"
        "            importlib.import_module('.'.join(file.relative_to(root.parent).with_suffix('').parts))\n"
        "print(kernels, ' '.join(sorted(o._higher_order_ops)))\n",
    ).split()
    kernels = [keys.split(", ") for operator in declared["operators"] for keys in operator.get("python_dispatch", {})]
    assert [
        str(sum(map(len, kernels))),
        *(operator["name"] for operator in declared["higher_order_operators"]),
    ] == counts
    by_name = {operator["name"]: operator for operator in declared["higher_order_operators"]}
    cond = by_name["cond"]
    assert cond["functionalize"] == "torch._higher_order_ops.cond.cond_func"
    assert cond["modes"]["FakeTensorMode"] == "torch._higher_order_ops.cond.cond_fake_tensor_mode"
    assert cond["dispatch"]["CompositeExplicitAutograd"] == "torch._higher_order_ops.cond.cond_op_dense"


def test_random_schemas_load_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """As PyTorch prints them, of which its own parser refuses some."""
    folder = captured_extensions()
    seed = (folder / "seed").read_text(encoding="utf-8")
    print(f"seed {seed}")
    monkeypatch.setenv(SEED, seed)
    live = json.loads(ask(str(HERE / "live_state.py"), RANDOM_SCHEMAS))
    dispatcher = run(load([str(folder / "cap.json.gz")])).dispatcher
    dumps = {name: dumps[0] for name, dumps in live.items() if name.startswith("random_schemas::")}
    assert len(dumps) > 300
    for name, dump in dumps.items():
        expected = dump.replace(f"{HERE}/", "")
        assert comparable(dump_registrations(dispatcher, OperatorName.parse(name))) == comparable(expected)


def test_an_extension_after_import(captured: Captured, tmp_path: Path) -> None:
    """Operators, kernels, a dangling implementation, tags and a Python kernel of a module of one's own."""
    folder = captured_extensions()
    text = unpacked(folder / "cap.json.gz", tmp_path / "a.json").read_text(encoding="utf-8")
    assert not any(path in text for path in (str(folder.parent), tempfile.gettempdir(), str(ROOT)))
    written = json.loads(text)
    entries = {entry.get("name", entry.get("func")): entry for entry in written["imported"]["operators"]}
    of_module = {name for name in entries if name.startswith("my_")}
    assert of_module == {"my_ext::twice(Tensor x) -> Tensor", "my_other::nowhere"}
    others, before = (
        {entry.get("name", entry.get("func")) for entry in document["operators"]}
        for document in (written, read(captured.yaml))
    )
    assert {name for name in others if not name.startswith(f"{PYTORCHS_LATER}::")} == before
    twice = entries["my_ext::twice(Tensor x) -> Tensor"]
    assert twice["tags"] == ["pt2_compliant_tag"]
    assert twice["python_dispatch"] == {"Meta": "my_extension.meta"}
    assert list(twice["dispatch"]) == ["CompositeExplicitAutograd"]
    assert list(entries["my_other::nowhere"]["dispatch"]) == ["CPU"]


def test_kernels_of_a_first_vmap(captured: Captured, tmp_path: Path) -> None:
    """PyTorch registers kernels at its first vmap; a capture has them and names their operators, or has none."""
    program = (
        "import json, torch\n"
        "at = torch._C._dispatch_get_registrations_for_dispatch_key\n"
        "before = set(at('FuncTorchBatched'))\n"
        "torch.vmap(torch.neg)(torch.ones(1))\n"
        "print(json.dumps(sorted(set(at('FuncTorchBatched')) - before)))"
    )
    names = json.loads(ask("-c", program))
    out = unpacked(captured_once(vmap=False), tmp_path / "without.json")
    without = run(load([str(out)])).dispatcher
    with_them = loaded(captured.yaml)
    batched = [name for name in names if "FuncTorchBatched" in with_them.active(OperatorName.parse(name))]
    assert batched == names
    assert not [name for name in names if "FuncTorchBatched" in without.active(OperatorName.parse(name))]
    notes = read(captured.yaml).get("notes", [])
    assert all(any(name in note for note in notes) for name in names)
    assert not any("vmap" in note for note in json.loads(out.read_text(encoding="utf-8")).get("notes", []))
