"""A translation unit: a file with what it includes, as a stream of tokens whose macros are replaced.

Where ``#if`` is not decided, all branches are in the stream, and each token has its conditions. Where that cannot be
read (brackets that do not match within a branch, a macro with two definitions), the atoms to decide are in `forks`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from dispatch_cli.extract.cpp.context import When, conjuncts, facts, joined, undecided
from dispatch_cli.extract.cpp.expander import Expander, TooMuch
from dispatch_cli.extract.cpp.if_expression import Decision, ExpressionError, decide, opposite
from dispatch_cli.extract.cpp.macro_table import FIXED, MacroTable
from dispatch_cli.extract.cpp.project import CppProject
from dispatch_cli.extract.cpp.sourcefile import UNKNOWN, Directive, SourceFile, Stretch
from dispatch_cli.extract.cpp.tokens import CppToken, lex, tokens_of
from dispatch_cli.model.condition import Atom, Condition, value

MAX_INCLUDES = 200
"""How deeply files may include one another."""
MAX_CONDITIONALS = 200
"""How deeply ``#if`` may nest."""


_INCLUDES = frozenset({"include", "include_next", "import"})


class _Frame:
    __slots__ = ("before", "brackets", "conditions", "done", "off", "outer")

    def __init__(self, outer: When, off: bool) -> None:
        self.outer, self.off = outer, off
        self.before: list[Condition] = []  # the conditions of earlier branches, negated
        self.conditions: list[Condition] = []
        self.done = False
        self.brackets = 0


class TranslationUnit:
    """The tokens of *main*. assumed: atoms that are taken to be true or false.

    skip: tells the reader to go on to the next text that can begin a registration.
    """

    def __init__(self, project: CppProject, main: str, assumed: Mapping[str, bool]) -> None:
        self.project, self.main, self.assumed = project, main, dict(assumed)
        self.when: When = ()
        self.forks: set[str] = set()
        self.skipping = True
        self.included: set[str] = set()
        self._off = False
        self._frames: list[_Frame] = []
        self._brackets = 0
        settings = project.settings(main)
        self._table = MacroTable(settings.undefines, project.defined(main), assumed)
        file = project.file(main)
        self.text = file.text
        self._expander = Expander(self._table, self._file(file, 0))

    def next(self) -> CppToken | None:
        """The next token that no macro replaces; None at the end. Errors: TooMuch."""
        return self._expander.next()

    def skip(self) -> None:
        """Leave out what follows, up to the next text that can begin a registration."""
        self.skipping = True

    def ambiguous(self, tokens: Iterable[CppToken]) -> set[str]:
        """The atoms that decide what the macros among *tokens* are."""
        found = self._table.ambiguous
        return {atom for token in tokens if token.text in found for atom in found[token.text]}

    # ---- files and directives

    def _file(self, file: SourceFile, depth: int) -> Iterator[CppToken]:
        if depth > MAX_INCLUDES:
            raise TooMuch(f"files include one another more than {MAX_INCLUDES} deep")
        frames = len(self._frames)
        interesting = self.project.interesting
        for item in file.items:
            if isinstance(item, Directive):
                if item.kind not in _INCLUDES:
                    self._directive(item, file)
                elif not self._off and (header := self._included(item)) is not None:
                    if self.skipping and self.project.is_quiet(header):
                        self._macros_of(header, depth + 1)
                    else:
                        yield from self._file(header, depth + 1)
                continue
            if self._off:
                self.project.left_out(file.text, item)
                continue
            if not self.skipping or interesting(file):
                yield from self._stretch(file, item)
        while len(self._frames) > frames:
            self._close()

    def _stretch(self, file: SourceFile, item: Stretch) -> Iterator[CppToken]:
        position = item.start
        mark = self.project.pattern
        while position < item.end:
            if self.skipping:
                found = mark.search(file.text.blanked, position, item.end)
                if found is None:
                    return
                position = found.start()
                self.skipping = False
            for token in lex(file.text, position, item.end, self.when):
                text = token.text
                if text in "()[]{}" and token.kind == "mark":
                    self._brackets += 1 if text in "([{" else -1
                position = token.offset + len(text)
                yield token
                if self.skipping:
                    break
            else:
                return

    def _macros_of(self, file: SourceFile, depth: int) -> None:
        """Read a header in which no registration can begin, for its macros."""
        if depth > MAX_INCLUDES:
            raise TooMuch(f"files include one another more than {MAX_INCLUDES} deep")
        frames = len(self._frames)
        directives = file.directives
        index = 0
        while index < len(directives):
            directive = directives[index]
            index += 1
            if directive.kind not in _INCLUDES:
                self._directive(directive, file)
                if self._off and directive.branch:
                    index = directive.branch
            elif not self._off and (header := self._included(directive)) is not None:
                self._macros_of(header, depth + 1)
        while len(self._frames) > frames:
            self._close()

    def _included(self, directive: Directive) -> SourceFile | None:
        """The file to include; None where there is none, or it is read already."""
        if directive.found is not UNKNOWN:
            file = directive.found
        elif directive.target is not None:
            file = directive.found = self.project.included(directive.target, directive.source.name)
        else:
            made = self._expander.all_replaced(directive.tokens)
            text = "".join(token.text for token in made)
            if len(text) < 3 or text[0] not in '"<':
                return None
            file = self.project.included((text[1:-1], text[0] == '"'), directive.source.name)
        if not isinstance(file, SourceFile):
            return None
        name = file.text.name
        if file.once and (name in self.included or name == self.main):
            return None
        self.included.add(name)
        return file

    def _directive(self, directive: Directive, file: SourceFile) -> None:
        kind = directive.kind
        if kind == "define":
            if not self._off:
                self._table.define(directive, self.when)
        elif kind == "undef":
            if not self._off:
                self._table.undefine(directive.name, self.when)
        elif kind in ("if", "ifdef", "ifndef"):
            if len(self._frames) >= MAX_CONDITIONALS:
                raise TooMuch(f"'#if' nests more than {MAX_CONDITIONALS} deep")
            self._frames.append(_Frame(self.when, self._off))
            if not self._off:
                guard = kind == "ifndef" and directive.name == file.guard and file.once
                self._branch(True if guard else self._decision(directive))
        elif not self._frames:
            return
        elif kind == "endif":
            self._close()
        elif kind.startswith("el"):
            self._balance()
            frame = self._frames[-1]
            if not frame.off:
                self.when = frame.outer
                self._branch(False if frame.done else True if kind == "else" else self._decision(directive))
        elif kind == "error" and not self._off:
            self._impossible()

    def _decision(self, directive: Directive) -> Decision:
        if directive.kind.endswith("def"):
            defined = self._table.is_defined(directive.name, self.when)
            return opposite(defined) if directive.kind.endswith("ndef") else defined
        if directive.names is None:
            directive.names = tuple({token.text for token in directive.tokens if token.kind == "name"})
        state = [self._table.state(name) for name in directive.names]
        seen = directive.seen
        same = seen is not None and seen[1] == self.when and seen[2] == self._table.assumed
        if same and all(old is new for old, new in zip(seen[0], state, strict=True)):
            known: Decision = seen[3]
            return known
        decision = self._decided(directive)
        if not any(token.kind == "name" for part in state for one in part or () for token in one.macro.body):
            directive.seen = (state, self.when, dict(self._table.assumed), decision)
        return decision

    def _decided(self, directive: Directive) -> Decision:
        self._table.in_if = True
        try:
            decision = decide(self._if_tokens(directive), self._is_defined)
        except ExpressionError:
            return Atom(" ".join(directive.source.text[directive.start : directive.end].replace("\\\n", " ").split()))
        finally:
            self._table.in_if = False
        return decision if isinstance(decision, bool) else self._table.known(decision, self.when)

    def _is_defined(self, name: str) -> Decision:
        return self._table.is_defined(name, self.when)

    def _if_tokens(self, directive: Directive) -> list[CppToken]:
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
        return [made for token in self._expander.all_replaced(tokens) for made in _fixed(token)]

    def _branch(self, decision: Decision) -> None:
        """A branch begins. Those before it do not hold."""
        frame = self._frames[-1]
        outer = joined(frame.outer, frame.before)
        frame.brackets = self._brackets
        if isinstance(decision, bool):
            self._off = not decision
            frame.done = frame.done or decision
            self.when = outer
            return
        decided = value(decision, {**self._table.assumed, **facts(outer)})
        if decided is not None:
            self._branch(decided)
            return
        self._off = False
        frame.conditions.append(decision)
        self.when = joined(outer, [decision])
        negative = opposite(decision)
        assert not isinstance(negative, bool)
        frame.before.extend(conjuncts(negative))

    def _balance(self) -> None:
        """A branch ends: its brackets have to match, or the branches are read one by one."""
        frame = self._frames[-1]
        if not frame.off and not self._off and frame.conditions and self._brackets != frame.brackets:
            self.forks.update(undecided(frame.conditions, facts(frame.outer)))
            self._brackets = frame.brackets

    def _close(self) -> None:
        self._balance()
        frame = self._frames.pop()
        self.when, self._off = frame.outer, frame.off

    def _impossible(self) -> None:
        """``#error``: this branch is in no build."""
        frame = self._frames[-1] if self._frames else None
        if frame is None or len(frame.conditions) != 1 or frame.outer:
            return
        known = facts((frame.conditions[0],))
        branch = facts(self.when)
        for text in known:
            if text in branch:
                self._table.assumed[text] = not branch[text]
        self._off = True


def _fixed(token: CppToken) -> list[CppToken]:
    text = FIXED.get(token.text)
    return [made._replace(hide=token.hide) for made in tokens_of(text)] if text else [token]
