"""Build the logging kernels, call a live PyTorch's operators with them, and judge the engine by what was seen."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dispatch_cli.capture import probe
from dispatch_cli.capture.document import document
from dispatch_cli.engine.call.kernels.own_kernels import rows
from dispatch_cli.engine.table.layout import layout_of
from dispatch_cli.model.names import OperatorName
from tests import in_pytorch
from tests.capture.support import read_document
from tests.engine.call.judge.compare import Judge, Judged, judge_all, names_in, observed_calls
from tests.trace.recorded import library_of

HERE = Path(__file__).parent
CONTEXTS = (
    *("plain", "complex", "no_grad", "inference", "inference_autocast", "vmap", "nested_vmap", "vmap_grad", "grad"),
    *("jvp", "functionalize", "meta", "conj", "neg", "zerotensor", "inplace", "vmap_inplace"),
    *("functionalize_inplace",),
)
UNTRIED = ("calls", "raises", "functionalize", "iterates")
"""Kinds of effect that no sample of OpInfo shows."""
HANDWRITTEN = {
    (row.source, row.key, operator)
    for row in rows()
    for operator in row.operators
    if row.does.what not in UNTRIED and row.does.how != "no-rule" and operator.startswith("aten::")
}
"""The kernels of single operators of which the table says something."""


def run(
    python: str,
    directory: Path,
    contexts: Sequence[str],
    samples: int = 1,
    operators: int | None = None,
    seed: int = 0,
) -> None:
    """Make the calls; `judged` judges what they leave in the directory.

    samples: of each operator. operators: how many, chosen by *seed*; None for all. Those of the table of own
        kernels are always among them, with more samples.
    """
    asked = {
        "contexts": contexts,
        "samples": samples,
        "operators": operators,
        "seed": seed,
        "thorough": sorted(OperatorName.parse(name).name.removeprefix("aten::") for _, _, name in HANDWRITTEN),
        "probe": probe.__file__,
    }
    question = directory / "asked.json"
    question.write_text(json.dumps(asked), encoding="utf-8")
    script = HERE / "live_opinfo.py"
    in_pytorch.run([python, str(script), library_of(python), str(question), str(directory)])


def judged(directory: Path) -> Judged:
    """The judgements of every context, of what `run` has left in a directory."""
    state: dict[str, Any] = json.loads((directory / "state.json").read_text(encoding="utf-8"))
    path = directory / "calls.jsonl"
    called = names_in(path)
    operators = [operator for operator in state["operators"] if operator["name"] in called]
    dispatcher = read_document(document({**state, "operators": operators, "higher_order_operators": []}))
    for name in called:
        dispatcher.settle(OperatorName.parse(name))
    judge = Judge(dispatcher, {operator["name"]: operator["python"] for operator in operators})
    return judge_all(judge, observed_calls(path, layout_of(dispatcher.universe)))
