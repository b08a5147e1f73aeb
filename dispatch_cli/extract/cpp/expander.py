"""Replaces the macros in a stream of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dispatch_cli.extract.cpp.known import RESERVED
from dispatch_cli.extract.cpp.macro_table import MacroTable
from dispatch_cli.extract.cpp.macros import Macro, substituted
from dispatch_cli.extract.cpp.tokens import CppToken
from dispatch_cli.model.span import Span

MAX_TOKENS = 400_000
"""Tokens that the macros of one translation unit may make."""
MAX_CHAIN = 200
"""Macros that make one token, each out of what the one before it made."""
MAX_ARGUMENTS = 60
"""How deeply arguments of macros may nest."""
_Raw = Callable[[], "CppToken | None"]


class TooMuch(Exception):
    """A bound is exceeded, or the arguments of a macro do not end. at: where."""

    def __init__(self, message: str, at: Span | None = None) -> None:
        super().__init__(message)
        self.at = at


class Expander:
    """The tokens of *tokens* with the macros of *table* replaced.

    blocks: those that begin a registration block. used: the names of all that were replaced.
    """

    def __init__(self, table: MacroTable, tokens: Iterator[CppToken]) -> None:
        self._table, self._tokens = table, tokens
        self.blocks: list[CppToken] = []
        self.used: set[str] = set()
        self._pending: list[CppToken] = []
        self._made = 0
        self._sets: dict[frozenset[str], frozenset[str]] = {}
        """Each set of macros that tokens keep, once for all that have the same."""
        self._nesting = 0

    def next(self) -> CppToken | None:
        """The next token that no macro replaces; None at the end. Errors: TooMuch."""
        while True:
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
        """Whether the next token is one of the text itself, not of a macro."""
        return not self._pending

    def _raw(self) -> CppToken | None:
        return self._pending.pop() if self._pending else next(self._tokens, None)

    def all_replaced(self, tokens: list[CppToken]) -> list[CppToken]:
        """An argument, or the expression of ``#if``, with its macros replaced."""
        self._nesting += 1
        if self._nesting > MAX_ARGUMENTS:
            raise TooMuch(f"arguments of macros nest more than {MAX_ARGUMENTS} deep")
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
                raise TooMuch(f"the ')' of the macro {macro.name} is missing", token.at)
            arguments = taken
            hide = hide & close.hide
        hide = hide | {macro.name}
        self.used.add(macro.name)
        body = substituted(macro, arguments, self.all_replaced)
        self._made += len(body) + 1
        if self._made > MAX_TOKENS:
            raise TooMuch(f"the macros of this file make more than {MAX_TOKENS:,} tokens", token.at)
        if len(hide) > MAX_CHAIN:
            raise TooMuch(f"a macro stands for more than {MAX_CHAIN} others, one after the other", token.at)
        use = token.use or (token.source, token.offset)
        hidden = {part.hide: part.hide | hide for part in body}
        hidden = {own: self._sets.setdefault(made, made) for own, made in hidden.items()}
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
