"""Ask a live PyTorch for random operators, and for its universe."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from dispatch_cli import universes
from tests.capture.support import live_universe
from tests.custom_ops.compare import Comparison, compared

ROOT = Path(__file__).parent.parent.parent


def live_comparison(python: str, seed: int, count: int, scratch: Path) -> tuple[str, Comparison]:
    """The version of PyTorch, and what of it agrees. scratch: a directory for files."""
    out = scratch / "recorded.json"
    command = [python, "-m", "tests.recordings.record_custom_ops", str(out), str(seed), str(count)]
    subprocess.run(command, check=True, cwd=ROOT, capture_output=True)
    recording = json.loads(out.read_text(encoding="utf-8"))
    universe = scratch / "universe.json"
    universe.write_text(json.dumps(live_universe(python)), encoding="utf-8")
    library = universes.load(str(universe)).torch_library
    assert library is not None
    return recording["torch"], compared(recording, str(universe), library, scratch)
