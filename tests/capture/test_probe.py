"""The probe's reading of PyTorch's texts, without PyTorch."""

from __future__ import annotations

import ast
import functools
import sys
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli import universes
from dispatch_cli.capture import looking, probe
from dispatch_cli.capture.higher_order_calls import defining_modules, import_all
from dispatch_cli.capture.run import ANSWERS
from tests.extract.cases import cases, write
from tests.support import UNIVERSE_OF, load_recording


def dump_text(operator: dict[str, Any], universe: dict[str, Any]) -> str:
    """PyTorch's dump, put together again from the pieces."""
    lines = [f"name: {operator['name']}", f"schema: {operator['schema'] or '(none)'}"]
    if operator["schema"] is not None:
        kind = operator["alias_analysis"]
        lines.append(f"debug: {operator['debug']}")
        lines.append(f"alias analysis kind: {'CONSERVATIVE (default)' if kind == 'default' else kind}")
    for key, kernels in operator["kernels"].items():
        for position, kernel in enumerate(kernels):
            title = key + ("[alias]" if key in universe["alias"] else "") + (" (inactive)" if position else "")
            flags = "".join(f"{flag} " for flag in ("fallthrough", "boxed", "unboxed") if kernel[flag])
            lines.append(f"{title}: {kernel['debug']} :: {kernel['signature'] or '(none)'} [ {flags}]")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("version", UNIVERSE_OF)
def test_recorded_dumps_are_taken_apart_without_loss(version: str) -> None:
    recording = load_recording(f"{version}.state")
    for name, texts in [*recording["ops"].items()][::5]:
        operator = looking.parse_dump(texts["dump"])
        assert operator["name"] == name
        assert dump_text(operator, recording["universe"]) == texts["dump"]


@pytest.mark.parametrize("version", UNIVERSE_OF)
def test_fallbacks_are_read_off_an_empty_table(version: str) -> None:
    table = load_recording(f"{version}.state")["empty_table"]
    embedded = universes.load(UNIVERSE_OF[version]).fallbacks
    assert looking.parse_fallbacks(table) == [fallback._asdict() for fallback in embedded]


def test_a_dangling_operator() -> None:
    dump = "name: a::b.out\nschema: (none)\nCPU: x :: (none) [ boxed ]\nCPU (inactive): y :: () -> () [ unboxed ]\n"
    assert looking.parse_dump(dump) == {
        "name": "a::b.out",
        "schema": None,
        "debug": None,
        "alias_analysis": None,
        "kernels": {
            "CPU": [
                {"debug": "x", "signature": None, "fallthrough": False, "boxed": True, "unboxed": False},
                {"debug": "y", "signature": "() -> ()", "fallthrough": False, "boxed": False, "unboxed": True},
            ]
        },
    }


@pytest.mark.parametrize(
    ("dump", "line"),
    [
        ("", ""),
        ("name: a::b\n", ""),
        ("name: a::b\nschema: a::b() -> ()\ndebug: x\n", ""),
        ("name: a::b\nschema: (none)\nCPU: x [ boxed ]\n", "CPU: x [ boxed ]"),
        ("name: a::b\nschema: (none)\nCPU:  :: (none) [ boxed ]\n", "CPU:  :: (none) [ boxed ]"),
        ("name: a::b\nschema: (none)\nCPU (inactive): x :: (none) [ ]\n", "CPU (inactive): x :: (none) [ ]"),
    ],
)
def test_a_dump_that_is_not_understood_is_not_guessed_at(dump: str, line: str) -> None:
    with pytest.raises(ValueError) as caught:
        looking.parse_dump(dump)
    assert str(caught.value) == line


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("registered at /opt/v/site-packages/torch/a.py:1", "registered at site-packages/torch/a.py:1"),
        ("registered at /src/pytorch/aten/a.cpp:1", "registered at site-packages/aten/a.cpp:1"),
        ("registered at /usr/lib/python3/dist-packages/x/a.py:1", "registered at site-packages/x/a.py:1"),
        ("registered at /else/lib/python3.9/site-packages/x/a.py:1", "registered at site-packages/x/a.py:1"),
        ("registered at /usr/lib/python3/a.py:1", "registered at a.py:1"),
        ("registered at /home/me/x/a.cpp:1", "registered at ~/x/a.cpp:1"),
        ("registered at /build/home/me/a.cpp:1", "registered at /build/home/me/a.cpp:1"),
        ("registered at /__w/pytorch/aten/a.cpp:1", "registered at /__w/pytorch/aten/a.cpp:1"),
        ("registered at /home/meandyou/a.cpp:1", "registered at /home/meandyou/a.cpp:1"),
        ("registered at ../aten/a.cpp:1", "registered at ../aten/a.cpp:1"),
    ],
)
def test_paths_of_the_machine_are_cut(text: str, cleaned: str) -> None:
    path = ["", "/usr/lib/python3", "/opt/v/site-packages", "/usr/lib/python3/dist-packages", "/"]
    cleaner = probe.Cleaner("/src/pytorch", path, "/home/me")
    assert cleaner.clean(text) == cleaned


class _Rule:
    def method(self) -> None:
        """A bound kernel."""

    def __call__(self) -> None:
        """A kernel that is an object."""


def test_functions_are_named_without_addresses() -> None:
    def local() -> None:
        """A kernel made by another function."""

    here = __name__
    assert probe.function_name(local) == f"{here}.test_functions_are_named_without_addresses.<locals>.local"
    assert probe.function_name(functools.partial(local)) == probe.function_name(local)
    assert probe.function_name(_Rule().method) == f"{here}._Rule.method"
    assert probe.function_name(_Rule()) == f"{here}._Rule"
    assert probe.function_name(_Rule) == f"{here}._Rule"
    assert probe.function_name(len) == "builtins.len"


@pytest.mark.parametrize(
    "script", ["probe.py", "looking.py", "going_on.py", "fake_mode.py", "torch_library.py", ANSWERS]
)
def test_the_probe_stands_alone(script: str) -> None:
    """Python 3.8 can read it, and it imports the standard library only, but for what a type checker sees."""
    text = Path(probe.__file__).with_name(script).read_text(encoding="utf-8")
    tree = ast.parse(text, feature_version=(3, 8))
    imported = {alias.name.split(".")[0] for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module).split(".")[0] for node in tree.body if isinstance(node, ast.ImportFrom)}
    assert imported <= set(sys.stdlib_module_names)


# Search for the modules of a package that define higher-order operators, and their import.


DEFINING = ["broken", "deep.annotated", "derived", "ends", "made"]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    root = tmp_path / "fake_torch"
    (modules,) = cases(Path(__file__).with_name("higher_order_modules.txt"))
    write(modules, root)
    return root


def test_modules_that_define_some(package: Path) -> None:
    assert defining_modules(package) == [f"fake_torch.{name}" for name in DEFINING]


def test_what_cannot_be_imported_is_noted(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(package.parent))
    before = set(sys.modules)
    try:
        assert import_all(package) == [
            "fake_torch.broken cannot be imported, so its higher-order operators are missing: "
            "ModuleNotFoundError: No module named 'no_such_module'",
            "fake_torch.ends cannot be imported, so its higher-order operators are missing: SystemExit: 1",
        ]
        modules = {name for name in sys.modules if name.startswith("fake_torch.")}
        imported = {f"fake_torch.{name}" for name in DEFINING if name not in ("broken", "ends")}
        assert modules == imported | {"fake_torch._ops", "fake_torch.deep"}
    finally:
        for name in set(sys.modules) - before:
            del sys.modules[name]
