"""Whole answers for people, in a pipe and in terminals of 80 and 200 columns.

The files in ``expected`` are written by ``python -m tests.cli.transcripts``; whoever writes them anew reads the
difference line by line.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.cli.support import in_terminal, process

EXPECTED = Path(__file__).parent / "expected"
WIDTHS = (None, 80, 200)
NON_FUNCTIONAL = "CompositeExplicitAutogradNonFunctional"
CASES: dict[str, tuple[str, ...]] = {
    "register": ("register", "examples/custom_library.yaml"),
    "register_many_kernels": ("register", "examples/real_operators.yaml", "--op", "aten::bmm"),
    "register_key": (
        "register",
        "tests/cli/overlay.yaml",
        *("--key", "PrivateUse1", "--key", "*XLA", "--key", "AutocastXPU"),
    ),
    "register_fallbacks": (
        *("register", "examples/out_of_tree_backend.yaml", "--view", "fallbacks"),
        *("--key", "*PrivateUse1"),
    ),
    "register_in_order": ("register", "tests/cli/overlay.yaml", "--view", "order", "--op", "aten::to.dtype"),
    "diff": ("diff", "tests/cli/diff_old.yaml", "tests/cli/diff_new.yaml"),
    "diff_versions": ("diff", "torch-2.4", "torch-2.15", "--key", "*PrivateUse1", "--key", "Functionalize"),
    "diff_operator": ("diff", "torch-2.4", "torch-2.15", "--op", "aten::argsort"),
    "table": ("table", "examples/stale.yaml"),
    "table_all": ("table", "examples/ambiguous.yaml", "--op", "demo::ambiguous", "--full"),
    "table_key": ("table", "examples/out_of_tree_backend.yaml", "--key", "*PrivateUse1"),
    "table_overlay": ("table", "tests/cli/overlay.yaml", "--op", "aten::to.dtype"),
    "register_higher_order": ("register", "examples/call_torchbind.yaml"),
    "table_higher_order": ("table", "examples/call_torchbind.yaml"),
    "table_python": ("table", "--base", "torch-2.15", "--op", "aten::zeros_like.default", "--resolver", "python"),
    "table_differences": ("table", "--base", "torch-2.15", "--op", "aten::*_like", "--resolver", "differences"),
    "table_mps": ("table", "tests/cli/mps.yaml", "--op", "aten::linalg_svd"),
    "explain_mps": ("explain", "aten::matmul", "AutogradMPS", "tests/cli/mps.yaml"),
    "resolve_mps": ("resolve", "aten::embedding_renorm_", "--tensor", "mps", "--tensor", "mps", "tests/cli/mps.yaml"),
    "summary": ("table", "examples/real_operators.yaml"),
    "grid": ("table", "examples/stale.yaml", "--view", "grid", "--op", "stale::quantized", "--op", "stale::explicit"),
    "grid_overlay": ("table", "tests/cli/overlay.yaml", "--op", "aten::to.dtype", "--view", "grid"),
    "grid_key": ("table", "examples/ambiguous.yaml", "--view", "grid", "--key", "Sparse*", "--key", "Autograd*"),
    "coverage": (
        *("coverage", "npu", "examples/out_of_tree_backend.yaml", "--privateuse1", "npu"),
        *("--context", "autocast", "--context", "vmap"),
    ),
    "coverage_filtered": (
        *("coverage", "CPU", "--base", "torch-2.15", "--served-by", "kernel", "--served-by", "composite"),
        *("--op", "aten::index_*"),
    ),
    "coverage_against": (
        *("coverage", "PrivateUse1", "--base", "torch-2.15", "--against", "torch-2.13"),
        *("--op", "aten::*dist*", "--op", "aten::linalg*"),
    ),
    "coverage_mps": (
        *("coverage", "mps", "--base", "torch-2.15", "--base", "torch-2.15-mps", "--op", "aten::*max_pool*"),
    ),
    "coverage_families": (
        *("coverage", "PrivateUse1", "--base", "torch-2.15", "--op", "aten::*softmax*", "--op", "aten::empty*"),
    ),
    "support": ("support", "examples/custom_ops.yaml", "--device", "cpu", "--device", "cuda"),
    "support_chosen": (
        *("support", "examples/custom_ops.yaml", "--op", "pylib::scale", "--device", "cuda", "--tensor", "sparse"),
        *("--context", "eager", "--context", "autocast cpu"),
    ),
    "checks": ("checks", "stale-live-table"),
    "rules": ("rules",),
    "rules_math": ("rules", "6"),
    "explain": ("explain", "aten::to.dtype", "AutogradPrivateUse1", "examples/scenarios/01_composite_override.yaml"),
    "explain_alias": ("explain", "aten::bmm", NON_FUNCTIONAL, "examples/scenarios/04_alias_gaps.yaml"),
    "explain_error": ("explain", "--from-error", "tests/cli/error.txt"),
    "explain_message": ("explain", "--from-error", "tests/cli/overridden.txt", "tests/report/broken.yaml"),
    "explain_higher_order": ("explain", "call_torchbind", "mode=MyMode", "examples/call_torchbind.yaml"),
    "conditions": ("check-invariants", "tests/cli/conditions.yaml"),
    "findings": ("check-invariants", "examples/stale.yaml", "--select", "DC004,DC9"),
    "extract": ("extract", "tests/cli/sources"),
    "table_sources": (
        *("table", "tests/cli/sources", "--op", "demo::scale"),
        *("--when", "WITH_CUDA=undefined"),
    ),
    "findings_sources": ("check-invariants", "tests/cli/sources"),
    "crossref_against": ("crossref", "tests/cli/fields/against.cpp", "--against", "torch-2.15"),
    "resolve_factory": ("resolve", "mylib::filled", "examples/scenarios/06_factory.yaml"),
    "resolve_inference": (
        *("resolve", "demo::shrink", "examples/scenarios/09_inference_mode.yaml"),
        *("--tensor", "cpu", "--context", "inference_mode"),
    ),
    "resolve_sparse": (
        *("resolve", "mylib::norm", "examples/scenarios/10_sparse_bypass.yaml"),
        *("--tensor", "cpu sparse requires_grad"),
    ),
    "resolve_backends": ("resolve", "aten::add.Tensor", "--tensor", "cuda", "--tensor", "cpu"),
    "resolve_anew": ("resolve", "aten::sin", "--tensor", "cpu conj batched", "--context", "vmap"),
    "resolve_assumed": (
        *("resolve", "mylib::normalize", "tests/cli/redispatches.yaml"),
        *("--tensor", "cpu batched", "--context", "vmap"),
    ),
    "resolve_declared": ("resolve", "mylib::whiten", "tests/cli/redispatches.yaml", "--tensor", "cpu"),
    "resolve_stale": ("resolve", "stale::quantized", "examples/stale.yaml", "--tensor", "mkldnn"),
    "resolve_higher_order": (
        *("resolve", "call_torchbind", "--tensor", "cpu fake"),
        *("--context", "mode=ProxyTorchDispatchMode"),
    ),
    "trace": ("trace", "tests/trace/recordings/train.trace"),
    "trace_explain": ("trace", "tests/trace/recordings/train.trace", "--explain", "18"),
    "trace_chosen": ("trace", "tests/trace/recordings/train.trace", "--only", "decomposes", "--line", "train.py:6"),
    "history": ("history", "_c10d_functional_autograd::all_to_all_single"),
    "history_gone": ("history", "aten::qr"),
    "history_key": ("history", "aten::kthvalue", "Meta"),
    "history_many": ("history", "aten::_flash*", "CUDA"),
    "history_higher_order": ("history", "associative_scan"),
    "keys": ("keys",),
    "keys_key": ("keys", "SparseCPU"),
    "keys_alias": ("keys", "CompositeExplicitAutograd"),
    "keys_call": ("keys", "--tensor", "cuda sparse", "--context", "inference_mode"),
    "keys_set": ("keys", "(CPU|AutogradCUDA)-CUDA-Autograd"),
    "keys_differences": ("keys", "--universe", "torch-2.4", "--against", "torch-2.15"),
}


def transcript(name: str, width: int | None) -> str:
    """The command, its answer, and its exit code where that is not 0; without colour."""
    args = CASES[name]
    result = process(*args) if width is None else in_terminal(width, *args, NO_COLOR="1")
    code = f"(exits with {result.code})\n" if result.code else ""
    return f"$ dispatch-cli {' '.join(args)}\n{result.err}{result.out}{code}"


def path_of(name: str, width: int | None) -> Path:
    return EXPECTED / f"{name}.{width or 'pipe'}.txt"


def every_case() -> Iterator[tuple[str, int | None]]:
    return ((name, width) for name in CASES for width in WIDTHS)


if __name__ == "__main__":
    for case in every_case():
        path_of(*case).write_text(transcript(*case), encoding="utf-8")
