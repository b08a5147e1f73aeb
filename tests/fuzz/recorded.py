"""What PyTorch said: operators, error texts, layouts of dispatch keys."""

from __future__ import annotations

import csv
import json
import lzma
from functools import cache
from pathlib import Path

from dispatch_cli import universes
from tests.support import RECORDINGS, load_recording

TEXTS = Path(__file__).parents[1] / "messages" / "texts.tsv"


@cache
def universe_text(name: str) -> str:
    """An embedded universe."""
    return Path(universes.__file__).with_name(f"{name}.json").read_text(encoding="utf-8")


@cache
def tensors_of(name: str) -> int:
    """How many tensors an operator of PyTorch takes; of others, one."""
    dump = load_recording("2.15.0.state")["ops"].get(name, {"dump": "(Tensor x) ->"})["dump"]
    return str(dump).partition("(")[2].partition("->")[0].count("Tensor")


@cache
def operator_names() -> list[str]:
    """The operators of PyTorch 2.15."""
    return sorted(load_recording("2.15.0.state")["ops"])


@cache
def error_texts() -> list[str]:
    """What live PyTorch said: the recorded errors and messages, and the texts of its sources."""
    found = []
    for path in sorted(RECORDINGS.glob("*.errors.json.xz")):
        found += [one["text"] for one in json.loads(lzma.decompress(path.read_bytes()))["errors"]]
    for path in sorted(RECORDINGS.glob("*.messages.json.xz")):
        found += [one["text"] for one in json.loads(lzma.decompress(path.read_bytes()))["messages"]]
    with TEXTS.open(encoding="utf-8", newline="") as file:
        found += [row["text"] for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    return [text for text in found if text]
