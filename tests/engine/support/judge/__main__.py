"""The support matrix of random operators, judged live: ``python -m tests.engine.support.judge PYTHON [COUNT [SEED]]``.

PYTHON has PyTorch. With ``--own``, PyTorch's own operators with the samples of OpInfo; PYTHON then needs NumPy too.
``--record FILE`` writes what PyTorch did, for `test_recorded`. What differs is written below the temporary folder.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import tempfile
import time
from pathlib import Path

from dispatch_cli.api import load_state
from tests.engine.support.judge.ask import answers_of, base_of, version_of
from tests.engine.support.judge.compare import judged, state_of, summary, unfaithful, write_differences
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
    made = [] if asked.own else [one._asdict() for one in operators(asked.seed, asked.count, version)]
    begun = time.monotonic()
    answers = answers_of(asked.python, made or {"count": asked.count, "seed": asked.seed})
    refused = [one for one in answers if one["cells"][0][0] == "refused"]
    answers = [one for one in answers if one not in refused]
    taken = [one for one in made if one["name"] in {answer["name"] for answer in answers}]
    print(
        f"PyTorch {'.'.join(map(str, version))}, seed {asked.seed}: {len(answers)} operators, {len(refused)} refused,"
        f" {time.monotonic() - begun:.0f} s"
    )
    for one in refused:
        print(f"  refused: {one['name']} {one['cells'][0][1][:150]}")
    if asked.record:
        data = {"version": version, "operators": taken, "answers": answers}
        Path(asked.record).write_bytes(lzma.compress(json.dumps(data).encode()))
        return
    with tempfile.TemporaryDirectory() as folder:
        base = base_of(version)
        state = load_state([], bases=[base]) if asked.own else state_of(taken, base, Path(folder))
        cells = list(judged(state, answers, unfaithful(taken)))
    print(summary(cells))
    path = Path(tempfile.gettempdir(), "judge", f"{'own' if asked.own else 'random'}-{asked.seed}.json")
    write_differences(cells, made, path)
    print(f"differences: {path}")


if __name__ == "__main__":
    main()
