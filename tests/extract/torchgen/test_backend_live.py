"""Files of out-of-tree backends: torchgen registers what we say of those that it takes.

Opt in by naming a Python that has PyTorch in ``DISPATCH_CLI_TORCH_PYTHON``. ``DISPATCH_CLI_LIVE_BACKEND_FILES`` says
how many files.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from dispatch_cli.declarations import tree
from dispatch_cli.extract.sources import Sources
from dispatch_cli.extract.torchgen.backend_yaml import BackendYaml, KnownOperators, known_operators
from dispatch_cli.extract.torchgen.fields import Fields
from dispatch_cli.extract.torchgen.native_functions import read_native_functions
from dispatch_cli.extract.torchgen.run import extract_torchgen, read_yaml
from dispatch_cli.model.sources.extracted import ExtractedKernel, SourceKind
from tests import in_pytorch
from tests.capture.support import live_seed, torch_python

_BACKENDS = ("XLA", "Lazy", "PrivateUse1", "PrivateUse2", "IPU", "HPU", "Vulkan")


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

    def _some(self) -> list[str]:
        return self._random.sample(self._operators, self._random.randint(1, 12))


pytestmark = pytest.mark.live
COUNT = 200


def torchgen_parent() -> str:
    code = "import importlib.util, pathlib; print(pathlib.Path(importlib.util.find_spec('torchgen').origin).parents[1])"
    return in_pytorch.run([torch_python(), "-c", code]).stdout.strip()


def entries(path: Path) -> list[Fields]:
    root, _ = read_yaml(Sources({}), str(path), is_list=True)
    assert isinstance(root, tree.Sequence)
    return [Fields(str(path), node, []) for node in root.items]


def ours(path: Path, text: str, known: KnownOperators) -> list[tuple[str, str]]:
    path.write_text(text, encoding="utf-8")
    root, _ = read_yaml(Sources({}), str(path), is_list=False)
    assert isinstance(root, tree.Mapping)
    backend = BackendYaml(str(path), root, known)
    assert not backend.problems
    return [(f"aten::{kernel.function.name}", kernel.key) for kernel in backend.kernels()]


def test_random_files_against_torchgen(tmp_path: Path) -> None:
    parent = torchgen_parent()
    native = Path(parent, "torchgen", "packaged", "ATen", "native", "native_functions.yaml")
    read = read_native_functions(entries(native))
    known = known_operators(read.functions, read.groups)
    maker = BackendFileMaker(Random(live_seed()), sorted(known.by_name))
    count = int(os.environ.get("DISPATCH_CLI_LIVE_BACKEND_FILES") or COUNT)
    texts = [maker.whole() for _ in range(count)]
    command = [sys.executable, "-m", "tests.extract.torchgen.torchgen_judge", parent]
    run = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=True)
    theirs = [None if pairs is None else [(name, key) for name, key in pairs] for pairs in json.loads(run.stdout)]
    assert sum(pairs is not None for pairs in theirs) > 0.2 * count
    for text, expected in zip(texts, theirs, strict=True):
        if expected is not None:
            assert sorted(ours(tmp_path / "backend.yaml", text, known)) == sorted(set(expected)), text


def test_the_schemas_of_a_state_do_for_the_file(tmp_path: Path) -> None:
    """Without ``native_functions.yaml`` among the sources, PyTorch's operators come from elsewhere."""
    parent = torchgen_parent()
    native = Path(parent, "torchgen", "packaged", "ATen", "native", "native_functions.yaml")
    read = read_native_functions(entries(native))
    schemas = [str(function.schema.schema) for function in read.functions]
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
        for items in (from_schemas.items, extract_torchgen(Sources(both)).items)
    ]
    assert kernels[0] == kernels[1]
    assert ("aten::add.out", "XLA") in {(operator, key) for operator, key, _ in kernels[0]}
