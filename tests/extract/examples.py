"""Extractions for tests: one of everything, and random ones."""

from __future__ import annotations

from dispatch_cli.model.condition import Condition, parse_condition
from dispatch_cli.model.declarations import LibraryKind
from dispatch_cli.model.extracted import (
    CustomOperator,
    ExtractedBlock,
    ExtractedDefinition,
    ExtractedFallback,
    ExtractedKernel,
    Extraction,
    FunctionRole,
    NotUnderstood,
    OperatorFunction,
    Unknown,
)
from dispatch_cli.model.span import Span

FILE, PYTHON = "csrc/ops.cpp", "mylib/ops.py"


def at(line: int, column: int = 3) -> Span:
    """A place in the C++ file."""
    return Span(FILE, line, column)


def in_python(line: int) -> Span:
    """A place in the Python file."""
    return Span(PYTHON, line, 1)


def when(*texts: str) -> tuple[Condition, ...]:
    """Conditions by their texts."""
    return tuple(map(parse_condition, texts))


LIBRARY = ExtractedBlock(LibraryKind.DEF, "mylib", None, at(1, 1))
CUDA = ExtractedBlock(LibraryKind.IMPL, "mylib", "CUDA", at(20, 1), when("defined(USE_CUDA)"))
FALLBACKS = ExtractedBlock(LibraryKind.IMPL, "_", "PrivateUse1", at(30, 1))
UNDECIDED = ExtractedBlock(LibraryKind.IMPL, Unknown("NAMESPACE"), "CPU", at(40, 1))

EVERYTHING = Extraction(
    (
        LIBRARY,
        ExtractedDefinition(LIBRARY, "mylib::add", "mylib::add(Tensor a, Tensor b) -> Tensor", at(2)),
        ExtractedDefinition(LIBRARY, "mylib::inferred", None, at(3), why_unknown="the signature is not known"),
        ExtractedDefinition(
            LIBRARY, "mylib::tagged", "tagged() -> ()", at(4), when("X >= 2"), ("core",), "CONSERVATIVE"
        ),
        ExtractedKernel(LIBRARY, "mylib::add", "CPU", "add_cpu", at(5)),
        ExtractedKernel(LIBRARY, "mylib::add", None, "add_any", at(6)),
        ExtractedKernel(LIBRARY, "mylib::inferred", Unknown("key()"), "f", at(7)),
        CUDA,
        ExtractedKernel(CUDA, "mylib::add", "CUDA", "add_cuda", at(21), (*CUDA.when, *when("not A or B"))),
        ExtractedKernel(CUDA, "mylib::inferred", None, "boxed", at(22), CUDA.when, boxed_only=True),
        FALLBACKS,
        ExtractedFallback(FALLBACKS, "PrivateUse1", "cpu_fallback", at(31)),
        ExtractedFallback(FALLBACKS, "AutogradPrivateUse1", "", at(32), fallthrough=True),
        UNDECIDED,
        ExtractedKernel(UNDECIDED, Unknown("NAMESPACE::op"), None, "f", at(41)),
        CustomOperator("mylib::made", "mylib::made(Tensor x) -> Tensor", "made", in_python(3)),
        OperatorFunction(FunctionRole.FAKE, "mylib::made", "made_fake", in_python(9)),
        OperatorFunction(FunctionRole.KERNEL, "mylib::made", "made_cuda", in_python(12), devices=("cuda", "xpu")),
        OperatorFunction(
            FunctionRole.AUTOGRAD, "mylib::made", "back", in_python(15), when("HAS_GRAD"), setup_context="setup"
        ),
        CustomOperator("mylib::bare", None, "bare", in_python(20), device_types=("cpu",), why_unknown="no annotations"),
        OperatorFunction(FunctionRole.FAKE, "mylib::add", "add_fake", in_python(25)),
        OperatorFunction(FunctionRole.PY_IMPL, "mylib::add", "py", in_python(27), devices=("Functionalize",)),
        OperatorFunction(FunctionRole.AUTOCAST, "mylib::add", "", in_python(28), devices=("cuda",), dtype="float16"),
        OperatorFunction(FunctionRole.KERNEL, "mylib::add", "k", in_python(29), devices=(Unknown("platform.key"),)),
    ),
    (NotUnderstood(at(50), "m.impl(\n  names[i], f)", "the name is in a loop over a list that is not known"),),
)
"""One of everything."""
