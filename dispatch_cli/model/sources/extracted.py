"""Things found in sources: registrations with their places and conditions, and what was not understood.

The readers of C++, Python and torchgen's YAML make these; `extract.document` makes a declaration document of them.
In all of them, *at* is the place in the source, *when* the conditions that must all hold (none: always).
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from dispatch_cli.model.conditions.condition import Condition
from dispatch_cli.model.declarations import LibraryKind, NotUnderstood, RegisteringFunction
from dispatch_cli.model.problem import Problem
from dispatch_cli.model.sources.function_body import FunctionBody
from dispatch_cli.model.span import Span


class SourceKind(Enum):
    """Kind of a file, by its content."""

    CPP = "C++"
    PYTHON = "Python"
    NATIVE_FUNCTIONS = "native_functions.yaml"
    DERIVATIVES = "derivatives.yaml"
    BACKEND_YAML = "out-of-tree backend YAML"
    DECLARATIONS = "declarations"


class Unknown(NamedTuple):
    """A text that the sources do not decide. expression: what decides it, as the source has it."""

    expression: str


class ExtractedBlock(NamedTuple):
    """A registration block or a Python ``Library``. Two blocks are the same when they are equal.

    file, line: what PyTorch's debug texts name (``__FILE__`` and ``__LINE__`` of a C++ block).
    python: it is made by ``torch.library``. implicit: no block was written down, as with ``torch.library.impl``.
    dropped: the function whose local variable alone holds the library, so that it is gone when the function returns.
    """

    kind: LibraryKind
    namespace: str | Unknown
    dispatch_key: str | Unknown | None
    at: Span
    when: tuple[Condition, ...] = ()
    python: bool = False
    implicit: bool = False
    dropped: str | None = None


class ExtractedDefinition(NamedTuple):
    """``m.def``.

    name: with namespace and overload. schema: with the name; None where it is not known.
    why_unknown: why the schema is not known, as a sentence without a full stop.
    alias_analysis: a name of `AliasAnalysisKind`, ``default``, or None for FROM_SCHEMA.
    python_module: the module of ``m.set_python_module``, and its context if there is one.
    refused: what PyTorch says where it refuses the function that the schema is inferred of.
    """

    block: ExtractedBlock
    name: str | Unknown
    schema: str | None
    at: Span
    when: tuple[Condition, ...] = ()
    tags: tuple[str, ...] = ()
    alias_analysis: str | None = None
    why_unknown: str | None = None
    python_module: tuple[str, ...] = ()
    refused: str | None = None


class ExtractedKernel(NamedTuple):
    """``m.impl``.

    operator: with namespace and overload. key: None for the catch-all. kernel: the function, as the source names it.
    signature: of the C++ function, where it is known. boxed_only: it has no unboxed function. body: of a Python one.
    """

    block: ExtractedBlock
    operator: str | Unknown
    key: str | Unknown | None
    kernel: str
    at: Span
    when: tuple[Condition, ...] = ()
    fallthrough: bool = False
    signature: str | None = None
    boxed_only: bool = False
    python: bool = False
    body: FunctionBody | None = None


class ExtractedFallback(NamedTuple):
    """``m.fallback``."""

    block: ExtractedBlock
    key: str | Unknown
    kernel: str
    at: Span
    when: tuple[Condition, ...] = ()
    fallthrough: bool = False
    python: bool = False


class CustomOperator(NamedTuple):
    """``torch.library.custom_op`` or ``triton_op``.

    schema: with the name; None where it is not known. device_types: None for all; ``()`` for none.
    refused: what PyTorch says where it refuses the function.
    """

    name: str | Unknown
    schema: str | None
    function: str
    at: Span
    when: tuple[Condition, ...] = ()
    device_types: tuple[str, ...] | None = None
    mutates_args: tuple[str, ...] | str | None = None
    tags: tuple[str, ...] = ()
    triton: bool = False
    why_unknown: str | None = None
    refused: str | None = None
    body: FunctionBody | None = None


class FunctionRole(Enum):
    """Purpose of a function that ``torch.library`` is given; the value is the name of the function that takes it."""

    FAKE = "register_fake"
    KERNEL = "register_kernel"
    AUTOGRAD = "register_autograd"
    VMAP = "register_vmap"
    AUTOCAST = "register_autocast"
    PY_IMPL = "py_impl"
    EFFECT = "has_side_effect"


class OperatorFunction(NamedTuple):
    """A Python function that ``torch.library`` registers for an operator, or ``py_impl`` of one.

    devices: of KERNEL, the device types (``default`` for none given); of AUTOCAST, the one; of PY_IMPL, the dispatch
        key.
    setup_context, setup_body: of AUTOGRAD. dtype: of AUTOCAST. allow_override: of FAKE, where it is given.
    """

    role: FunctionRole
    operator: str | Unknown
    function: str
    at: Span
    when: tuple[Condition, ...] = ()
    devices: tuple[str | Unknown, ...] = ()
    setup_context: str | None = None
    dtype: str | None = None
    allow_override: bool | None = None
    body: FunctionBody | None = None
    setup_body: FunctionBody | None = None


Extracted = (
    ExtractedBlock | ExtractedDefinition | ExtractedKernel | ExtractedFallback | CustomOperator | OperatorFunction
)


class Extraction(NamedTuple):
    """Content of the files of one kind.

    items: in the order of files, then of places. A block comes before what is in it.
    accounted: the places (file, line) of source text that registers something, as a reader finds it by looking for
        ``.impl(`` or ``TORCH_LIBRARY``, and that is understood, known to be harmless, or in *not_understood*; also
        those in the bodies of macros that were expanded.
    missing: what ``--set`` would decide more by, with the number of registrations that depend on each.
    problems: what is wrong with files that could not be read at all, such as YAML that is not valid.
    functions: those that register something of it when they are called.
    """

    items: tuple[Extracted, ...] = ()
    not_understood: tuple[NotUnderstood, ...] = ()
    accounted: frozenset[tuple[str, int]] = frozenset()
    missing: tuple[tuple[str, int], ...] = ()
    problems: tuple[Problem, ...] = ()
    functions: tuple[RegisteringFunction, ...] = ()
