"""Replaces the macros in a stream of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dispatch_cli.extract.cpp.known import RESERVED
from dispatch_cli.extract.cpp.macro_table import MacroTable
from dispatch_cli.extract.cpp.macros import Macro, substituted
from dispatch_cli.extract.cpp.tokens import CppToken
from dispatch_cli.extract.work import OverWork, WorkBudget
from dispatch_cli.model.span import Span

MAX_ARGUMENTS = 60
"""Maximum depth of nested arguments of macros."""
_Raw = Callable[[], "CppToken | None"]


class UnclosedMacro(Exception):
    """The arguments of a macro do not end. at: where it is used."""

    def __init__(self, message: str, at: Span) -> None:
        super().__init__(message)
        self.at = at


class Expander:
    """The tokens of *tokens* with the macros of *table* replaced.

    work: every token that is looked at is counted in it. blocks: the tokens that begin a registration block. used: the
    names of all macros that were replaced.
    """

    def __init__(self, table: MacroTable, tokens: Iterator[CppToken], work: WorkBudget) -> None:
        self._table, self._tokens, self._work = table, tokens, work
        self.blocks: list[CppToken] = []
        self.used: set[str] = set()
        self._pending: list[CppToken] = []
        self._sets: dict[frozenset[str], frozenset[str]] = {}
        """Each set of macros that tokens keep, once for all that have the same."""
        self._nesting = 0

    def next(self) -> CppToken | None:
        """The next token that no macro replaces; None at the end. Errors: OverWork, UnclosedMacro."""
        while True:
            self._work.spend(1)
            token = self._raw()
            if token is None:
                return None
            if token.kind != "name" or token.text in token.hide:
                return token
            macro = self._table.chosen(token.text, token.when)
            if macro is None:
                return token
            replaced = self._expanded(token, macro, self._raw, self._pending)
            if replaced is None:
                return token
            if token.text in RESERVED:
                self.blocks.append(token)
            self._pending.extend(reversed(replaced))

    def at_text(self) -> bool:
        """True if the next token is one of the text itself, not of a macro."""
        return not self._pending

    def _raw(self) -> CppToken | None:
        return self._pending.pop() if self._pending else next(self._tokens, None)

    def all_replaced(self, tokens: list[CppToken]) -> list[CppToken]:
        """An argument, or the expression of ``#if``, with its macros replaced."""
        self._nesting += 1
        if self._nesting > MAX_ARGUMENTS:
            raise OverWork(f"arguments of macros nest more than {MAX_ARGUMENTS} deep")
        self._work.spend(len(tokens))
        pending = tokens[::-1]
        result: list[CppToken] = []

        def raw() -> CppToken | None:
            return pending.pop() if pending else None

        while pending:
            token = pending.pop()
            macro = None
            if token.kind == "name" and token.text not in token.hide:
                macro = self._table.chosen(token.text, token.when)
            replaced = self._expanded(token, macro, raw, pending) if macro else None
            if replaced is None:
                result.append(token)
            else:
                pending.extend(reversed(replaced))
        self._nesting -= 1
        return result

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
