"""Files of out-of-tree backends, whole and broken: torchgen takes and registers what we do.

Opt in by naming a Python that has PyTorch in ``DISPATCH_CLI_TORCH_PYTHON``. ``DISPATCH_CLI_LIVE_BACKEND_FILES`` says
how many files, ``DISPATCH_CLI_LIVE_SEED`` repeats a run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random, SystemRandom

import pytest

from dispatch_cli.extract.sources import Sources
from dispatch_cli.extract.torchgen import extract_torchgen
from dispatch_cli.extract.torchgen.backend_fields import BackendFields
from dispatch_cli.extract.torchgen.backend_yaml import BackendYaml, KnownOperators, known_operators
from dispatch_cli.extract.torchgen.native_functions import read_native_functions
from dispatch_cli.extract.torchgen.yaml_file import YamlFile
from dispatch_cli.model.extracted import ExtractedKernel, SourceKind
from tests import in_pytorch
from tests.capture.support import torch_python

_BACKENDS = ("XLA", "Lazy", "PrivateUse1", "PrivateUse2", "IPU", "HPU", "Vulkan")
_VALUES = ("null", "~", "''", "true", "Yes", "off", "1", "2.5", "[]", "{}", "[abs]", "{abs: relu}", "abs", "'abs'", "t")
_FIELDS = (
    *("backend", "cpp_namespace", "class_name", "supported", "autograd", "full_codegen", "ir_gen", "non_native"),
    *("symint", "use_out_as_primary", "device_guard", "extra_headers", "custom", "custom_autograd", "tocpu"),
)


class BackendFileMaker:
    """Makes files. operators: names of real ones, without namespace."""

    def __init__(self, random: Random, operators: Sequence[str]) -> None:
        self._random = random
        self._operators = operators

    def whole(self) -> str:
        """A file that is most often one that torchgen takes."""
        random = self._random
        lines = [f"backend: {random.choice(_BACKENDS)}", f"cpp_namespace: {random.choice(('my', 'my::native'))}"]
        if random.random() < 0.3:
            lines.append("class_name: MyFunctions")
        flags = [name for name in ("use_out_as_primary", "device_guard") if random.random() < 0.3]
        lines += [f"{name}: {random.choice(('true', 'false', 'True', 'yes'))}" for name in flags]
        for name in ("supported", "full_codegen", "autograd", "ir_gen", "symint"):
            if random.random() < (0.9 if name == "supported" else 0.4):
                lines += [f"{name}:", *(f"  - {item}" for item in self._some())]
        if random.random() < 0.2:
            lines += ["non_native:", "  - func: scalar(Scalar value) -> Tensor"]
        return "\n".join(lines) + "\n"

    def broken(self) -> str:
        """A file with one to three changes."""
        lines = self.whole().splitlines()
        for _ in range(self._random.randint(1, 3)):
            self._change(lines)
        return "\n".join(lines) + "\n"

    def _some(self) -> list[str]:
        return self._random.sample(self._operators, self._random.randint(1, 12))

    def _change(self, lines: list[str]) -> None:
        random = self._random
        at = random.randrange(len(lines)) if lines else 0
        kind = random.randrange(10)
        if kind == 0 and lines:
            del lines[at]
        elif kind == 1 and lines and lines[at].startswith("  - "):
            lines.insert(at, lines[at])
        elif kind == 2 and lines:
            lines[at] = lines[at][:2] + lines[at][2:].replace("a", "", 1)
        elif kind == 3:
            self._set(lines, f"{random.choice(_FIELDS)}: {random.choice(_VALUES)}")
        elif kind == 4:
            self._set(lines, f"backend: {random.choice((*_BACKENDS, 'CPU', 'CUDA', 'NPU', 'Meta', 'cpu', 'Sparse'))}")
        elif kind == 5 and lines and lines[at].startswith("  - "):
            lines[at] = f"  - {random.choice(('add', 'aten::abs', 'abs.Tensor', '7', 'true', 'null', '[abs]', 'a: b'))}"
        elif kind == 6 and lines:
            lines[at] = "   " + lines[at]
        elif kind == 7 and lines:
            lines[at] = lines[at].replace(":", "", 1)
        elif kind == 8 and lines and lines[at].startswith("  - "):
            lines += ["autograd:", lines[at]] if not any(line.startswith("autograd") for line in lines) else []
        elif lines:
            lines.insert(at, f"  - {random.choice(self._operators)}")

    @staticmethod
    def _set(lines: list[str], line: str) -> None:
        """Set a field to a value, in place of the one it has, with what belongs to that."""
        name = line.partition(":")[0]
        start = next((at for at, one in enumerate(lines) if one.partition(":")[0] == name), None)
        if start is not None:
            end = start + 1
            while end < len(lines) and lines[end].startswith(" "):
                end += 1
            del lines[start:end]
        lines.append(line)


pytestmark = pytest.mark.live
COUNT = 200


def torchgen_parent() -> str:
    code = "import importlib.util, pathlib; print(pathlib.Path(importlib.util.find_spec('torchgen').origin).parents[1])"
    return in_pytorch.run([torch_python(), "-c", code]).stdout.strip()


def ours(path: Path, text: str, known: KnownOperators) -> list[tuple[str, str]] | None:
    path.write_text(text, encoding="utf-8")
    file = YamlFile(Sources({}), str(path))
    root = file.fields()
    if root is None or file.problems:
        return None
    backend = BackendYaml(BackendFields(root), known)
    if backend.problems:
        return None
    return [(f"aten::{kernel.function.name}", kernel.key) for kernel in backend.kernels()]


def test_random_files_against_torchgen(tmp_path: Path) -> None:
    parent = torchgen_parent()
    native = Path(parent, "torchgen", "packaged", "ATen", "native", "native_functions.yaml")
    read = read_native_functions(YamlFile(Sources({}), str(native)))
    known = known_operators(read.functions, read.groups)
    seed = int(os.environ.get("DISPATCH_CLI_LIVE_SEED") or SystemRandom().randrange(1, 1 << 31))
    print(f"seed {seed}")
    maker = BackendFileMaker(Random(seed), sorted(known.by_name))
    count = int(os.environ.get("DISPATCH_CLI_LIVE_BACKEND_FILES") or COUNT)
    texts = [maker.whole() if number % 4 == 0 else maker.broken() for number in range(count)]
    command = [sys.executable, "-m", "tests.extract.torchgen.torchgen_judge", parent]
    run = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=True)
    theirs = [None if pairs is None else [(name, key) for name, key in pairs] for pairs in json.loads(run.stdout)]
    assert 0.2 < sum(pairs is not None for pairs in theirs) / count < 0.8
    for text, expected in zip(texts, theirs, strict=True):
        extraction = ours(tmp_path / "backend.yaml", text, known)
        assert (extraction is None) == (expected is None), (text, expected, extraction)
        assert extraction is None or sorted(extraction) == sorted(set(expected or ())), text


def test_the_schemas_of_a_state_do_for_the_file(tmp_path: Path) -> None:
    """Without ``native_functions.yaml`` among the sources, PyTorch's operators come from elsewhere."""
    parent = torchgen_parent()
    native = Path(parent, "torchgen", "packaged", "ATen", "native", "native_functions.yaml")
    read = read_native_functions(YamlFile(Sources({}), str(native)))
    schemas = [f"aten::{function.schema}" for function in read.functions]
    path = tmp_path / "backend.yaml"
    path.write_text("backend: XLA\ncpp_namespace: my\nsupported:\n- abs\n- add.Tensor\nautograd:\n- max_pool2d\n")
    sources = Sources({SourceKind.BACKEND_YAML: [str(path)]})
    from_schemas = extract_torchgen(sources, base_operators=lambda: schemas)
    both = {SourceKind.NATIVE_FUNCTIONS: [str(native)], SourceKind.BACKEND_YAML: [str(path)]}
    kernels = [
        {
            (kernel.operator, kernel.key, kernel.at)
            for kernel in items
            if isinstance(kernel, ExtractedKernel) and kernel.at.file == str(path)
        }
        for items in (from_schemas.found, extract_torchgen(Sources(both)).found)
    ]
    assert kernels[0] == kernels[1]
    assert ("aten::add.out", "XLA") in {(operator, key) for operator, key, _ in kernels[0]}
