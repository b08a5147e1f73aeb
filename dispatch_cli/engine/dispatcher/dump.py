"""PyTorch's own dump texts, byte for byte (``OperatorEntry::dumpState`` and ``dumpComputedTable``)."""

from __future__ import annotations

from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.table.registration import Definition
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName

DEFAULT_ALIAS_ANALYSIS = "CONSERVATIVE (default)"
"""Text for an alias analysis kind that was left at its default."""


def kernel_flags(kernel: Kernel) -> str:
    """The words in the brackets after a kernel, each with a space behind it."""
    words = (("fallthrough ", kernel.fallthrough), ("boxed ", kernel.boxed), ("unboxed ", kernel.unboxed))
    return "".join(word for word, holds in words if holds)


def alias_analysis_text(definition: Definition) -> str:
    """The kind, and whether it was left at its default."""
    return DEFAULT_ALIAS_ANALYSIS if definition.alias_analysis is None else definition.alias_analysis.value


def dump_registrations(dispatcher: Dispatcher, name: OperatorName) -> str:
    """The text that ``torch._C._dispatch_dump`` prints; an empty text for an unknown operator."""
    operator = dispatcher.find(name)
    if operator is None:
        return ""
    lines = [f"name: {name}"]
    definition = operator.definition
    if definition is None:
        lines.append("schema: (none)")
    else:
        lines.append(f"schema: {definition.schema}")
        lines.append(f"debug: {definition.debug}")
        lines.append(f"alias analysis kind: {alias_analysis_text(definition)}")
    universe = dispatcher.universe
    for key in sorted(operator.kernels, key=universe.ids.__getitem__):
        title = f"{key}[alias]" if universe.is_alias(key) else key
        for position, registration in enumerate(operator.kernels[key]):
            kernel = registration.kernel
            signature = "(none)" if kernel.signature is None else str(kernel.signature)
            inactive = " (inactive)" if position else ""
            lines.append(f"{title}{inactive}: {kernel.debug} :: {signature} [ {kernel_flags(kernel)}]")
    return "\n".join(lines) + "\n"


def dump_table(dispatcher: Dispatcher, name: OperatorName) -> str:
    """The text that ``torch._C._dispatch_dump_table`` prints; an empty text for an unknown operator."""
    return dispatcher.dump_table(name)
