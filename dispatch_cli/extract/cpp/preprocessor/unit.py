"""A translation unit: a file with what it includes, as a stream of tokens whose macros are replaced.

Where ``#if`` is not decided, all branches are in the stream, and each token has its conditions.
"""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.extract.cpp.preprocessor.if_directive import Branches
from dispatch_cli.extract.cpp.preprocessor.macro_table import Expander, MacroTable
from dispatch_cli.extract.cpp.preprocessor.macros import defined_as
from dispatch_cli.extract.cpp.preprocessor.project import CppProject
from dispatch_cli.extract.cpp.preprocessor.sourcefile import Directive, SourceFile, Stretch
from dispatch_cli.extract.cpp.preprocessor.tokens import CppToken, lex
from dispatch_cli.extract.given_names import EXTENSION_NAME
from dispatch_cli.extract.work import OverWork

MAX_INCLUDES = 200
"""Maximum depth of files that include one another."""
SEARCHED = 64
"""So many characters that are searched for a mark cost one unit."""
_INCLUDES = frozenset({"include", "include_next", "import"})


class TranslationUnit:
    """The tokens of *main*.

    skipping: what follows is left out, up to the next text that can begin a registration. reached: where in *main* the
    reading is.
    """

    def __init__(self, project: CppProject, main: str) -> None:
        self.project, self.main = project, main
        self.skipping = True
        self.included: set[str] = set()
        self.reached = 0
        self.work = project.sources.work
        settings = project.sources.settings(main)
        defined = [defined_as(name, value) for name, value in settings.defines]
        self.table = MacroTable(settings.undefines, defined, self._load)
        file = project.file(main)
        self.text = file.text
        self.expander = Expander(self.table, self._file(file, 0), self.work)
        self._branches = Branches(self.table, self.expander, self.work)

    def next(self) -> CppToken | None:
        """The next token that no macro replaces; None at the end. Errors: OverWork, UnclosedMacro."""
        return self.expander.next()

    def skip(self) -> None:
        """Leave out what follows, up to the next text that can begin a registration; not within a macro, as the
        function that one begins goes on behind it."""
        self.skipping = not self.expander.pending

    # ---- files and directives

    def _file(self, file: SourceFile, depth: int, only_macros: bool = False) -> Iterator[CppToken]:
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
                    yield from self._file(header, depth + 1, only_macros)
                continue
            if self._branches.off:
                self.project.left_out(file.text, item)
            elif not only_macros and (not self.skipping or interesting(file)):
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
                position = token.offset + len(token.text)
                yield token
                if self.skipping:
                    break
            else:
                return

    def _load(self, name: str) -> bool:
        """Define a macro that no text before its use defines: the name of the extension, which the build sets, or a
        macro for a registration, from the header of the project that no ``#include`` led to."""
        if name == EXTENSION_NAME:
            self.table.add(defined_as(name, self.project.extension_names.of_cpp_file(self.main)))
            return True
        header = self.project.header_of_macro(name, self.main)
        if header is None or header.text.name in self.included:
            return False
        self.included.add(header.text.name)
        for _ in self._file(header, 1, only_macros=True):
            pass
        return True

    def _included(self, directive: Directive) -> SourceFile | None:
        """The file to include; None where there is none, or it is read already."""
        target = directive.target
        if target is None:
            text = "".join(token.text for token in self.expander.all_replaced(directive.tokens))
            if len(text) < 3 or text[0] not in '"<':
                return None
            target = text[1:-1], text[0] == '"'
        file = self.project.included(target, directive.source.name)
        if file is None:
            return None
        name = file.text.name
        if file.once and (name in self.included or name == self.main):
            return None
        self.included.add(name)
        return file

    def _directive(self, directive: Directive, file: SourceFile) -> None:
        if directive.kind not in ("define", "undef"):
            self._branches.read(directive, directive.kind == "ifndef" and file.guard == directive.name)
        elif not self._branches.off:
            change = self.table.define if directive.kind == "define" else self.table.undefine
            change(directive, self._branches.when)
