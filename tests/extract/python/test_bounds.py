"""Bounds of what is read, and values that are said, in Python sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.extract.settings import ReadSettings
from dispatch_cli.model.extracted import ExtractedDefinition, ExtractedKernel
from tests.extract.python.reading import read_files, read_text

_START = 'import torch\nlib = torch.library.Library("ns", "FRAGMENT")\n'


@pytest.mark.parametrize("name", ['f"f{y}() -> ()"', "str(y)", '"{}".format(y)', "repr(-y)", 'f"{y!r}"'])
def test_numbers_that_python_does_not_print_are_not_known(tmp_path: Path, name: str) -> None:
    extraction = read_text(tmp_path, f"{_START}y = 0x{'f' * 5000}\nlib.define({name})\nlib.define('g() -> ()')\n")
    definitions = [item.schema for item in extraction.found if isinstance(item, ExtractedDefinition)]
    assert "ns::g() -> ()" in definitions and len(definitions) + len(extraction.not_understood) >= 2
    read_text(tmp_path, f"{_START}lib.define({name})\n", ReadSettings(values=(("y", f"0x{'f' * 5000}"),)))


def test_a_loop_that_registers_nothing_does_not_use_up_the_steps(tmp_path: Path) -> None:
    extraction = read_text(
        tmp_path,
        f"""\
{_START}
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
    text = f"{_START}{head}if {test}:\n    lib.impl('f', lambda x: x, 'CPU')\n"
    text += "else:\n    lib.impl('f', lambda x: x, 'CUDA')\n"
    extraction = read_files(tmp_path, {"ops.py": text}, ReadSettings(values=((name, value),)))
    kernels = [(item.key, item.when) for item in extraction.found if isinstance(item, ExtractedKernel)]
    assert kernels == [("CPU" if value == "true" else "CUDA", ())]
    assert not extraction.missing and not extraction.not_understood
