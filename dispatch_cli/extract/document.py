"""A declaration document out of what sources say: plain data, with the place and the conditions of each entry.

`declarations.format` says what it means. Reading the document gives the same whether it was written to a file before or
not. What is not known well enough to be registered is in the sections ``undecided`` and ``not_understood``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dispatch_cli.declarations.format import VERSION
from dispatch_cli.declarations.kernel_format import CATCH_ALL
from dispatch_cli.declarations.operator_format import UNKNOWN
from dispatch_cli.extract.custom_operators import body_entry, operator_entries
from dispatch_cli.extract.readable import (
    Data,
    called_function_entry,
    is_decided,
    not_understood_entry,
    placed,
    undecided_entry,
)
from dispatch_cli.model.declarations import WILDCARD, LibraryKind
from dispatch_cli.model.extracted import (
    CustomOperator,
    Extracted,
    ExtractedBlock,
    ExtractedDefinition,
    ExtractedFallback,
    ExtractedKernel,
    Extraction,
    HigherOrderFunction,
    NotUnderstood,
    OperatorFunction,
)


def document(extractions: Sequence[Extraction], backend: str | None = None) -> dict[str, object]:
    """The declaration document of all sources of a run, C++ blocks before what Python registers for operators.

    backend: the name of the backend at PrivateUse1.
    """
    items = [item for extraction in extractions for item in extraction.found]
    decided, undecided = [item for item in items if is_decided(item)], [item for item in items if not is_decided(item)]
    not_understood = [statement for extraction in extractions for statement in extraction.not_understood]
    entries = {
        "libraries": [*_libraries(decided)],
        "operators": [*operator_entries([item for item in decided if isinstance(item, _OF_OPERATORS)])],
        "higher_order_operators": [*_higher_order(decided)],
        "functions": [
            called_function_entry(function) for extraction in extractions for function in extraction.functions
        ],
        "undecided": [undecided_entry(item) for item in undecided],
        "not_understood": [not_understood_entry(statement) for statement in not_understood],
    }
    head = {"dispatch": int(VERSION), "extracted": True, **({} if backend is None else {"privateuse1": backend})}
    return {**head, **{name: entry for name, entry in entries.items() if entry}}


def with_not_understood(data: dict[str, object], more: Sequence[NotUnderstood]) -> dict[str, object]:
    """A document with further statements that were not understood."""
    if not more:
        return data
    entries = data.get("not_understood", [])
    assert isinstance(entries, list)
    return {**data, "not_understood": [*entries, *map(not_understood_entry, more)]}


_OF_OPERATORS = (CustomOperator, OperatorFunction)


def _higher_order(items: Iterable[Extracted]) -> Iterator[Data]:
    """An entry for each implementation: the first of an operator of the sources makes it, the others add to it."""
    names: set[str] = set()
    for item in items:
        if isinstance(item, HigherOrderFunction):
            name = str(item.operator)
            add = {} if item.own and name not in names else {"add": True}
            names.add(name)
            function = {"fallthrough": True} if item.function is None else item.function
            value = function if item.key is None else {item.key: function}
            yield {**placed(item.at, ()), "name": name, **add, item.field: value}


def _libraries(items: Iterable[Extracted]) -> Iterator[Data]:
    """The blocks in their order, each with what is in it. A second fallback of a block is in a block of its own."""
    blocks: dict[ExtractedBlock, Data] = {}
    further: list[Data] = []
    for item in items:
        match item:
            case ExtractedBlock():
                _block(blocks, item)
            case ExtractedDefinition():
                _block(blocks, item.block).setdefault("define", []).append(_definition(item))
            case ExtractedKernel():
                members = _block(blocks, item.block).setdefault("impl", {})
                members.setdefault(str(item.operator), []).append(_kernel(item))
            case ExtractedFallback():
                library = _block(blocks, item.block)
                if "fallback" in library or library.get("dispatch_key", item.key) != item.key:
                    library = {**_head(item.block), "namespace": WILDCARD}
                    further.append(library)
                library["dispatch_key"] = item.key
                library["fallback"] = _fallback(item)
    yield from blocks.values()
    yield from further


def _block(blocks: dict[ExtractedBlock, Data], block: ExtractedBlock) -> Data:
    if block not in blocks:
        blocks[block] = _head(block)
    return blocks[block]


def _head(block: ExtractedBlock) -> Data:
    head = placed(block.at, block.when)
    head |= {"kind": block.kind.name, "namespace": str(block.namespace)}
    if isinstance(block.dispatch_key, str):
        head["dispatch_key"] = str(block.dispatch_key)
    return head


def _definition(item: ExtractedDefinition) -> Data:
    entry = placed(item.at, item.when, item.block.when)
    if item.schema is None:
        entry |= {"name": str(item.name), "schema": UNKNOWN}
        if item.why_unknown:
            entry["reason"] = item.why_unknown
        if item.refused:
            entry["refused"] = item.refused
    else:
        entry["func"] = item.schema
    if item.alias_analysis is not None:
        entry["alias_analysis"] = item.alias_analysis
    if item.tags:
        entry["tags"] = list(item.tags)
    entry |= zip(("python_module", "python_module_context"), item.python_module, strict=False)
    return entry


def _kernel(kernel: ExtractedKernel) -> Data:
    entry = placed(kernel.at, kernel.when, kernel.block.when)
    entry |= {"fallthrough": True} if kernel.fallthrough else {"kernel": kernel.kernel}
    if kernel.key != kernel.block.dispatch_key and not (kernel.key is None and kernel.block.kind is LibraryKind.IMPL):
        entry["dispatch_key"] = CATCH_ALL if kernel.key is None else str(kernel.key)
    if kernel.signature is not None:
        entry["signature"] = kernel.signature
    if kernel.boxed_only:
        entry["unboxed"] = False
    if kernel.python and not kernel.fallthrough:
        entry["python"] = True
    return entry | body_entry(kernel.body)


def _fallback(fallback: ExtractedFallback) -> Data:
    entry = placed(fallback.at, fallback.when, fallback.block.when)
    entry |= {"fallthrough": True} if fallback.fallthrough else {"kernel": fallback.kernel}
    if fallback.python and not fallback.fallthrough:
        entry["python"] = True
    return entry
