"""The macros that are defined at a place of a translation unit, with the conditions of their definitions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from dispatch_cli.extract.cpp.preprocessor.conditions import Decision, When, excludes, facts
from dispatch_cli.extract.cpp.preprocessor.macros import KNOWN, RESERVED, Macro, defined_as, substituted
from dispatch_cli.extract.cpp.preprocessor.sourcefile import Directive
from dispatch_cli.extract.cpp.preprocessor.tokens import CppToken
from dispatch_cli.extract.work import OverWork, WorkBudget
from dispatch_cli.model.conditions.condition import Atom, Condition, value
from dispatch_cli.model.span import Span

FIXED = {"__cplusplus": "201703L", "__COUNTER__": "0", "__has_include": ""}
"""Macros that every compiler defines."""
_UNDEFINED = ("__CUDA_ARCH__", "__HIP_DEVICE_COMPILE__", "__ASSEMBLER__")
"""Macros that are not defined where a compiler makes code for the host, which is what registers."""
MAX_DEFINITIONS = 8
"""Definitions of one macro under different conditions that are kept."""
MAX_ARGUMENTS = 60
"""Maximum depth of nested arguments of macros."""
_MACRO = re.compile(r"\b[A-Z_][A-Z0-9_]*\b")
"""A macro in a condition."""
_Raw = Callable[[], "CppToken | None"]


class MacroDefinition(NamedTuple):
    """A definition of a macro, and the conditions under which it holds."""

    macro: Macro
    when: When


class MacroTable:
    """The macros at one place.

    load: defines a macro that nothing before the place defines, where it is known from elsewhere; returns true if it
    did. ambiguous: macros that were used and not replaced, since they have several definitions.
    """

    def __init__(
        self,
        undefined: Iterable[str],
        defined: Iterable[Macro],
        load: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._load = load
        self.ambiguous: set[str] = set()
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
        self.ambiguous.add(name)
        return None

    def deciding(self, name: str) -> list[str]:
        """The macros whose values would replace *name*: itself, or those of the ``#if`` around its definitions."""
        if name not in self.ambiguous:
            return [name]
        conditions = (str(part) for definition in self._macros.get(name) or () for part in definition.when)
        names = (macro for text in conditions if not text.startswith("#") for macro in _MACRO.findall(text))
        return [macro for macro in dict.fromkeys(names) if not self._macros.get(macro)]

    def define(self, directive: Directive, when: When) -> None:
        """Define a macro where *when* holds."""
        macro = directive.macro
        if macro is None or directive.name in RESERVED:
            return
        self.undefine(directive, when)
        self._macros[macro.name] = (*self._macros[macro.name][-MAX_DEFINITIONS:], MacroDefinition(macro, when))

    def state(self, name: str) -> tuple[MacroDefinition, ...] | None:
        """The definitions of a macro; None where it is not known whether it is defined."""
        return self._macros.get(name)

    def undefine(self, directive: Directive, when: When) -> None:
        """Forget a macro where *when* holds."""
        earlier = self._macros.get(directive.name, ())
        self._macros[directive.name] = tuple(
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
        decided = value(condition, facts(when))
        return condition if decided is None else decided


class UnclosedMacro(Exception):
    """The arguments of a macro do not end. at: where it is used."""

    def __init__(self, message: str, at: Span) -> None:
        super().__init__(message)
        self.at = at


class Expander:
    """The tokens of *tokens* with the macros of *table* replaced.

    work: every token that is looked at is counted in it. blocks: the tokens that begin a registration block. used: the
    names of all macros that were replaced. pending: tokens out of macros, which come next, in reverse order.
    """

    def __init__(self, table: MacroTable, tokens: Iterator[CppToken], work: WorkBudget) -> None:
        self._table, self._tokens, self._work = table, tokens, work
        self.blocks: list[CppToken] = []
        self.used: set[str] = set()
        self.pending: list[CppToken] = []
        self._sets: dict[frozenset[str], frozenset[str]] = {}
        """Each set of macros that tokens keep, once for all that have the same."""
        self._nesting = 0

    def next(self) -> CppToken | None:
        """The next token that no macro replaces; None at the end. Errors: OverWork, UnclosedMacro."""
        return self._next(self._raw, self.pending)

    def _raw(self) -> CppToken | None:
        return self.pending.pop() if self.pending else next(self._tokens, None)

    def all_replaced(self, tokens: list[CppToken]) -> list[CppToken]:
        """An argument, or the expression of ``#if``, with its macros replaced."""
        self._nesting += 1
        if self._nesting > MAX_ARGUMENTS:
            raise OverWork(f"arguments of macros nest more than {MAX_ARGUMENTS} deep")
        pending = tokens[::-1]

        def raw() -> CppToken | None:
            return pending.pop() if pending else None

        result = [token for token in iter(lambda: self._next(raw, pending), None) if token is not None]
        self._nesting -= 1
        return result

    def _next(self, raw: _Raw, pending: list[CppToken]) -> CppToken | None:
        """The next token of *raw* that no macro replaces; *pending*: what comes before its next."""
        while (token := raw()) is not None:
            self._work.spend(1)
            macro = None
            if token.kind == "name" and token.text not in token.hide:
                macro = self._table.chosen(token.text, token.when)
            replaced = self._expanded(token, macro, raw, pending) if macro else None
            if replaced is None:
                return token
            if token.text in RESERVED:
                self.blocks.append(token)
            pending.extend(reversed(replaced))
        return None

    def _expanded(self, token: CppToken, macro: Macro, raw: _Raw, pending: list[CppToken]) -> list[CppToken] | None:
        hide = token.hide
        arguments: list[list[CppToken]] = []
        if macro.parameters is not None:
            following = raw()
            if following is None or following.text != "(":
                if following is not None:
                    pending.append(following)
                return None
            taken, close = self._arguments(raw, macro)
            if close is None:
                raise UnclosedMacro(f"the ')' of the macro {macro.name} is missing", token.at)
            arguments = taken
            hide = hide & close.hide
        hide = hide | {macro.name}
        self.used.add(macro.name)
        self._work.spend(len(macro.body) + len(hide))
        body = substituted(macro, arguments, self.all_replaced, self._work)
        use = token.use or (token.source, token.offset)
        hidden = {part.hide: part.hide | hide for part in body}
        hidden = {own: self._sets.setdefault(replaced, replaced) for own, replaced in hidden.items()}
        result = [
            CppToken(part.kind, part.text, part.space, part.source, part.offset, token.when, use, hidden[part.hide])
            for part in body
        ]
        if result:
            result[0] = result[0]._replace(space=token.space)
        return result

    @staticmethod
    def _arguments(raw: _Raw, macro: Macro) -> tuple[list[list[CppToken]], CppToken | None]:
        assert macro.parameters is not None
        arguments: list[list[CppToken]] = [[]]
        depth = 0
        most = len(macro.parameters)
        while (token := raw()) is not None:
            text = token.text if token.kind == "mark" else ""
            if text == ")" and depth == 0:
                break
            depth += (text == "(") - (text == ")")
            if text == "," and depth == 0 and not (macro.variadic and len(arguments) >= most):
                arguments.append([])
            else:
                arguments[-1].append(token)
        while len(arguments) < most:
            arguments.append([])
        return arguments, token
