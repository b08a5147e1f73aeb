"""Each piece of advice is tried in a live PyTorch: it is given for the text, and the program then works.

`advice/` has the programs.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dispatch_cli.answers.errors.messages import SLOT
from dispatch_cli.answers.errors.read import find_errors
from tests import in_pytorch
from tests.answers.errors.advice.pieces import Piece, entries, pieces, programs
from tests.capture.support import live_sample, torch_python
from tests.cli.support import ROOT, call

DEPENDS = {
    SLOT: ("no-kernel", "no-tensors", "no-meta", "no-autograd", "no-batching-rule", "not-on-device", "no-names"),
}
"""The kinds whose answers have advice that depends on the slot or place."""
PROGRAM = "from tests.answers.errors.advice.run import main; main()"


def test_each_piece_is_tried_or_has_a_reason() -> None:
    listed = list(entries())
    missing = [
        piece
        for piece in pieces()
        if not any(entry.part in piece.sentence for entry in listed if _is_for(entry.kind, piece))
    ]
    assert missing == []


def test_each_part_is_of_a_piece_that_there_is() -> None:
    known = list(pieces())
    gone = [
        entry
        for entry in entries()
        if not any(entry.part in piece.sentence for piece in known if _is_for(entry.kind, piece))
    ]
    assert gone == []


def _is_for(kind: str, piece: Piece) -> bool:
    return piece.kind == kind or kind in DEPENDS.get(piece.kind, ())


@pytest.mark.live
def test_advice_is_given_and_helps(tmp_path: Path) -> None:
    """A quarter of the programs; DISPATCH_CLI_LIVE_ALL=1 tries all."""
    path, names = tmp_path / "runs.json", list(programs())
    in_pytorch.run([torch_python(), "-c", PROGRAM, str(path), *live_sample(names, len(names) // 4)], folder=ROOT)
    wrong, tried = [], 0
    for program, kind, advice, unchanged, code, text in json.loads(path.read_text(encoding="utf-8")):
        kinds = [error.kind for error in find_errors(text)]
        if not advice:
            if kind not in kinds:
                wrong.append(f"{program}: no text of {kind}, but {kinds}: {text[-400:]}")
            output = call("explain", "--from-error", "-", stdin=text.encode()).out if kinds else ""
            if unchanged and code:
                wrong.append(f"{program}: ends with {code}: {text[-400:]}")
        elif code or kind in kinds:
            wrong.append(f"{program}, with {advice!r}: {code}, {kinds}: {text[-400:]}")
        for part in (advice,) if advice else unchanged:
            tried += 1
            if part not in output:
                wrong.append(f"{program}: {part!r} is not in the answer: {output[:1500]}")
    print(f"{tried} pieces tried")
    assert not wrong, "\n\n".join(wrong)
    assert tried > len(names) // 5
