"""The decision of a ``#if`` directive, with the macros as they are at its place."""

from __future__ import annotations

from dispatch_cli.extract.cpp.branches import Branches
from dispatch_cli.extract.cpp.expander import Expander
from dispatch_cli.extract.cpp.if_expression import Decision, ExpressionError, decide, opposite
from dispatch_cli.extract.cpp.macro_table import FIXED, MacroTable
from dispatch_cli.extract.cpp.sourcefile import Directive
from dispatch_cli.extract.cpp.tokens import CppToken, tokens_of
from dispatch_cli.extract.readable import is_readable
from dispatch_cli.model.condition import Atom


class IfReader:
    """Reads ``#if``, ``#ifdef`` and their relatives."""

    def __init__(self, table: MacroTable, expander: Expander, branches: Branches) -> None:
        self._table, self._expander, self._branches = table, expander, branches

    def decision(self, directive: Directive) -> Decision:
        """Decide the directive. The answer is kept for the next translation unit in which its macros are the same."""
        if directive.kind.endswith("def"):
            defined = self._is_defined(directive.name)
            return opposite(defined) if directive.kind.endswith("ndef") else defined
        if directive.names is None:
            directive.names = tuple({token.text for token in directive.tokens if token.kind == "name"})
        when, assumed = self._branches.when, self._table.assumed
        state = [self._table.state(name) for name in directive.names]
        seen = directive.seen
        same = seen is not None and seen[1] == when and seen[2] == assumed
        if same and all(old is new for old, new in zip(seen[0], state, strict=True)):
            known: Decision = seen[3]
            return known
        decision = self._decided(directive)
        if not any(token.kind == "name" for part in state for variant in part or () for token in variant.macro.body):
            directive.seen = (state, when, dict(assumed), decision)
        return decision

    def _decided(self, directive: Directive) -> Decision:
        self._table.in_if = True
        try:
            decision = decide(self._tokens(directive), self._is_defined)
        except ExpressionError:
            text = directive.source.text[directive.start : directive.end]
            decision = Atom(" ".join(text.replace("\\\n", " ").split()))
        finally:
            self._table.in_if = False
        if not isinstance(decision, bool) and not is_readable(decision):
            at = directive.source.span(directive.at)
            return Atom(f"#{directive.kind} at {at.file}:{at.line}")
        return decision if isinstance(decision, bool) else self._table.known(decision, self._branches.when)

    def _is_defined(self, name: str) -> Decision:
        return self._table.is_defined(name, self._branches.when)

    def _tokens(self, directive: Directive) -> list[CppToken]:
        """The expression with its macros replaced, but for the operands of ``defined``."""
        result: list[CppToken] = []
        part: list[CppToken] = []
        tokens = iter(directive.tokens)
        for token in tokens:
            if token.text != "defined":
                part.append(token)
                continue
            result.extend(self._replaced(part))
            part = []
            result.append(token)
            name = next(tokens, None)
            if name is not None:
                result.append(name)
                if name.text == "(":
                    result.extend(token for token in (next(tokens, None), next(tokens, None)) if token is not None)
        result.extend(self._replaced(part))
        return result

    def _replaced(self, tokens: list[CppToken]) -> list[CppToken]:
        return [fixed for token in self._expander.all_replaced(tokens) for fixed in self._fixed(token)]

    def _fixed(self, token: CppToken) -> list[CppToken]:
        """A macro of the compiler by its value; one that is not defined is 0."""
        text = FIXED.get(token.text) or ("0" if self._table.state(token.text) == () else None)
        return [replacement._replace(hide=token.hide) for replacement in tokens_of(text)] if text else [token]
