"""A translation unit: a file with what it includes, as a stream of tokens whose macros are replaced.

Where ``#if`` is not decided, all branches are in the stream, and each token has its conditions. Macros are replaced
after the C++ standard, [cpp.replace], by the algorithm of Dave Prosser: every token keeps the set of the macros that do
not expand it any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from dispatch_cli.extract.cpp.preprocessor.conditions import Decision, When, decide, known, narrowed, opposite
from dispatch_cli.extract.cpp.preprocessor.macro_table import MacroTable
from dispatch_cli.extract.cpp.preprocessor.macros import substituted
from dispatch_cli.extract.cpp.preprocessor.project import CppProject
from dispatch_cli.extract.cpp.preprocessor.sourcefile import ENDS, IFS, Directive, Macro, SourceFile
from dispatch_cli.extract.cpp.preprocessor.tokens import CppToken, lex
from dispatch_cli.extract.readable import is_readable
from dispatch_cli.extract.work import OverWork
from dispatch_cli.model.conditions.condition import Atom

MAX_INCLUDES = 200
"""Maximum depth of files that include one another."""
MAX_BRANCHES = 256
"""Maximum depth of nested ``#if``, which is what the C++ standard asks of compilers."""
MAX_ARGUMENTS = 60
"""Maximum depth of nested arguments of macros."""
SEARCHED = 64
"""So many characters that are searched for a mark cost one unit."""
UNDECIDED = 30
"""Units of work of a branch that is not decided."""


class TranslationUnit:
    """The tokens of *main*.

    skipping: what follows is left out, up to the next text that can begin a registration.
    """

    def __init__(self, project: CppProject, main: str) -> None:
        self.project, self.main = project, main
        self.skipping = True
        self.included: set[str] = set()
        self.work = project.sources.work
        extension_name = partial(project.extension_names.of_cpp_file, main)
        self.table = MacroTable(project.sources.settings(main), extension_name)
        self.file = project.file(main)
        self._when: When | None = ()
        """Conditions of the text that is reached; None where it is left out."""
        self._branches: list[tuple[When | None, When | None]] = []
        """The ``#if`` around it: the conditions outside, and those where no branch so far is taken; None for never."""
        self._pending: list[CppToken] = []
        self._nesting = 0
        self._tokens = self._replaced(self._read(self.file, 0), self._pending)

    def next(self) -> CppToken | None:
        """The next token that no macro replaces; None at the end. Errors: OverWork."""
        return next(self._tokens, None)

    def skip(self) -> None:
        """Leave out what follows, up to the next text that can begin a registration; not within a macro, as the
        function that one begins goes on behind it."""
        self.skipping = not self._pending

    # ---- files and directives

    def _read(self, file: SourceFile, depth: int) -> Iterator[CppToken]:
        """The tokens of a file and of what it includes, as they are written."""
        if depth > MAX_INCLUDES:
            raise OverWork(f"files include one another more than {MAX_INCLUDES} deep")
        outside = len(self._branches)
        for directive in file.directives:
            self.work.spend(1)
            if self._when is None:
                self.project.account(file, directive.before, directive.at)
            elif not self.skipping or self.project.may_begin(file):
                yield from self._text(file, directive.before, directive.at)
            if directive.kind in ("include", "include_next", "import"):
                if self._when is not None and (header := self._included(directive)) is not None:
                    yield from self._read(header, depth + 1)
            elif directive.kind in ("define", "undef"):
                self._define(directive)
            elif directive.kind in IFS or (directive.kind in ENDS and len(self._branches) > outside):
                self._branch(directive)
        if len(self._branches) > outside:
            self._when = self._branches[outside][0]
            del self._branches[outside:]

    def _text(self, file: SourceFile, start: int, end: int) -> Iterator[CppToken]:
        """The tokens of a text without directives, from where a registration can begin."""
        assert self._when is not None
        while start < end:
            if self.skipping:
                match = self.project.pattern.search(file.blanked, start, end)
                self.work.spend(((end if match is None else match.start()) - start) // SEARCHED)
                if match is None:
                    return
                start = match.start()
                self.skipping = False
            for token in lex(file, start, end, self._when):
                start = token.offset + len(token.text)
                yield token
                if self.skipping:
                    break
            else:
                return

    def _included(self, directive: Directive) -> SourceFile | None:
        """The file to include; None where there is none, or it is read already."""
        target = directive.target
        file = None if target is None else self.project.included(target, directive.source.name)
        if file is None or (file.once and (file.name in self.included or file.name == self.main)):
            return None
        self.included.add(file.name)
        return file

    def _define(self, directive: Directive) -> None:
        """``#define`` or ``#undef``."""
        if self._when is not None and directive.kind == "undef":
            self.table.undefine(directive.name, self._when)
        elif self._when is not None and directive.macro is not None:
            self.table.define(directive.macro._replace(when=self._when) if self._when else directive.macro)

    # ---- branches

    def _branch(self, directive: Directive) -> None:
        """``#if`` and its relatives."""
        if directive.kind in IFS:
            if len(self._branches) >= MAX_BRANCHES:
                raise OverWork(f"'#if' nest more than {MAX_BRANCHES} deep")
            self._branches.append((self._when, self._when))
        outside, rest = self._branches.pop()
        if directive.kind == "endif":
            self._when = outside
            return
        self._when = None
        if rest is not None:
            decision = self._decision(directive, rest)
            self.work.spend(0 if isinstance(decision, bool) else UNDECIDED + len(rest))
            self._when, rest = narrowed(rest, decision), narrowed(rest, opposite(decision))
        self._branches.append((outside, rest))

    def _decision(self, directive: Directive, when: When) -> Decision:
        """True if a branch is taken where no earlier one is."""
        kind, name = directive.kind, directive.name
        if kind == "else" or (kind == "ifndef" and name == directive.source.guard):
            return True
        if kind.endswith("def"):
            defined = self.table.is_defined(name, when)
            return opposite(defined) if kind.endswith("ndef") else defined
        tokens = list(directive.tokens)
        for index, token in enumerate(directive.tokens):
            if token.text == "defined":  # its operand is not replaced
                for place in range(index + 1, min(index + 3, len(tokens))):
                    tokens[place] = tokens[place]._replace(hide=frozenset({tokens[place].text}))
        decision = decide(self._argument(tokens), self.table.zero, partial(self.table.is_defined, when=when))
        if not isinstance(decision, bool) and not is_readable(decision):
            at = directive.source.span(directive.at)
            decision = Atom(f"#{kind} at {at.file}:{at.line}")
        return decision if isinstance(decision, bool) else known(decision, when)

    # ---- macros

    def _replaced(self, tokens: Iterator[CppToken], pending: list[CppToken]) -> Iterator[CppToken]:
        """The tokens with their macros replaced. pending: those out of macros, which come next, in reverse order."""

        def following() -> CppToken | None:
            return pending.pop() if pending else next(tokens, None)

        while (token := following()) is not None:
            self.work.spend(1)
            replacement = None
            if token.kind == "name" and token.text not in token.hide:
                macro = self.table.chosen(token.text, token.when)
                replacement = self._replacement(token, macro, following, pending) if macro is not None else None
            if replacement is None:
                yield token
                continue
            pending += reversed(replacement)

    def _replacement(
        self, token: CppToken, macro: Macro, following: Callable[[], CppToken | None], pending: list[CppToken]
    ) -> list[CppToken] | None:
        """The tokens in place of a macro; None where its arguments do not follow."""
        hide = token.hide
        arguments: list[list[CppToken]] = []
        if macro.parameters is not None:
            opening = following()
            if opening is None or opening.text != "(":
                pending += [opening] if opening is not None else []
                return None
            arguments, closing = _arguments(iter(following, None), macro)
            if closing is None:
                raise OverWork(f"the ')' of the macro {macro.name} is missing", token.at, bound=False)
            hide &= closing.hide
        hide |= {macro.name}
        self.work.spend(len(macro.body) + len(hide))
        body = substituted(macro, arguments, self._argument, self.work)
        use = token.use or (token.source, token.offset)
        hidden = {own: own | hide for own in {part.hide for part in body}}
        result = [
            CppToken(part.kind, part.text, part.space, part.source, part.offset, token.when, use, hidden[part.hide])
            for part in body
        ]
        if result:
            result[0] = result[0]._replace(space=token.space)
        return result

    def _argument(self, tokens: list[CppToken]) -> list[CppToken]:
        """An argument, or the expression of ``#if``, with its macros replaced."""
        self._nesting += 1
        if self._nesting > MAX_ARGUMENTS:
            raise OverWork(f"arguments of macros nest more than {MAX_ARGUMENTS} deep")
        result = list(self._replaced(iter(tokens), []))
        self._nesting -= 1
        return result


def _arguments(tokens: Iterator[CppToken], macro: Macro) -> tuple[list[list[CppToken]], CppToken | None]:
    """The arguments behind the ``(`` of a macro, and its ``)``, which can be missing."""
    assert macro.parameters is not None
    arguments: list[list[CppToken]] = [[]]
    depth = 0
    most = len(macro.parameters)
    closing = None
    for token in tokens:
        text = token.text if token.kind == "mark" else ""
        if text == ")" and depth == 0:
            closing = token
            break
        depth += (text == "(") - (text == ")")
        if text == "," and depth == 0 and not (macro.variadic and len(arguments) >= most):
            arguments.append([])
        else:
            arguments[-1].append(token)
    return arguments + [[] for _ in range(most - len(arguments))], closing
