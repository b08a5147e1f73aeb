"""Extensions that are imported together in one capture, and what it writes of them; each has namespaces of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.capture.support import SEED, live_seed, torch_python
from tests.cli.support import call
from tests.extract.cases import cases, write
from tests.forks import ROOT
from tests.once import once

HERE = Path(__file__).parent
(MODULES,) = cases(Path(__file__).with_name("extensions.txt"))
LIBRARY = MODULES.files["mylib.py"]
PYTORCHS_LATER = "quantized_decomposed"
"""The namespace of operators that a module of PyTorch defines, which one of the modules imports."""
RANDOM_SCHEMAS = "tests.capture.random_schemas_extension"


def captured_extensions() -> Path:
    """The folder of the capture ``cap.json.gz``; in the file ``seed`` is the seed of the random schemas."""
    return once("captured-extensions", _capture)


def _capture(folder: Path) -> None:
    write(MODULES, folder)
    seed = str(live_seed())
    (folder / "seed").write_text(seed, encoding="utf-8")
    modules = [name.removesuffix(".py") for name in MODULES.files]
    words = [word for module in (*modules, "live_chains", RANDOM_SCHEMAS) for word in ("--import", module)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, (folder, HERE, ROOT))))
        patch.setenv(SEED, seed)
        result = call("capture", "--python", torch_python(), *words, "-o", str(folder / "cap.json.gz"))
    assert result.code == 0, result.err
