"""Search for the modules of a package that define higher-order operators, and their import."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dispatch_cli.capture.higher_order_modules import defining_modules, import_all

FILES = {
    "_ops.py": "class HigherOrderOperator:\n    pass\n",
    "made.py": "from fake_torch._ops import HigherOrderOperator\n\nmade = HigherOrderOperator()\n",
    "derived.py": (
        "from fake_torch import _ops\n\n\nclass Derived(_ops.HigherOrderOperator):\n    pass\n\n\nmade = Derived()\n"
    ),
    "deep/__init__.py": "",
    "deep/renamed.py": "from fake_torch.derived import Derived as Other\n\nmade = Other()\n",
    "deep/local.py": (
        "from fake_torch.derived import Derived\n\n\n"
        "def make():\n    class Local(\n        Derived,\n    ):\n        pass\n\n"
        "    return Local()\n\n\nmade = make()\n"
    ),
    "attribute.py": "import fake_torch.derived as d\n\nmade = d.Derived()\n",
    "broken.py": "from fake_torch.derived import Derived\n\nimport no_such_module\n\nmade = Derived()\n",
    "ends.py": "import sys\n\nfrom fake_torch.derived import Derived\n\nsys.exit(1)\nmade = Derived()\n",
    # these define none
    "unfinished.py": "made = HigherOrderOperator(\n",
    "asks.py": (
        "from fake_torch.derived import Derived\n\n\ndef f(x):\n    return isinstance(x, Derived)  # not Derived()\n"
    ),
    "text.py": '"""As::\n\n    class Example(HigherOrderOperator):\n        pass\n"""\n\nclass Example:\n    pass\n',
    "example.py": "from fake_torch.text import Example\n\nmade = Example()\n",
    "same_name.py": "from elsewhere import Other\n\nmade = Other()\n",
}
DEFINING = ["attribute", "broken", "deep.local", "deep.renamed", "derived", "ends", "made"]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    root = tmp_path / "fake_torch"
    for name, text in {"__init__.py": "", **FILES}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def test_modules_that_define_some(package: Path) -> None:
    assert defining_modules(package) == [f"fake_torch.{name}" for name in DEFINING]


def test_files_of_imported_modules_are_not_read(package: Path) -> None:
    """Classes that are defined there are known otherwise."""
    derived, generated = (str(package / name) for name in ("derived.py", "made.py"))
    others = [f"fake_torch.{name}" for name in DEFINING if name not in ("derived", "made")]
    assert defining_modules(package, {derived, generated}, {"HigherOrderOperator", "Derived"}) == others
    assert defining_modules(package, {derived, generated}, {"HigherOrderOperator"}) == []


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
