"""Small torchgen files that torchgen refuses: what is said of them, and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.extract.sources import Sources
from dispatch_cli.extract.torchgen.run import extract_torchgen
from dispatch_cli.model.sources.extracted import SourceKind

PYTORCH = """\
- func: empty.memory_format(SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor
  dispatch:
    CPU: empty_cpu
"""
"""Text that makes a file PyTorch's own."""
FUNCTIONS = PYTORCH + (
    "- func: f(Tensor self) -> Tensor\n  dispatch:\n    CPU: f\n"
    "- func: f_(Tensor(a!) self) -> Tensor(a!)\n  dispatch:\n    CPU: f_\n"
    "- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  dispatch:\n    CPU: f_out\n"
    "- func: g(Tensor self) -> Tensor\n"
)
HEAD = "backend: XLA\ncpp_namespace: mine\n"


def said(folder: Path, **texts: str) -> list[tuple[int, str]]:
    """Line and reason of what is not understood, then those of problems; texts: by the names of `SourceKind`."""
    files = {}
    for kind, text in texts.items():
        path = folder / f"{kind}.yaml"
        path.write_text(text, encoding="utf-8")
        files[SourceKind[kind.upper()]] = [str(path)]
    extraction = extract_torchgen(Sources(files), ("CPU",))
    problems = [(problem.span.line if problem.span else 0, problem.message) for problem in extraction.problems]
    return [(gap.at.line, gap.why) for gap in extraction.not_understood] + problems


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("- func: f(Tensor x\n", 1, "schema"),
        ("- func: f(Tensor x) -> Tensor\n  dispatch:\n    CPU, PrivateUse1: g\n", 3, "PrivateUse1"),
        ("- func: f(Tensor x) -> Tensor\n  kernels: [g]\n", 2, "kernels"),
        ("- func: f(Tensor x) -> Tensor\n- just text\n", 2, "mapping"),
        ("- func: f(Tensor x) -> Tensor\n  structured: maybe\n", 2, "true or false"),
        ("- func: f(Tensor x) -> Tensor\n dispatch: [\n", 2, ""),
        ("- func: a::b::f(Tensor x) -> Tensor\n", 1, "expected '('"),
        ("- func: f\n- func: g\n  dispatch:\n    PrivateUse1: h\n", 1, "generator of the project"),
        ("text\n", 1, "list"),
        ("", 1, "empty"),
    ],
)
def test_functions(tmp_path: Path, text: str, line: int, words: str) -> None:
    (where, why), *_ = said(tmp_path, native_functions=text)
    assert where == line
    assert words in why


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("cpp_namespace: mine\nsupported: [f]\n", 1, "backend:"),
        ("backend: XLA\nsupported: [f]\n", 1, "cpp_namespace:"),
        ("backend:\ncpp_namespace: mine\nsupported: [f]\n", 1, "backend:"),
        ("custom:\n- func: f\nsupported: f\n", 1, "not one of torchgen's"),
        (HEAD + "supported: f\n", 3, "list"),
        (HEAD + "supported:\n- f\n- h\n", 5, "no operator h"),
        (HEAD + "supported:\n- func: f\n", 4, "a mapping"),
        (HEAD + "use_out_as_primary: 1\n", 3, "true or false"),
        (HEAD + "custom:\n- func: mine(Tensor x) -> Tensor\n", 3, "custom"),
        ("backend: NPU\ncpp_namespace: mine\nsupported: [f]\n", 1, "NPU"),
        ("backend: Vulkan\ncpp_namespace: mine\nautograd: [g]\n", 1, "AutogradVulkan"),
        (HEAD + "supported: [f\n", 3, ""),
        (HEAD + "<<<<<<< HEAD\n", 3, "merge conflict"),
    ],
)
def test_backends(tmp_path: Path, text: str, line: int, words: str) -> None:
    (where, why), *_ = said(tmp_path, native_functions=FUNCTIONS, backend_yaml=text, derivatives="[]\n")
    assert where == line
    assert words in why


@pytest.mark.parametrize(
    "text", [HEAD, HEAD + "supported:\n", HEAD + "symint: ~\nir_gen: 3\n", HEAD + "supported: []\n"]
)
def test_what_torchgen_takes_is_not_refused(tmp_path: Path, text: str) -> None:
    assert said(tmp_path, native_functions=FUNCTIONS, backend_yaml=text, derivatives="[]\n") == []
