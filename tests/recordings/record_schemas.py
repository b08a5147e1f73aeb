"""Record what a live PyTorch makes of schemas, written and random, whole and broken: what it prints, or how it refuses them.

usage: python -m tests.recordings.record_schemas OUT.json.xz SEED COUNT   (run with the Python that has torch)
"""

import json
import lzma
import re
import sys

import torch

from tests.model.schema.live_schemas import answers
from tests.model.schema.random_schemas import WRITTEN, Maker

# Where PyTorch was built, in the texts of its own assertions
BUILD = re.compile(r'(FAILED at ")[^"]*?/(aten|c10|torch)/')


def main(out, seed, count):
    maker = Maker(seed)
    texts = [*WRITTEN, *(maker.schema() for _ in range(count))]
    cut = [
        [[exception, text and BUILD.sub(r"\1/\2/", text)] for exception, text in answered] for answered in answers(texts)
    ]
    data = {"torch": torch.__version__, "seed": seed, "schemas": list(zip(texts, cut, strict=True))}
    with lzma.open(out, "wt") if out.endswith(".xz") else open(out, "w") as file:
        json.dump(data, file)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
