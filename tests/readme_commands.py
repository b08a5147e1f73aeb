"""Print the commands of the README's ``sh`` blocks, in order, so that they can be run as written.

usage: python tests/readme_commands.py README.md

A block that begins with a comment ``# not run here`` is left out. A command that ends in ``# exits with N`` must do so.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.M | re.S)
_EXITS_WITH = re.compile(r"\s*# exits with (\d+)$")


def commands(readme: str) -> Iterator[str]:
    """The lines of a shell script that runs under ``set -e``."""
    for block in _BLOCK.findall(readme):
        if block.startswith("# not run here"):
            continue
        for line in block.splitlines():
            expected = _EXITS_WITH.search(line)
            if expected is None:
                yield line
            else:
                command = line[: expected.start()]
                yield f"code=0; {command} || code=$?; [ $code = {expected[1]} ]"


if __name__ == "__main__":
    print("\n".join(commands(Path(sys.argv[1]).read_text(encoding="utf-8"))))
