"""The support matrix of random operators, judged live: ``python -m tests.engine.support.judge PYTHON [COUNT [SEED]]``.

PYTHON has PyTorch. With ``--own``, PyTorch's own operators with the samples of OpInfo; PYTHON then needs NumPy too.
``--record FILE`` adds what PyTorch did, for `test_judge`. What differs is written below the temporary folder.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import tempfile
from pathlib import Path

from tests.engine.support.judge.compare import answers_of, differences, judged, summary, version_of
from tests.engine.support.judge.operators import operators


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("python")
    parser.add_argument("count", nargs="?", type=int, default=100)
    parser.add_argument("seed", nargs="?", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--own", action="store_true")
    parser.add_argument("--record")
    asked = parser.parse_args()
    version = version_of(asked.python)
    written = [] if asked.own else [operator._asdict() for operator in operators(asked.seed, asked.count, version)]
    if asked.own:
        answers = answers_of(asked.python, {"count": asked.count, "seed": asked.seed}, "own.py")
    else:
        answers = answers_of(asked.python, written)
    print(f"PyTorch {version}, seed {asked.seed}: {len(answers)} operators")
    for row in answers:
        if row["cells"][0][0] == "refused":
            print(f"  refused: {row['name']} {row['cells'][0][1][:150]}")
    if asked.record:
        record = Path(asked.record)
        runs = json.loads(lzma.decompress(record.read_bytes())) if record.exists() else []
        runs.append({"version": version, "operators": written, "answers": answers})
        record.write_bytes(lzma.compress(json.dumps(runs).encode()))
    with tempfile.TemporaryDirectory() as folder:
        cells = judged(version, written, answers, Path(folder))
    print(*summary(cells), sep="\n")
    path = Path(tempfile.gettempdir(), "judge", f"{'own' if asked.own else 'random'}-{asked.seed}.json")
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(differences(cells, written), indent=1), encoding="utf-8")
    print(f"differences: {path}")


if __name__ == "__main__":
    main()
