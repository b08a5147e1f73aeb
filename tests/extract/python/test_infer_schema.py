"""Schemas of annotations, against those of ``torch.library.infer_schema``: recorded ones, and random ones live."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest

from dispatch_cli.extract.python.annotations import NoSchema
from dispatch_cli.extract.python.infer import infer_schema
from dispatch_cli.extract.python.modules import ModuleIndex
from dispatch_cli.extract.python.reading import PythonReader
from dispatch_cli.extract.python.run import PythonRun
from dispatch_cli.extract.sources import Sources
from dispatch_cli.model.extracted import SourceKind
from tests import in_pytorch
from tests.capture.support import torch_python
from tests.extract.python.signatures import random_module

HERE = Path(__file__).parent


def ours(file: Path) -> list[str | None]:
    """The schema of each function of a module; None where there is none."""
    sources = Sources({SourceKind.PYTHON: (str(file),)})
    reader = PythonReader(PythonRun(sources, ModuleIndex((str(file),), sources)))
    names = reader.module(str(file)).names
    return [_schema(reader, names[f"f{place}"], mutates) for place, mutates in enumerate(names["MUTATES"])]


def _schema(reader: PythonReader, function: object, mutates: object) -> str | None:
    try:
        return infer_schema(function, mutates, reader.value)
    except NoSchema:
        return None


def test_schemas_are_those_that_were_recorded(tmp_path: Path) -> None:
    recorded = json.loads((HERE / "recorded_schemas.json").read_text(encoding="utf-8"))
    for number, one in enumerate(recorded):
        file = tmp_path / f"module{number}.py"
        file.write_text(one["text"], encoding="utf-8")
        assert ours(file) == one["schemas"]


@pytest.mark.live
def test_schemas_are_those_of_live_pytorch(tmp_path: Path) -> None:
    chosen = random.Random(int(os.environ.get("DISPATCH_CLI_LIVE_SEED", "0")))
    file = tmp_path / "module.py"
    file.write_text(random_module(chosen, 1000), encoding="utf-8")
    script = [torch_python(), str(HERE / "infer_script.py"), str(file)]
    done = in_pytorch.run(script, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    pairs = list(zip(ours(file), json.loads(done.stdout), strict=True))
    taken = [(mine, theirs) for mine, theirs in pairs if theirs is not None]  # newer versions take more types
    assert len(taken) > 80
    assert [mine for mine, _ in taken] == [theirs for _, theirs in taken]
