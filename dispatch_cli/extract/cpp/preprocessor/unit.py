"""A translation unit: a file with what it includes, as a stream of tokens whose macros are replaced.

Where ``#if`` is not decided, all branches are in the stream, and each token has its conditions. Where that cannot be
read (brackets that do not match within a branch, a macro with two definitions), the atoms to decide are in `forks`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from dispatch_cli.extract.cpp.preprocessor.if_directive import Branches, IfReader
from dispatch_cli.extract.cpp.preprocessor.macro_table import Expander, MacroTable
from dispatch_cli.extract.cpp.preprocessor.macros import defined_as
from dispatch_cli.extract.cpp.preprocessor.project import CppProject
from dispatch_cli.extract.cpp.preprocessor.sourcefile import UNKNOWN, Directive, SourceFile, Stretch
from dispatch_cli.extract.cpp.preprocessor.tokens import CppToken, lex
from dispatch_cli.extract.given_names import EXTENSION_NAME
from dispatch_cli.extract.work import OverWork
from dispatch_cli.model.span import Span

MAX_INCLUDES = 200
"""Maximum depth of files that include one another."""
SEARCHED = 64
"""So many characters that are searched for a mark cost one unit."""
_INCLUDES = frozenset({"include", "include_next", "import"})


class TranslationUnit:
    """The tokens of *main*. assumed: atoms that are taken to be true or false.

    skip: tells the reader to go on to the next text that can begin a registration. reached: where in *main* it is.
    """

    def __init__(self, project: CppProject, main: str, assumed: Mapping[str, bool]) -> None:
        self.project, self.main, self.assumed = project, main, dict(assumed)
        self.skipping = True
        self.included: set[str] = set()
        self.reached = 0
        self.work = project.sources.work
        settings = project.settings(main)
        self._table = MacroTable(settings.undefines, project.defined(main), assumed, self._load)
        self._branches = Branches(self._table, self.work)
        file = project.file(main)
        self.text = file.text
        self._expander = Expander(self._table, self._file(file, 0), self.work)
        self._ifs = IfReader(self._table, self._expander, self._branches)

    @property
    def forks(self) -> set[str]:
        """The atoms to decide, since branches cannot be read together."""
        return self._branches.forks

    def next(self) -> CppToken | None:
        """The next token that no macro replaces; None at the end. Errors: OverWork, UnclosedMacro."""
        return self._expander.next()

    def skip(self) -> None:
        """Leave out what follows, up to the next text that can begin a registration; not within a macro, as the
        function that one begins goes on behind it."""
        self.skipping = self._expander.at_text()

    def enter(self, brackets: int) -> None:
        """Count brackets that begin in text that was left out, and end in text that is read."""
        self._branches.brackets += brackets

    def block_macros(self) -> list[CppToken]:
        """The macros that began a registration block."""
        return self._expander.blocks

    def used_macros(self) -> set[str]:
        """The names of the macros that were replaced."""
        return self._expander.used

    def ambiguous(self, tokens: Iterable[CppToken]) -> set[str]:
        """The atoms that decide what the macros among *tokens* are."""
        by_macro = self._table.ambiguous
        return {atom for token in tokens if token.text in by_macro for atom in by_macro[token.text]}

    def place(self) -> Span:
        """Place in *main* that the reading has reached."""
        return self.text.span(self.reached)

    # ---- files and directives

    def _file(self, file: SourceFile, depth: int) -> Iterator[CppToken]:
        if depth > MAX_INCLUDES:
            raise OverWork(f"files include one another more than {MAX_INCLUDES} deep")
        frames = self._branches.depth()
        interesting = self.project.interesting
        for item in file.items:
            self.work.spend(1)
            if not depth:
                self.reached = item.at if isinstance(item, Directive) else item.start
            if isinstance(item, Directive):
                if item.kind not in _INCLUDES:
                    self._directive(item, file)
                elif not self._branches.off and (header := self._included(item)) is not None:
                    if self.skipping and self.project.is_quiet(header):
                        self._macros_of(header, depth + 1)
                    else:
                        yield from self._file(header, depth + 1)
                continue
            if self._branches.off:
                if not self.assumed:  # what one assumption leaves out, the other one reads
                    self.project.left_out(file.text, item)
                continue
            if not self.skipping or interesting(file):
                yield from self._stretch(file, item)
        while self._branches.depth() > frames:
            self._branches.close()

    def _stretch(self, file: SourceFile, item: Stretch) -> Iterator[CppToken]:
        position = item.start
        mark = self.project.pattern
        while position < item.end:
            if self.skipping:
                match = mark.search(file.text.blanked, position, item.end)
                self.work.spend(((item.end if match is None else match.start()) - position) // SEARCHED)
                if match is None:
                    return
                position = match.start()
                self.skipping = False
            for token in lex(file.text, position, item.end, self._branches.when):
                text = token.text
                if text in "()[]{}" and token.kind == "mark":
                    self._branches.brackets += 1 if text in "([{" else -1
                position = token.offset + len(text)
                yield token
                if self.skipping:
                    break
            else:
                return

    def _load(self, name: str) -> bool:
        """Define a macro that no text before its use defines: the name of the extension, which the build sets, or a
        macro for a registration, from the header of the project that no ``#include`` led to."""
        if name == EXTENSION_NAME:
            self._table.add(defined_as(name, self.project.extension_names.of_cpp_file(self.main)))
            return True
        header = self.project.header_of_macro(name, self.main)
        if header is None or header.text.name in self.included:
            return False
        self.included.add(header.text.name)
        self._macros_of(header, 0)
        return True

    def _macros_of(self, file: SourceFile, depth: int) -> None:
        """Read a header in which no registration can begin, for its macros."""
        if depth > MAX_INCLUDES:
            raise OverWork(f"files include one another more than {MAX_INCLUDES} deep")
        frames = self._branches.depth()
        directives = file.directives
        index = 0
        while index < len(directives):
            self.work.spend(1)
            directive = directives[index]
            index += 1
            if directive.kind not in _INCLUDES:
                self._directive(directive, file)
                if self._branches.off and directive.branch:
                    index = directive.branch
            elif not self._branches.off and (header := self._included(directive)) is not None:
                self._macros_of(header, depth + 1)
        while self._branches.depth() > frames:
            self._branches.close()

    def _included(self, directive: Directive) -> SourceFile | None:
        """The file to include; None where there is none, or it is read already."""
        if directive.included is not UNKNOWN:
            file = directive.included
        elif directive.target is not None:
            file = directive.included = self.project.included(directive.target, directive.source.name)
        else:
            tokens = self._expander.all_replaced(directive.tokens)
            text = "".join(token.text for token in tokens)
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
        branches = self._branches
        if kind == "define":
            if not branches.off:
                self._table.define(directive, branches.when)
        elif kind == "endif":
            branches.close()
        elif kind == "else":
            branches.turn(None, directive)
        elif kind == "undef":
            if not branches.off:
                self._table.undefine(directive.name, branches.when)
        elif kind == "ifndef" and file.guard == directive.name and file.once:
            branches.open(lambda: True, directive)
        elif kind in ("if", "ifdef", "ifndef"):
            branches.open(lambda: self._ifs.decision(directive), directive)
        elif kind != "error":
            branches.turn(lambda: self._ifs.decision(directive), directive)
