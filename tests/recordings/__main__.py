"""Record what a live PyTorch answers: all that is recorded of its version, or some kinds of that.

usage: python -m tests.recordings PYTHON [KIND…]   (PYTHON is one that has PyTorch)

KIND: the word before ``.json.xz`` in the files beside this one. ``bindings``, ``custom_ops``, ``random``, ``schemas``
and ``support`` ask again what was recorded last; ``random`` is about the embedded state of the version.
"""

from __future__ import annotations

import json
import lzma
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from dispatch_cli.capture.run import ANSWERS, run_probe
from dispatch_cli.model.universe import UNDEFINED
from tests import in_pytorch
from tests.bindings import compared
from tests.engine.live_cases import answers_to, embedded_side, recorded_questions
from tests.engine.support.judge.compare import answers_of, version_of
from tests.engine.test_live_cases import CASES, RECORDED, nearest_recording
from tests.support import load_recording
from tests.versions.judge import Size
from tests.versions.judge import record as record_version

HERE = Path(__file__).parent
SCRIPTS = {
    "state": ("record.py",),
    "histories": ("record_sequences.py", "9215", "250"),
    "calls": ("record_calls.py", "8", "300"),
    "errors": ("record_errors.py",),
    "fallbacks": ("record_sequences.py", "fallbacks"),
    "messages": ("record_messages.py",),
}
"""Scripts that the Python with PyTorch runs, and their seeds and counts."""
SEED = 33


def record(python: str, version: str, kind: str) -> None:
    """Ask for one kind, and write its file."""
    out = HERE / f"torch-{version}.{kind}.json.xz"
    if kind in SCRIPTS:
        script, *arguments = SCRIPTS[kind]
        in_pytorch.run([python, str(HERE / script), str(out), *arguments])
        return
    if kind == "custom_ops":
        operators = [row["operator"] for row in load_recording("2.15.0.custom_ops")["operators"]]
        command = [python, "-m", "tests.recordings.record_custom_ops", str(out)]
        subprocess.run(command, input=json.dumps(operators), check=True, text=True)
        return
    if kind == "random":
        data = random(python, version)
    elif kind == "bindings":
        programs = compared.recordable([*compared.written_programs(), *compared.recorded_programs()])
        programs = [*map(list, dict.fromkeys(map(tuple, programs)))]
        data = compared.with_answers(programs, compared.live_answers(python, programs))
    elif kind == "schemas":
        data = schemas(python, version)
    elif kind == "support":
        data = support(python)
    elif kind == "version":
        with tempfile.TemporaryDirectory() as directory:
            data = record_version(python, Size(calls=200, histories=40, seed=14), Path(directory))
    else:
        data = probed(python, kind)
    with lzma.open(out, "wt", preset=9) as file:
        json.dump(data, file)


def probed(python: str, kind: str) -> dict[str, Any]:
    """Answers of ``torch._ops.resolve_key``; or those about higher-order operators."""
    live = run_probe(python, script=ANSWERS)
    universe, rows = live["universe"], live["resolve_rows"]
    data = {"torch": universe["torch"], "git": universe["git"], "slots": [UNDEFINED, *universe["runtime"]]}
    if kind == "resolve_key":
        return {**data, "rows": rows, "row_of": live["resolved"]}
    answers = {
        name: {"resolved": rows[row], "reached": sorted(reached)}
        for name, (row, reached) in live["higher_order_answers"].items()
    }
    return {**data, "answers": answers}


def schemas(python: str, version: str) -> dict[str, Any]:
    """Answers to the recorded schemas, without the folder in which PyTorch was built."""
    recorded = load_recording("2.13.0.schemas")
    texts = [text for text, _ in recorded["schemas"]]
    answered = json.dumps(answers_to("schemas")(python, texts))
    cut = json.loads(re.sub(r'(FAILED at \\")[^"]*?/(aten|c10|torch)/', r"\1/\2/", answered))
    return {**recorded, "torch": version, "schemas": list(zip(texts, cut, strict=True))}


def support(python: str) -> list[dict[str, Any]]:
    """Results of calls of the recorded operators. Those of PyTorch itself stay as they were recorded of 2.13."""
    version = version_of(python)
    return [
        {**run, "version": version, "answers": answers_of(python, run["operators"])} if run["operators"] else run
        for run in load_recording("2.13.0.support")
    ]


def random(python: str, version: str) -> dict[str, Any]:
    """Answers to the questions of the version, or else of the newest one; where ours differ is said."""
    side, answers = embedded_side(version), {}
    folder = re.compile(re.escape(json.dumps(str(Path.cwd()))[1:-1]) + "/")
    for name in RECORDED.get(version, CASES):
        case = CASES[name]
        asked = recorded_questions(nearest_recording(version, name), name, side.universe)
        asked = case.ask(side, SEED) if case.ask else asked
        answer = json.dumps(case.answered(python, asked))
        answers[name] = json.loads(json.dumps([asked, json.loads(folder.sub("", answer))]))
        for difference in case.wrong(side, *answers[name])[:5]:
            print(f"{name}: {difference}", file=sys.stderr)
    return answers


def main(python: str, *kinds: str) -> None:
    """Record each kind."""
    version = in_pytorch.run([python, "-c", "import torch; print(torch.__version__.partition('+')[0])"]).stdout.strip()
    recorded = (path.name.split(".")[-3] for path in sorted(HERE.glob(f"torch-{version}.*.json.xz")))
    for kind in kinds or recorded:
        record(python, version, kind)
    in_pytorch.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
