"""The macros that are defined at a place of a translation unit, with the conditions of their definitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dispatch_cli.extract.cpp.preprocessor.conditions import Decision, When, known
from dispatch_cli.extract.cpp.preprocessor.macros import KNOWN, RESERVED, defined_as
from dispatch_cli.extract.cpp.preprocessor.sourcefile import Macro
from dispatch_cli.extract.cpp.preprocessor.tokens import CppToken, tokens_of
from dispatch_cli.extract.given_names import EXTENSION_NAME
from dispatch_cli.extract.sources import ReadSettings
from dispatch_cli.model.conditions.condition import Atom

_FIXED = {"__cplusplus": "201703L", "__COUNTER__": "0", "__has_include": "__has_include"}
"""Macros that every compiler defines."""
_UNDEFINED = ("__CUDA_ARCH__", "__HIP_DEVICE_COMPILE__", "__ASSEMBLER__")
"""Macros that are not defined where a compiler makes code for the host, which is what registers."""
MAX_DEFINITIONS = 8
"""Definitions of one macro under different conditions that are kept."""
_ZERO = tokens_of("0")


class MacroTable:
    """The macros at one place.

    extension_name: gives the name of the extension, which the build sets, unless the sources do.
    ambiguous: macros that were used and not replaced, since they have several definitions.
    """

    def __init__(self, settings: ReadSettings, extension_name: Callable[[], str]) -> None:
        self._extension_name = extension_name
        self.ambiguous: set[str] = set()
        self._macros: dict[str, tuple[Macro, ...]] = dict.fromkeys((*_UNDEFINED, *settings.undefines), ())
        for name, value in (*_FIXED.items(), *settings.defines):
            self.define(defined_as(name, value))

    def chosen(self, name: str, when: When) -> Macro | None:
        """Macro that replaces *name* where *when* holds."""
        if name in RESERVED:
            return None
        definitions = self._macros.get(name)
        if definitions is None and name == EXTENSION_NAME:
            return defined_as(name, self._extension_name())
        if definitions is None:
            return KNOWN.get(name)
        last = definitions[-1] if definitions else None
        if last is None or all(condition in when for condition in last.when):
            return last
        if all(last.same(other) for other in definitions):
            return last
        self.ambiguous.add(name)
        return None

    def define(self, macro: Macro) -> None:
        """Define a macro where its conditions hold; one of PyTorch's own stays as it is."""
        if macro.name not in RESERVED:
            self.undefine(macro.name, macro.when)
            self._macros[macro.name] = (*self._macros[macro.name][-MAX_DEFINITIONS:], macro)

    def undefine(self, name: str, when: When) -> None:
        """Forget a macro where *when* holds."""
        earlier = self._macros.get(name, ())
        self._macros[name] = tuple(
            old for old in earlier if when and not all(condition in old.when for condition in when)
        )

    def zero(self, name: str) -> Sequence[CppToken] | None:
        """The value in ``#if`` of a macro that is not defined; None for others."""
        return _ZERO if self._macros.get(name) == () else None

    def is_defined(self, name: str, when: When) -> Decision:
        """True if a macro is defined here, as ``defined(NAME)`` tells."""
        definitions = self._macros.get(name)
        if definitions is None:
            return name in RESERVED or known(Atom(f"defined({name})"), when)
        if any(all(condition in when for condition in macro.when) for macro in definitions):
            return True
        return known(Atom(f"defined({name})"), when) if definitions else False
