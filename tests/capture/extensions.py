"""Extensions that are imported together in one capture, and what it writes of them; each has namespaces of its own."""

from __future__ import annotations

import os
from pathlib import Path
from random import SystemRandom

import pytest

from tests.capture.support import torch_python
from tests.cli.support import call
from tests.forks import ROOT
from tests.once import once

HERE = Path(__file__).parent
SEED = "DISPATCH_CLI_LIVE_SEED"
LIBRARY = """
import torch
torch.library.define("mylib::op", "(Tensor x) -> Tensor")
@torch.library.impl("mylib::op", "CPU")
def op(x):
    return x.clone()
"""
REPLACED = """
import torch
first_library = torch.library.Library("twice", "FRAGMENT")
first_library.define("op(Tensor x) -> Tensor")
gone_library = torch.library.Library("twice", "IMPL", "CPU")
second_library = torch.library.Library("twice", "IMPL", "CPU")
def first(x):
    return x.clone()
def gone(x):
    return x.clone()
def second(x):
    return x.clone()
first_library.impl("op", first, "CPU")
try:
    gone_library.impl("op", gone)
    gone_library._destroy()
    second_library.impl("op", second)
    first_library.impl("op", torch.library.fallthrough_kernel, "AutogradCPU")
except RuntimeError:  # before 2.6 a kernel of Python is replaced by none
    pass
"""
MY_EXTENSION = """
import torch
library = torch.library.Library("my_ext", "DEF")
library.define("twice(Tensor x) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))
library.impl("twice", lambda x: x + x, "CompositeExplicitAutograd")
other = torch.library.Library("my_other", "FRAGMENT")
other.impl("nowhere", lambda x: x, "CPU")
@torch.ops.my_ext.twice.default.py_impl(torch._C.DispatchKey.Meta)
def meta(x):
    return x
"""
WITH_PYTORCHS = """
import torch
torch.library.define("with_pytorchs::op", "(Tensor x) -> Tensor")
from torch.ao.quantization.fx import _decomposed
"""
"""It imports a module of PyTorch, which defines the operators of PYTORCHS_LATER."""
PYTORCHS_LATER = "quantized_decomposed"
MODULES = {"mylib": LIBRARY, "replaced": REPLACED, "my_extension": MY_EXTENSION, "with_pytorchs": WITH_PYTORCHS}
RANDOM_SCHEMAS = "tests.capture.random_schemas_extension"


def captured_extensions() -> Path:
    """The folder of the capture ``cap.json.gz``; in the file ``seed`` is the seed of the random schemas."""
    return once("captured-extensions", _capture)


def _capture(folder: Path) -> None:
    for module, text in MODULES.items():
        (folder / f"{module}.py").write_text(text, encoding="utf-8")
    seed = os.environ.get(SEED) or str(SystemRandom().randrange(1, 1 << 31))
    (folder / "seed").write_text(seed, encoding="utf-8")
    words = [word for module in (*MODULES, "live_chains", RANDOM_SCHEMAS) for word in ("--import", module)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, (folder, HERE, ROOT))))
        patch.setenv(SEED, seed)
        result = call("capture", "--python", torch_python(), *words, "-o", str(folder / "cap.json.gz"))
    assert result.code == 0, result.err
