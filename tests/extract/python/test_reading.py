"""Registrations of Python modules, by where and under which conditions they are."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import packaging.version
import pytest

from dispatch_cli.api import document_of_sources, load_state
from dispatch_cli.engine.dispatcher.dump import dump_registrations
from dispatch_cli.extract.python.evaluation.versions import Version
from dispatch_cli.model.names import OperatorName
from tests import in_pytorch
from tests.capture.support import torch_python
from tests.cli.support import call
from tests.extract.cases import cases, write
from tests.extract.test_cases import FOLDER

HERE = Path(__file__).parent
(MODULES,) = cases(FOLDER / "python_modules.txt")
RECORDED = HERE / "recorded.json"
UNIVERSE = "torch-2.15"
_KEY = "PrivateUse3"
_LINE = re.compile(r"((?!name|schema|debug)[\w\[\]]+(?: \(inactive\))?: ).* :: (.*)")

Dumps = dict[str, list[str]]
"""Operator → the lines of its dump, without debug texts; of PyTorch's own operators, those of one key."""


def test_versions_are_in_packagings_order() -> None:
    texts = ("2.5.0.dev1", "2.5.0a0", "v2.5.0-beta.2", "2.5rc1", "2.5", "2.5.0.post1", "2.5.1")
    assert sorted(texts, key=packaging.version.parse) == [*texts]
    keys = [Version(text).key for text in texts]
    assert sorted({*keys}) == keys
    assert Version(f"1.13{'a' * 10_000}!").key == Version(f"1{'-rc1' * 10_000}!").release == ()


def live(python: str, folder: Path) -> Dumps:
    """Dumps of what live PyTorch registers, which imports the modules."""
    write(MODULES, folder)
    names = [name.removesuffix(".py").replace("/", ".") for name in MODULES.files if name.count("/") == 1]
    imported = [name for name in names if not name.endswith("__init__")]
    script = [python, "-B", str(HERE / "live_script.py"), str(folder), *imported]
    done = subprocess.run(script, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    dumps = {name: _lines(name, dump) for name, dump in json.loads(done.stdout).items()}
    return {name: lines for name, lines in dumps.items() if lines}


def recorded() -> Dumps:
    """Dumps of what it registered when it was recorded."""
    answer: Dumps = json.loads(RECORDED.read_text(encoding="utf-8"))
    return answer


def ours(names: list[str], folder: Path) -> Dumps:
    """Our reading of the modules: the dumps of these operators and of those of the modules' own namespaces."""
    write(MODULES, folder)
    dispatcher = load_state([document_of_sources([str(folder / "modules")])], universe=UNIVERSE).dispatcher
    own = [str(name) for name in dispatcher.names() if str(name).startswith("pyx_")]
    results: Dumps = {}
    for name in dict.fromkeys([*names, *own]):
        base, _, overload = name.partition(".")
        results[name] = _lines(name, dump_registrations(dispatcher, OperatorName(base, overload)))
    return results


def _lines(name: str, dump: str) -> list[str]:
    lines = []
    for line in dump.splitlines():
        if not line.startswith("debug: "):
            match = _LINE.fullmatch(line)
            lines.append(match[1] + match[2] if match else line)
    return lines if name.startswith("pyx_") else [line for line in lines if _KEY in line]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        dumps = live(sys.argv[1], Path(directory))
    RECORDED.write_text(json.dumps(dumps, indent=1, sort_keys=True) + "\n", encoding="utf-8")


# Modules with every way to register, against what live PyTorch registers when it imports them.


def test_the_modules_register_what_was_recorded(tmp_path: Path) -> None:
    expected = recorded()
    assert ours(list(expected), tmp_path) == expected


@pytest.mark.live
def test_the_modules_register_what_live_pytorch_does(tmp_path: Path) -> None:
    expected = live(torch_python(), tmp_path)
    assert ours(list(expected), tmp_path) == expected


# Keys by the name of the backend at PrivateUse1: what is refused of sources is what a live PyTorch refuses.


KEYS = ("NPU", "AutogradNPU", "SparseNPU", "AutocastNPU", "npu", "Npu", "privateuseone", "PrivateUse1", "autogradnpu")
FORMS = (
    'of_{key} = torch.library.Library("aten", "IMPL"); of_{key}.impl("add.Tensor", f, "{key}")',
    'torch.library.impl("aten::mul.Tensor", "{key}")(f)',
    'kept.append(torch.library.Library("aten", "IMPL", "{key}"))',
    'torch.library.impl(library, "sub.Tensor", "{key}")(f)',
)
HEAD = """\
import torch
torch.utils.rename_privateuse1_backend("npu")
kept = []
library = torch.library.Library("aten", "IMPL")
def f(*args): ...
"""
STATEMENTS = tuple(form.format(key=key) for form in FORMS for key in KEYS)


@pytest.mark.live
def test_what_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program = f"{HEAD}refused = []\n"
    for number, statement in enumerate(STATEMENTS, HEAD.count("\n") + 1):
        program += f"try:\n    {statement}\nexcept Exception:\n    refused.append({number})\n"
    answer = in_pytorch.run([torch_python(), "-c", f"{program}print(refused)"])
    Path("backend.py").write_text(HEAD + "\n".join(STATEMENTS) + "\n", "utf-8")
    report = json.loads(call("check-invariants", "backend.py", "--base", "torch-2.13", "--format", "json").out)
    refused = {
        finding["declared_at"]["line"] for finding in report["findings"] if finding["check"] == "refused-registration"
    }
    live = set(json.loads(answer.stdout))
    assert refused <= live
    not_refused = [STATEMENTS[number - HEAD.count("\n") - 1] for number in sorted(live - refused)]
    assert not_refused == ['torch.library.impl("aten::mul.Tensor", "autogradnpu")(f)']  # an unknown device type
