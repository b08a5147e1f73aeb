"""Whole answers for people, one case for each kind of answer: in a pipe, and in a terminal of 80 columns.

The files in ``expected`` are written by ``python -m tests.cli.transcripts``; whoever writes them anew reads the
difference line by line.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.cli.support import call, in_terminal

EXPECTED = Path(__file__).parent / "expected"
WIDTHS = (None, 80)
CASES: dict[str, tuple[str, ...]] = {
    "register": ("register", "examples/custom_library.yaml"),
    "register_key": ("register", "tests/cli/overlay.yaml", "--key", "PrivateUse1"),
    "register_fallbacks": (
        *("register", "examples/out_of_tree_backend.yaml", "--view", "fallbacks"),
        *("--key", "*PrivateUse1"),
    ),
    "register_in_order": ("register", "tests/cli/overlay.yaml", "--view", "order", "--op", "aten::to.dtype"),
    "diff": ("diff", "tests/cli/diff_old.yaml", "tests/cli/diff_new.yaml"),
    "table": ("table", "examples/stale.yaml"),
    "register_higher_order": ("register", "examples/call_torchbind.yaml"),
    "grid": ("table", "examples/stale.yaml", "--view", "grid", "--op", "stale::quantized"),
    "coverage": ("coverage", "npu", "examples/out_of_tree_backend.yaml", "--privateuse1", "npu"),
    "coverage_against": (
        *("coverage", "PrivateUse1", "--base", "torch-2.15", "--against", "torch-2.13"),
        *("--op", "aten::_cdist*", "--op", "aten::linalg_polar*"),
    ),
    "support": ("support", "examples/custom_ops.yaml", "--device", "cpu", "--device", "cuda"),
    "checks": ("checks", "stale-live-table"),
    "rules": ("rules",),
    "explain": ("explain", "aten::to.dtype", "AutogradPrivateUse1", "examples/scenarios/01_composite_override.yaml"),
    "explain_error": ("explain", "--from-error", "tests/cli/error.txt"),
    "explain_higher_order": ("explain", "call_torchbind", "mode=MyMode", "examples/call_torchbind.yaml"),
    "explain_mode": ("explain", "call_torchbind", "FakeTensorMode", "examples/call_torchbind.yaml"),
    "conditions": ("check-invariants", "tests/cli/conditions.yaml"),
    "extract": ("extract", "tests/cli/sources"),
    "crossref_against": ("crossref", "tests/cli/fields/against.cpp", "--against", "torch-2.15"),
    "resolve_sparse": (
        *("resolve", "mylib::norm", "examples/scenarios/10_sparse_bypass.yaml"),
        *("--tensor", "cpu sparse requires_grad"),
    ),
    "resolve_higher_order": (
        *("resolve", "call_torchbind", "--tensor", "cpu fake"),
        *("--context", "mode=ProxyTorchDispatchMode"),
    ),
    "trace": ("trace", "tests/trace/recordings/train.trace"),
    "trace_explain": ("trace", "tests/trace/recordings/train.trace", "--explain", "18"),
    "history": ("history", "_c10d_functional_autograd::all_to_all_single"),
    "history_key": ("history", "aten::kthvalue", "Meta"),
    "keys": ("keys",),
    "keys_key": ("keys", "SparseCPU"),
    "keys_call": ("keys", "--tensor", "cuda sparse", "--context", "inference_mode"),
}


def transcript(name: str, width: int | None) -> str:
    """The command, its answer, and its exit code where that is not 0; without colour."""
    args = CASES[name]
    result = call(*args) if width is None else in_terminal(width, *args, NO_COLOR="1")
    code = f"(exits with {result.code})\n" if result.code else ""
    return f"$ dispatch-cli {' '.join(args)}\n{result.err}{result.out}{code}"


def path_of(name: str, width: int | None) -> Path:
    return EXPECTED / f"{name}.{width or 'pipe'}.txt"


def every_case() -> Iterator[tuple[str, int | None]]:
    return ((name, width) for name in CASES for width in WIDTHS)


if __name__ == "__main__":
    for case in every_case():
        path_of(*case).write_text(transcript(*case), encoding="utf-8")
