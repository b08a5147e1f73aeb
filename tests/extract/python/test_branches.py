"""Branches that are not taken, and what is remembered in attributes of functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.extract.settings import ReadSettings
from dispatch_cli.model.condition import Atom
from dispatch_cli.model.extracted import ExtractedBlock, ExtractedDefinition, ExtractedKernel
from tests.extract.python.reading import read_files, read_text

_START = 'import torch, os\nlib = torch.library.Library("ns", "FRAGMENT")\nUSE = os.environ.get("USE")\n'


def _when(found: object) -> list[list[str]]:
    things = [item for item in found.found if not isinstance(item, ExtractedBlock)]  # type: ignore[attr-defined]
    return [[str(each) for each in thing.when] for thing in things]


def test_where_a_branch_raises_the_other_holds(tmp_path: Path) -> None:
    text = """\
def add(schema, ok):
    if ok:
        lib.define(schema)
    else:
        raise ValueError(schema)
add("f() -> ()", USE)
if not USE:
    lib.define("not() -> ()")
    raise RuntimeError
elif os.environ.get("MORE"):
    lib.define("more() -> ()")
else:
    lib.define("g() -> ()")
"""
    extraction = read_text(tmp_path, _START + text)
    assert _when(extraction) == [[], ["os.environ.get('MORE')"], ["not os.environ.get('MORE')"]]
    assert not extraction.not_understood


def test_where_an_exception_is_caught_both_branches_stay(tmp_path: Path) -> None:
    text = """\
try:
    if USE:
        lib.define("f() -> ()")
    else:
        raise ValueError
except ValueError:
    pass
"""
    assert _when(read_text(tmp_path, _START + text)) == [["USE"]]


def test_what_a_decided_condition_excludes_is_understood(tmp_path: Path) -> None:
    text = """\
def helper(name):
    lib.define(name)
if USE:
    helper(open("name").read())
def go():
    if not USE:
        return
    lib.define(open("other").read())
go()
for name in []:
    lib.define(name)
USE and lib.define(USE)
"""
    extraction = read_text(tmp_path, _START + text, ReadSettings(values=(("USE", "False"),)))
    assert not _when(extraction) and not extraction.not_understood


def test_a_loop_over_what_other_conditions_have_put_in_a_list_is_not_reached(tmp_path: Path) -> None:
    text = """\
names = []
if USE:
    names.append("a")
if not USE:
    for name in names:
        lib.define(name + "() -> ()")
lib.define("b() -> ()")
"""
    extraction = read_text(tmp_path, _START + text)
    assert _when(extraction) == [[]] and not extraction.not_understood


def test_attributes_of_functions_are_remembered(tmp_path: Path) -> None:
    text = """\
def setup():
    setup.done = getattr(setup, "done", False)
    if not setup.done:
        lib.define("f() -> ()")
    setup.done = True
setup()
setup()
def other():
    pass
other.flag = False
if USE:
    other.flag = True
    if not other.flag:
        lib.define("no() -> ()")
if other.flag:
    lib.define("g() -> ()")
"""
    extraction = read_text(tmp_path, _START + text)
    assert _when(extraction) == [[], ["USE"]]
    assert [item.schema for item in extraction.found if isinstance(item, ExtractedDefinition)] == [
        "ns::f() -> ()",
        "ns::g() -> ()",
    ]
    assert not extraction.not_understood


def test_what_a_handler_returns_is_another_value(tmp_path: Path) -> None:
    text = """\
def has(name):
    try:
        getattr(torch.ops.ns, name)
        return True
    except AttributeError:
        return False
if not has("f"):
    lib.define("f() -> ()")
"""
    assert _when(read_text(tmp_path, _START + text)) == [["AttributeError is raised at line 5"]]


def test_modules_that_are_imported_by_functions(tmp_path: Path) -> None:
    text = """\
import importlib
importlib.import_module("torch.library").define("a::f", "() -> ()")
__import__("torch").library.define("a::g", "() -> ()")
"""
    extraction = read_text(tmp_path, _START + text)
    assert _when(extraction) == [[], []]
    assert not extraction.not_understood


def test_conditions_of_settings_are_not_missing(tmp_path: Path) -> None:
    settings = ReadSettings(when=(Atom("BUILD_CUDA"),))
    extraction = read_text(tmp_path, _START + "if USE:\n    lib.define('f() -> ()')\n", settings)
    assert _when(extraction) == [["BUILD_CUDA", "USE"]] and extraction.missing == (("USE", 1),)


def test_what_leaves_within_try_leaves_what_follows(tmp_path: Path) -> None:
    text = """\
def register(name):
    try:
        if USE:
            return
        taken = lib.m.name if hasattr(lib.m, "name") else "ns"
        if hasattr(torch.ops, taken) and hasattr(getattr(torch.ops, taken), name):
            return
    except RuntimeError:
        pass
    lib.define(name + "() -> ()")
register("f")
register("f")
"""
    assert _when(read_text(tmp_path, _START + text)) == [["not USE"]]


# Bounds of what is read, and values that are said, in Python sources.


_OPENING = 'import torch\nlib = torch.library.Library("ns", "FRAGMENT")\n'


@pytest.mark.parametrize("name", ['f"f{y}() -> ()"', "str(y)", '"{}".format(y)', "repr(-y)", 'f"{y!r}"'])
def test_numbers_that_python_does_not_print_are_not_known(tmp_path: Path, name: str) -> None:
    extraction = read_text(tmp_path, f"{_OPENING}y = 0x{'f' * 5000}\nlib.define({name})\nlib.define('g() -> ()')\n")
    definitions = [item.schema for item in extraction.found if isinstance(item, ExtractedDefinition)]
    assert "ns::g() -> ()" in definitions and len(definitions) + len(extraction.not_understood) >= 2
    read_text(tmp_path, f"{_OPENING}lib.define({name})\n", ReadSettings(values=(("y", f"0x{'f' * 5000}"),)))


def test_a_loop_that_registers_nothing_does_not_use_up_the_steps(tmp_path: Path) -> None:
    extraction = read_text(
        tmp_path,
        f"""\
{_OPENING}
def last(graph):
    queue = [graph]
    while queue:
        one = queue[0]
        for each in [1, 2, 3]:
            each + 1
        queue.append(one)
        queue.pop()
    return queue
last(None)
lib.define("f() -> ()")
""",
    )
    assert [type(item) for item in extraction.found][-1] is ExtractedDefinition
    assert not extraction.not_understood


@pytest.mark.parametrize("value", ["False", "true"])
@pytest.mark.parametrize("name", ["USE", "os.environ['X'] == '1'", "mod.here()", "mod.x and y", "import other"])
def test_what_is_said_decides_whether_it_is_true_or_false(tmp_path: Path, name: str, value: str) -> None:
    test = name
    head = "import mod, os\nUSE = os.environ.get('USE')\n"
    if name.startswith("import"):
        head += "try:\n    import other\nexcept ImportError:\n    other = None\n"
        test = "other is not None"
    text = f"{_OPENING}{head}if {test}:\n    lib.impl('f', lambda x: x, 'CPU')\n"
    text += "else:\n    lib.impl('f', lambda x: x, 'CUDA')\n"
    extraction = read_files(tmp_path, {"ops.py": text}, ReadSettings(values=((name, value),)))
    kernels = [(item.key, item.when) for item in extraction.found if isinstance(item, ExtractedKernel)]
    assert kernels == [("CPU" if value == "true" else "CUDA", ())]
    assert not extraction.missing and not extraction.not_understood
