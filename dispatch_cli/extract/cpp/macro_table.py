"""The macros that are defined at a place of a translation unit, with the conditions of their definitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from dispatch_cli.extract.cpp.context import When, excludes, facts, undecided
from dispatch_cli.extract.cpp.if_expression import Decision
from dispatch_cli.extract.cpp.known import KNOWN, RESERVED
from dispatch_cli.extract.cpp.macros import Macro, defined_as
from dispatch_cli.extract.cpp.sourcefile import Directive
from dispatch_cli.model.condition import Atom, Condition, value

FIXED = {"__cplusplus": "201703L", "__COUNTER__": "0", "__has_include": ""}
"""Macros that every compiler defines."""
_UNDEFINED = ("__CUDA_ARCH__", "__HIP_DEVICE_COMPILE__", "__ASSEMBLER__")
"""Macros that are not defined where a compiler makes code for the host, which is what registers."""
MAX_DEFINITIONS = 8
"""Definitions of one macro under different conditions that are kept."""


class MacroDefinition(NamedTuple):
    """A definition of a macro, and the conditions under which it holds."""

    macro: Macro
    when: When


class MacroTable:
    """The macros at one place.

    assumed: atoms that are taken to be true or false. in_if: an expression of ``#if`` is read. load: defines a macro
    that nothing before the place defines, where it is known from elsewhere; returns true if it did.
    ambiguous: macros that were used and not replaced, since they have several definitions, and the atoms that decide
    between those.
    """

    def __init__(
        self,
        undefined: Iterable[str],
        defined: Iterable[Macro],
        assumed: Mapping[str, bool],
        load: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self.assumed = dict(assumed)
        self._load = load
        self.ambiguous: dict[str, set[str]] = {}
        self.in_if = False
        self._counted = 0
        self._macros: dict[str, tuple[MacroDefinition, ...]] = dict.fromkeys((*_UNDEFINED, *undefined), ())
        for macro in defined:
            self.add(macro)

    def add(self, macro: Macro) -> None:
        """Define a macro that holds everywhere."""
        self._macros[macro.name] = (MacroDefinition(macro, ()),)

    def chosen(self, name: str, when: When) -> Macro | None:
        """Macro that replaces *name* where *when* holds."""
        if name in RESERVED:
            return KNOWN.get(name)
        if name == "__COUNTER__":
            self._counted += 1
            return defined_as(name, str(self._counted))
        definitions = self._macros.get(name)
        if definitions is None and name not in KNOWN and self._load(name):
            definitions = self._macros.get(name)
        if definitions is None:
            return KNOWN.get(name)
        if len(definitions) < 2:
            return definitions[0].macro if definitions else None
        possible = [definition for definition in definitions if not excludes(when, definition.when)]
        if not possible:
            return KNOWN.get(name)
        last = possible[-1]
        if all(condition in when for condition in last.when) or all(last.macro.same(other.macro) for other in possible):
            return last.macro
        if not self.in_if:
            atoms = undecided((condition for definition in possible for condition in definition.when), facts(when))
            self.ambiguous.setdefault(name, set()).update(atoms)
        return None

    def define(self, directive: Directive, when: When) -> None:
        """Define a macro where *when* holds."""
        if directive.definition is None:
            macro = directive.macro
            directive.definition = () if macro is None else (MacroDefinition(macro, ()),)
        if not directive.definition or directive.name in RESERVED:
            return
        if when:
            earlier = self._macros.get(directive.name, ())
            kept = tuple(old for old in earlier if not all(condition in old.when for condition in when))
            macro = directive.definition[0].macro
            self._macros[directive.name] = (*kept[-MAX_DEFINITIONS:], MacroDefinition(macro, when))
        else:
            self._macros[directive.name] = directive.definition

    def state(self, name: str) -> tuple[MacroDefinition, ...] | None:
        """The definitions of a macro; None where it is not known whether it is defined."""
        return self._macros.get(name)

    def undefine(self, name: str, when: When) -> None:
        """Forget a macro where *when* holds."""
        earlier = self._macros.get(name, ())
        self._macros[name] = tuple(
            old for old in earlier if when and not all(condition in old.when for condition in when)
        )

    def is_defined(self, name: str, when: When) -> Decision:
        """True if a macro is defined here, as ``defined(NAME)`` tells."""
        if name in FIXED:
            return True
        definitions = self._macros.get(name)
        if definitions is None:
            return True if name in RESERVED else self.known(Atom(f"defined({name})"), when)
        if not definitions:
            return False
        if any(all(condition in when for condition in definition.when) for definition in definitions):
            return True
        return self.known(Atom(f"defined({name})"), when)

    def known(self, condition: Condition, when: When) -> Decision:
        """Decide a condition, as far as it is known where *when* holds."""
        decided = value(condition, {**self.assumed, **facts(when)})
        return condition if decided is None else decided
