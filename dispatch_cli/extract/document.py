"""A declaration document out of what sources say: plain data, with the place and the conditions of each entry.

The fields are those of `declarations.formats`. Reading the document gives the same whether it was written to a file
before or not. What is not known well enough to be registered is in the sections ``undecided`` and ``not_understood``.

What is registered for an operator of ``custom_op`` in other places belongs into its entry, as PyTorch decides by all of
it. Where a function is registered under a condition only, the operator has an entry for each case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from dispatch_cli.declarations.formats.file_format import VERSION
from dispatch_cli.declarations.formats.format_types import CATCH_ALL, UNKNOWN
from dispatch_cli.extract.readable import (
    Data,
    called_function_entry,
    is_decided,
    is_readable,
    not_all,
    not_understood_entry,
    placed,
    undecided_entry,
)
from dispatch_cli.model.conditions.condition import Condition
from dispatch_cli.model.conditions.worlds import can_hold, exclude_each_other
from dispatch_cli.model.declarations import WILDCARD, LibraryKind
from dispatch_cli.model.sources.extracted import (
    CustomOperator,
    Extracted,
    ExtractedBlock,
    ExtractedDefinition,
    ExtractedFallback,
    ExtractedKernel,
    Extraction,
    FunctionRole,
    OperatorFunction,
)
from dispatch_cli.model.sources.function_body import ArgumentUse, FunctionBody

DEFAULT = "default"
"""Key of the entry for all device types."""
MOST = 4
"""Conditions of functions of one ``custom_op`` of which every combination has an entry; others are taken as true."""
_OF_CUSTOM = frozenset(FunctionRole) - {FunctionRole.PY_IMPL, FunctionRole.EFFECT}
"""Registrations through ``custom_op``'s object; ``py_impl`` and ``has_side_effect`` are apart from it."""


def document(extractions: Sequence[Extraction], backend: str | None = None) -> Data:
    """The declaration document of all sources of a run, C++ blocks before what Python registers for operators.

    backend: the name of the backend at PrivateUse1.
    """
    items = [item for extraction in extractions for item in extraction.items]
    decided, undecided = [item for item in items if is_decided(item)], [item for item in items if not is_decided(item)]
    not_understood = [statement for extraction in extractions for statement in extraction.not_understood]
    entries = {
        "libraries": [*_libraries(decided)],
        "operators": [*_operators(decided)],
        "functions": [
            called_function_entry(function) for extraction in extractions for function in extraction.functions
        ],
        "undecided": [undecided_entry(item) for item in undecided],
        "not_understood": [not_understood_entry(statement) for statement in not_understood],
    }
    head = {"dispatch": int(VERSION), "extracted": True, **({} if backend is None else {"privateuse1": backend})}
    return {**head, **{name: entry for name, entry in entries.items() if entry}}


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
                library["fallback"] = _function(item)
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
    if block.dropped is not None:
        head["dropped"] = block.dropped
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


def _function(item: ExtractedKernel | ExtractedFallback) -> Data:
    entry = placed(item.at, item.when, item.block.when)
    if item.fallthrough:
        return entry | {"fallthrough": True}
    return entry | {"kernel": item.kernel} | ({"python": True} if item.python else {})


def _kernel(kernel: ExtractedKernel) -> Data:
    entry = _function(kernel)
    if kernel.key != kernel.block.dispatch_key and not (kernel.key is None and kernel.block.kind is LibraryKind.IMPL):
        entry["dispatch_key"] = CATCH_ALL if kernel.key is None else str(kernel.key)
    if kernel.signature is not None:
        entry["signature"] = kernel.signature
    if kernel.boxed_only:
        entry["unboxed"] = False
    return entry | body_entry(kernel.body)


def _operators(items: Iterable[Extracted]) -> Iterator[Data]:
    """The entries of the section ``operators``, in the order of the sources."""
    those = [(at, it) for at, it in enumerate(items) if isinstance(it, CustomOperator | OperatorFunction)]
    customs: dict[str, list[tuple[int, CustomOperator]]] = {}
    functions: dict[str, list[OperatorFunction]] = {}
    for position, item in those:
        if isinstance(item, CustomOperator):
            customs.setdefault(str(item.name), []).append((position, item))
        else:
            functions.setdefault(str(item.operator), []).append(item)
    for position, item in those:
        if isinstance(item, CustomOperator):
            several = [it for it in customs[str(item.name)] if not exclude_each_other(it[1].when, item.when)]
            when = _while_not_replaced(item, [later for at, later in several if at > position])
            if when is not None:
                of_custom = [it for it in functions.get(str(item.name), ()) if it.role in _OF_CUSTOM]
                yield from _custom(item._replace(when=when), of_custom)
        elif item.role not in _OF_CUSTOM or str(item.operator) not in customs:
            yield {**placed(item.at, item.when), "name": str(item.operator), **_fields([item], with_places=False)}


def _while_not_replaced(item: CustomOperator, later: Iterable[CustomOperator]) -> tuple[Condition, ...] | None:
    """The conditions under which an operator is there and no later one of its name; None where that cannot be.

    PyTorch destroys the library of the former (``get_library_allowing_overwrite``), with all that is registered in it.
    """
    rests = dict.fromkeys(tuple(each for each in other.when if each not in item.when) for other in later)
    return None if () in rests else (*item.when, *(each for rest in rests for each in _all(rest, False)))


def _custom(item: CustomOperator, functions: Sequence[OperatorFunction]) -> Iterator[Data]:
    """The entries of an operator: one for each consistent choice of the conditions of its functions."""
    possible = [it for it in functions if not exclude_each_other(item.when, it.when)]
    whens = {it: tuple(each for each in it.when if each not in item.when) for it in possible}
    conditions = [when for when in dict.fromkeys(whens.values()) if when and is_readable(_all(when, False)[0])]
    for chosen in product((True, False), repeat=min(len(conditions), MOST)):
        truth = dict(zip(conditions, chosen, strict=False))
        added = [each for when, holds in truth.items() for each in _all(when, holds)]
        if can_hold((*item.when, *added)):
            present = [it for it in possible if not whens[it] or truth.get(whens[it], True)]
            entry = {
                **placed(item.at, (*item.when, *added)),
                **_operator_definition(item),
                **_fields([*_own(item), *present]),
            }
            if default := entry.get("kernels", {}).pop(DEFAULT, None):
                entry["kernel"] = default[-1]
            yield entry


def _all(when: tuple[Condition, ...], holds: bool) -> tuple[Condition, ...]:
    return when if holds else (not_all(when),)


def _operator_definition(item: CustomOperator) -> Data:
    maker = "triton_op" if item.triton else "custom_op"
    entry: Data = {maker: str(item.name) if item.schema is None else item.schema}
    if item.schema is None:
        entry |= {"schema": UNKNOWN} | ({"reason": item.why_unknown} if item.why_unknown else {})
        entry |= {"refused": item.refused} if item.refused else {}
    if item.mutates_args is not None and item.mutates_args != ():
        entry["mutates_args"] = item.mutates_args if isinstance(item.mutates_args, str) else list(item.mutates_args)
    if item.tags:
        entry["tags"] = list(item.tags)
    if item.triton or item.device_types is None:
        entry["kernel"] = {"kernel": item.function, "at": str(item.at), **body_entry(item.body)}
    elif not item.device_types:
        entry["kernels"] = {}
    return entry


def _own(item: CustomOperator) -> list[OperatorFunction]:
    """The function of the definition itself, where it is for some device types."""
    if not item.device_types or item.triton:
        return []
    kernel = FunctionRole.KERNEL
    return [OperatorFunction(kernel, item.name, item.function, item.at, devices=item.device_types, body=item.body)]


def body_entry(body: FunctionBody | None) -> Data:
    """The field that says what the source of a Python function says."""
    if body is None:
        return {}
    entry: Data = {"parameters": list(body.parameters)}
    entry |= {"writes": [_use(use) for use in body.writes]} if body.writes else {}
    entry |= {"returns": [_use(use) for use in body.returns]} if body.returns else {}
    entry |= {"values": "..".join(map(str, body.values))} if body.values is not None else {}
    return {"body": entry}


def _use(use: ArgumentUse) -> Data:
    entry: Data = {"argument": use.argument, "text": use.text, "at": str(use.at)}
    return entry | ({"sometimes": True} if use.sometimes else {})


def _fields(functions: Sequence[OperatorFunction], with_places: bool = True) -> Data:
    """The fields of an operator that say which functions are registered; the last backward counts, as in PyTorch."""
    fields: Data = {}
    for function in functions:
        entry: Data = {
            "kernel": function.function,
            **({"at": str(function.at)} if with_places else {}),
            **body_entry(function.body),
        }
        devices = [str(device) for device in function.devices]
        match function.role:
            case FunctionRole.FAKE:
                if function.allow_override is not None:
                    entry["allow_override"] = function.allow_override
                fields.setdefault("fake", []).append(entry)
            case FunctionRole.KERNEL:
                of_devices = fields.setdefault("kernels", {})
                of_devices.setdefault(", ".join(devices) or DEFAULT, []).append(entry)
            case FunctionRole.AUTOGRAD:
                fields["backward"] = entry
                if function.setup_context is not None:
                    setup = body_entry(function.setup_body)
                    fields["setup_context"] = (
                        {"kernel": function.setup_context, **setup} if setup else function.setup_context
                    )
            case FunctionRole.VMAP:
                fields.setdefault("vmap", []).append(entry)
            case FunctionRole.AUTOCAST:
                fields.setdefault("autocast", {}).update(dict.fromkeys(devices, function.dtype or "float16"))
            case FunctionRole.EFFECT:
                fields["fake_tensor_mode"] = {"side_effects": True}
            case FunctionRole.PY_IMPL:
                fields.setdefault("python_dispatch", {}).update(dict.fromkeys(devices, function.function))
    return fields
