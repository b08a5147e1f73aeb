"""Registrations that torchgen generates: definitions and kernels in blocks, one block for each key, as in its files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import chain

from dispatch_cli.extract.torchgen import function_keys as keys
from dispatch_cli.extract.torchgen.backend_kernels import GeneratedKernel
from dispatch_cli.extract.torchgen.native_function import NativeFunction
from dispatch_cli.extract.torchgen.point import Point
from dispatch_cli.model.condition import Atom, Condition
from dispatch_cli.model.declarations import LibraryKind
from dispatch_cli.model.extracted import Extracted, ExtractedBlock, ExtractedDefinition, ExtractedKernel
from dispatch_cli.model.span import Span

_FRAGMENTS = frozenset({"quantized", "quantized_decomposed"})
"""Namespaces that are extended rather than made (``FRAGMENT_NAMESPACES``)."""


def definition_items(
    functions: Iterable[NativeFunction], tags_forms: bool, file: str, when: tuple[Condition, ...]
) -> Iterator[Extracted]:
    """The blocks of ``RegisterSchema.cpp``. ``Dimname``, of named tensors, is another word for str.

    tags_forms: as in `VersionRules`.
    """
    by_namespace: dict[str, list[NativeFunction]] = {}
    for function in functions:
        by_namespace.setdefault(function.namespace, []).append(function)
    for namespace, members in by_namespace.items():
        kind = LibraryKind.FRAGMENT if namespace in _FRAGMENTS else LibraryKind.DEF
        block = ExtractedBlock(kind, namespace, None, _span(file, members[0].at), when)
        yield block
        for function in members:
            name = f"{namespace}::{function.name}"
            tags = _tags(function, tags_forms)
            head, parenthesis, rest = str(function.schema).partition("(")
            schema = f"{namespace}::{head}{parenthesis}{rest.replace('Dimname', 'str')}"
            yield ExtractedDefinition(block, name, schema, _span(file, function.at), tags=tags)


def _tags(function: NativeFunction, tags_forms: bool) -> tuple[str, ...]:
    """Tags in the file, and those that torchgen adds (``NativeFunction.from_yaml``)."""
    added = ["pt2_compliant_tag"] if function.namespace == "aten" else []
    if tags_forms and function.schema.out:
        added.append("out")
    if tags_forms and function.schema.name.inplace:
        added.append("inplace")
    return (*function.tags, *(tag for tag in added if tag not in function.tags))


def kernel_items(
    kernels: Iterable[GeneratedKernel],
    file: str,
    derivatives: str,
    backends: Collection[str] | None,
    when: tuple[Condition, ...],
) -> Iterator[Extracted]:
    """The blocks with kernels. file, derivatives: where the two kinds of places are.

    backends: those of the build; None where they are not known, so that kernels of most backends are conditional.
    """
    by_block: dict[tuple[str, str], list[GeneratedKernel]] = {}
    for kernel in kernels:
        by_block.setdefault((kernel.function.namespace, kernel.key), []).append(kernel)
    for (namespace, key), members in by_block.items():
        backend = keys.codegen_backend(key)
        condition: tuple[Condition, ...] = ()
        if backend is not None:
            if backends is None:
                condition = (Atom(f"codegen backend {backend}"),)
            elif backend not in backends:
                continue
        first = members[0]
        at = _span(derivatives if first.derivative else file, first.at)
        block = ExtractedBlock(LibraryKind.IMPL, namespace, key, at, (*when, *condition))
        yield from chain((block,), _of_block(block, members, file, derivatives))


def _of_block(
    block: ExtractedBlock, members: Iterable[GeneratedKernel], file: str, derivatives: str
) -> Iterator[Extracted]:
    prefix = f"{block.namespace}::"
    key = block.dispatch_key
    for kernel in members:
        at = Span(derivatives if kernel.derivative else file, kernel.at.line, kernel.at.column)
        yield ExtractedKernel(block, prefix + kernel.function.name, key, kernel.kernel, at)


def _span(file: str, at: Point) -> Span:
    return Span(file, at.line, at.column)
