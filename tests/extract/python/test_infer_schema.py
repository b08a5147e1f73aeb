"""Schemas of annotations, against those of ``torch.library.infer_schema``: recorded ones, and random ones live."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from dispatch_cli.extract.python.annotations import NoSchema, infer_schema
from dispatch_cli.extract.python.modules import ModuleIndex
from dispatch_cli.extract.python.reading import PythonReader
from dispatch_cli.extract.python.run import PythonRun
from dispatch_cli.extract.sources import Sources
from dispatch_cli.model.sources.extracted import SourceKind
from tests import in_pytorch
from tests.capture.support import live_seed, torch_python

_HEAD = """import torch, typing, collections.abc
from torch import Tensor, device, dtype
from typing import Optional, List, Sequence, Tuple, Union, Any
from torch.types import Number
import typing as t
import collections.abc as cabc
IntAlias = int
OptT = Optional[Tensor]
INF = float("inf")
DEF = 3
"""
_TYPES = (
    *("Tensor", "torch.Tensor", "int", "float", "bool", "str", "Number", "torch.dtype", "dtype", "torch.device"),
    *("device", "IntAlias", "torch.types.Number", "Union[int, float, bool]"),
)
_ODD_TYPES = (
    *("torch.SymInt", "object", "Any", "bytes", "complex", "torch.nn.Parameter", "Union[int, float]", "torch.layout"),
    *("Tuple[int, int]", "dict", "list", "List", "OptT", "None", "torch.types._int", "torch.types._dtype"),
)
_LISTS = ("List", "list", "Sequence", "typing.Sequence", "t.List", "cabc.Sequence", "collections.abc.Sequence")
_RETURNS = (
    *("tuple[()]", "Tuple", "tuple", "Tuple[Tensor, ...]", "List[int]", "list[Tensor]", "str", '"None"', "None"),
    *("Union[int, float, bool]", "Optional[None]", "type(None)", "Sequence[Tensor]", "Optional[Tensor]"),
)
_DEFAULTS = (
    *("None", "1", "2.5", "True", "False", '"x"', "-1", "1e-6", "torch.float32", "torch.half", "(1, 2)", "[]", "INF"),
    *("DEF", 'torch.device("cpu")', 'torch.device("cuda", 1)', "torch.strided", "0x10", '""', "DEF + 1", "torch.long"),
)


def random_module(chosen: random.Random, functions: int) -> str:
    """The text of a module: functions ``f0``, ``f1`` …, and ``MUTATES``, a list with a ``mutates_args`` for each."""
    lines = ["from __future__ import annotations"] if chosen.random() < 0.3 else []
    lines.append(_HEAD)
    mutates = []
    for place in range(functions):
        names = [f"{chosen.choice(['x', 'out', 'self', 'dim'])}{number}" for number in range(chosen.randint(0, 3))]
        star = chosen.randint(0, len(names)) if chosen.random() < 0.15 and names else None
        parameters: list[str] = []
        default = False
        for number, name in enumerate(names):
            if number == star:
                parameters.append("*")
                default = False
            kind = _type(chosen)
            text = f'{name}: "{kind}"' if chosen.random() < 0.1 else f"{name}: {kind}"
            if default or chosen.random() < 0.25:
                text, default = f"{text} = {chosen.choice(_DEFAULTS)}", True
            parameters.append(text)
        lines.append(f"def f{place}({', '.join(parameters)}) -> {_return(chosen)}:\n    pass\n")
        mutates.append(chosen.choice(["()", "()", "()", '"unknown"', repr(names[:1]), '["other"]']))
    return "\n".join([*lines, f"MUTATES = [{', '.join(mutates)}]", ""])


def _type(chosen: random.Random, depth: int = 0) -> str:
    kind = chosen.random()
    if depth > 2 or kind < 0.5:
        return chosen.choice(_TYPES if chosen.random() < 0.95 else _ODD_TYPES)
    if kind < 0.65:
        return f"Optional[{_type(chosen, depth + 1)}]"
    if kind < 0.75:
        return f"{chosen.choice(_TYPES)} | None"
    return f"{chosen.choice(_LISTS)}[{_type(chosen, depth + 1)}]"


def _return(chosen: random.Random) -> str:
    kind = chosen.random()
    if kind < 0.5:
        return chosen.choice(["Tensor", "None", "torch.Tensor", "int", "list[Tensor]"])
    if kind < 0.8:
        parts = chosen.choices(["Tensor", "Tensor", "int", "List[Tensor]", "Number", "str"], k=chosen.randint(1, 3))
        return f"{chosen.choice(['Tuple', 'tuple', 'typing.Tuple'])}[{', '.join(parts)}]"
    return chosen.choice(_RETURNS)


def record(python: str) -> None:
    """Write functions and their schemas."""
    here = Path(__file__).parent
    chosen, recorded = random.Random(1), []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(6):
            text = random_module(chosen, 60)
            file = Path(folder, "module.py")
            file.write_text(text, encoding="utf-8")
            script = [python, "-B", str(here / "infer_script.py"), str(file)]
            done = subprocess.run(script, capture_output=True, text=True, check=True)
            recorded.append({"text": text, "schemas": json.loads(done.stdout)})
    (here / "recorded_schemas.json").write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record(sys.argv[1])


HERE = Path(__file__).parent


def ours(file: Path) -> list[str | None]:
    """The schema of each function of a module; None where there is none."""
    sources = Sources({SourceKind.PYTHON: (str(file),)})
    reader = PythonReader(PythonRun(sources, ModuleIndex((str(file),), sources)))
    names = reader.module(str(file)).names
    return [_schema(reader, names[f"f{place}"], mutates) for place, mutates in enumerate(names["MUTATES"])]


def _schema(reader: PythonReader, function: object, mutates: object) -> str | None:
    try:
        return infer_schema(function, mutates, reader.evaluator.value)
    except NoSchema:
        return None


def test_schemas_are_those_that_were_recorded(tmp_path: Path) -> None:
    recorded = json.loads((HERE / "recorded_schemas.json").read_text(encoding="utf-8"))
    for number, case in enumerate(recorded):
        file = tmp_path / f"module{number}.py"
        file.write_text(case["text"], encoding="utf-8")
        assert ours(file) == case["schemas"]


@pytest.mark.live
def test_schemas_are_those_of_live_pytorch(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(random_module(random.Random(live_seed()), 1000), encoding="utf-8")
    script = [torch_python(), str(HERE / "infer_script.py"), str(file)]
    done = in_pytorch.run(script, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    pairs = list(zip(ours(file), json.loads(done.stdout), strict=True))
    taken = [(mine, theirs) for mine, theirs in pairs if theirs is not None]  # newer versions take more types
    assert len(taken) > 80
    assert [mine for mine, _ in taken] == [theirs for _, theirs in taken]
