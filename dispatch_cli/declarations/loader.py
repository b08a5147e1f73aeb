"""Loading declaration files: read them all, note every mistake, and only then use any of it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from dispatch_cli import bases as states
from dispatch_cli import universes
from dispatch_cli.declarations import source, tree
from dispatch_cli.declarations.fields import read_record
from dispatch_cli.declarations.formats.file_format import IMPORTED
from dispatch_cli.declarations.header import NO_HEADER, Extension, base_hint, read_header
from dispatch_cli.declarations.problems import Problems
from dispatch_cli.declarations.project import within
from dispatch_cli.declarations.sections.context import FileContext, ReadSoFar
from dispatch_cli.declarations.sections.keys import KeyReader
from dispatch_cli.declarations.source import Place
from dispatch_cli.declarations.tree import ExtractedDocument, Node, Scalar, is_nothing, tree_of
from dispatch_cli.declarations.yaml_reader import parse
from dispatch_cli.model import read_files
from dispatch_cli.model.budget import MAX_BYTES, MAX_THINGS, Budget, OverBudget, no_collection
from dispatch_cli.model.declarations import (
    Declarations,
    Define,
    Implement,
    LibraryKind,
    OpenBlock,
    Registrant,
    Settle,
    Step,
)
from dispatch_cli.model.problem import InputError, Problem, Related
from dispatch_cli.model.span import Inherited, Span
from dispatch_cli.model.text.quoting import quoted
from dispatch_cli.model.universe import Universe

if TYPE_CHECKING:
    from dispatch_cli.model.captured import StateSource

_START = Place(1, 1)
MAX_FILES = 200
"""Files of one run from which on none is reached through `extends`; a chain of them is as long at most."""
REFUSALS = (
    *("bad-schema", "bad-signature", "bad-operator-name", "unknown-dispatch-key", "no-backend", "backend-name"),
    *("functionality-key", "block-misuse", "torch-library", "dropped-library", "more-problems"),
)
"""The codes of problems that PyTorch would have, too, with what sources register, or because of which it never runs it:
in sources, they are findings."""


def load(
    paths: Sequence[str | ExtractedDocument],
    *,
    universe: str | Universe | None = None,
    bases: Sequence[str] = (),
    assumed_base: str | None = None,
    guards: Sequence[str] = (),
    allow_outside: bool = False,
    privateuse1: str | None = None,
    continued: Continued | None = None,
) -> Declarations:
    """Read declaration files, in order, as one history.

    paths: files, and documents that were made of sources; ``-`` is standard input.
    universe: an embedded name or a path, or the universe itself, for files that name none; a file that
    names another does not agree with it. bases: embedded states that the history continues, before those that the files
    extend. assumed_base: the one that it continues where neither *bases* nor a file names a state or a universe, and no
    file defines operators of the namespace ``aten``. guards: files that are read after them, and that may say what must
    hold, but register nothing.
    allow_outside: whether files may lead to others outside of their project (`project_folder`).
    privateuse1: the name of the backend at PrivateUse1; by default what the files say.
    continued: a state that the history continues, and that is no embedded one.

    Errors: InputError with the problems of all files, in the order in which the files are read, then by place.
    """
    with no_collection():
        loader = _Loader(universe, bases, allow_outside, privateuse1, continued)
        for path in paths:
            if isinstance(path, ExtractedDocument):
                loader.add_document(path)
            else:
                loader.add(path)
        for path in guards:
            loader.add(path, only_guards=True)
        if assumed_base is not None:
            loader.assume(assumed_base)
        return loader.finish(frozenset(map(_identity, (*paths, *guards))))


def _identity(path: str | ExtractedDocument) -> str:
    return f"\0{path.name}" if isinstance(path, ExtractedDocument) else source.identity(path)


class Continued(NamedTuple):
    """A state that files continue. source: as it was captured; steps: what was registered after that."""

    source: StateSource | None
    steps: tuple[Step, ...] = ()


class _Loader:
    def __init__(
        self,
        universe: str | Universe | None,
        bases: Sequence[str],
        allow_outside: bool,
        privateuse1: str | None,
        continued: Continued | None,
    ) -> None:
        self._continued = Continued(None) if continued is None else continued
        self._backend = privateuse1
        self._universe_file: str | None = None
        self._wanted = universe
        self._allow_outside = allow_outside
        self._assumed: str | None = None
        self._problems: list[Problem] = []
        self._known = ReadSoFar()
        self._bases: dict[str, tuple[Span, ...]] = {}
        self._files: dict[str, FileContext] = {}
        self._history: list[FileContext] = []
        for base in (states.resolve(name).name for name in bases):
            if base in states.names() or base in states.overlay_names():
                self._bases.setdefault(base, ())
            else:
                message = f"there is no embedded state {quoted(base)}"
                self._problems.append(Problem("unknown-state", message, hint=base_hint(base)))

    def add(self, name: str, only_guards: bool = False) -> None:
        """Read a file that the user named, and what it extends."""
        project = within(name, self._allow_outside)
        try:
            source.check_inside(name, project)
        except source.SourceError as error:  # without a place, since nothing of such a file is shown
            self._problems.append(Problem(error.code, error.message, hint=error.hint))
        else:
            self._add(name, (), only_guards, project)

    def add_document(self, document: ExtractedDocument) -> None:
        identity = _identity(document)
        if identity in self._files:
            return
        budget = Budget(MAX_BYTES, MAX_THINGS - self._spent())
        problems = Problems(source.Source(document.name, "", budget), document.lines)
        file = self._files[identity] = FileContext(document.name, identity, problems, self._known)
        try:
            file.header = read_header(problems, tree_of(document.data, budget))
        except OverBudget as over:
            problems.add("too-large", over.message, _START, over.hint)
        self._history.append(file)

    def _spent(self) -> int:
        return sum(file.problems.source.budget.spent for file in self._files.values())

    def _add(self, name: str, through: tuple[Span, ...], only_guards: bool, project: str | None) -> None:
        """Read a file and, before it takes its place in the history, what it extends."""
        identity = source.identity(name)
        if identity in self._files:
            return
        file = self._files[identity] = self._read(name, identity, project)
        file.through, file.only_guards, file.project = through, only_guards, project
        for extension in file.header.extends:
            self._extend(file, extension)
        self._history.append(file)

    def assume(self, base: str) -> None:
        """Continue an embedded state, unless a file names a state or its universe, or is a whole state."""
        headers = [file.header for file in self._files.values()]
        if not self._bases and all(header.universe_at is None and not header.is_snapshot for header in headers):
            self._bases[base] = ()
            self._assumed = base

    def finish(self, named: frozenset[str]) -> Declarations:
        """Read the sections of all files, now that their universe is known. named: identities of the user's files."""
        universe = self._named(self._universe())
        readers = {snapshot: KeyReader(universe, constants=snapshot) for snapshot in (False, True)}
        extended = sum(1 for _ in itertools.takewhile(lambda file: file.identity not in named, self._history))
        for position, file in enumerate(self._history):
            file.keys, file.by = readers[file.header.is_snapshot], file.header.by
            file.inherited, file.extended = file.identity not in named, position < extended
        for file in self._history:
            _read_sections(file)
        if self._assumed is not None and any(_defines_aten(step) for file in self._history for step in file.steps):
            del self._bases[self._assumed]
        declarations = None if universe is None else self._declarations(universe)
        if declarations is not None and any(file.changes for file in self._history):
            from dispatch_cli.declarations.sections.changes import change_declarations

            declarations = change_declarations(declarations, self._history, self._captured())
        refused: list[Problem] = []
        for file in self._files.values():
            for problem in file.problems.problems:
                is_refusal = file.header.extracted and problem.code in REFUSALS
                (refused if is_refusal else self._problems).append(problem)
        if declarations is None:
            raise InputError(tuple(self._problems))
        declarations = declarations._replace(refused=tuple(refused))
        if self._problems:
            raise InputError(tuple(self._problems), declarations)
        return declarations

    def _captured(self) -> StateSource | None:
        """The captured state that the history continues; None where there is none, or the names do not go together."""
        if not self._bases:
            return self._continued.source
        from dispatch_cli.bases import overlay

        names = tuple(self._bases)
        return None if overlay.conflict(names) is not None else overlay.combined(names)

    def _declarations(self, universe: Universe) -> Declarations:
        before, known, files = self._continued.steps, self._known, self._files.values()
        inherited = (
            step
            for file in self._history
            for step in file.steps
            if file.extended or (file.by if isinstance(step, Settle) else step.block.by) is Registrant.PYTORCH
        )
        beside: dict[str, Any] = {field: tuple(entries) for field, entries in vars(known.contents).items()}
        return Declarations(
            universe=universe,
            universe_file=self._universe_file,
            core_fallbacks=known.core_fallbacks,
            bases=tuple(self._bases),
            steps=(*before, *(step for file in self._history for step in file.steps)),
            inherited_steps=(*before, *inherited),
            files=tuple(file.name for file in files),
            inherited=(
                *(Inherited(base, True, through) for base, through in self._bases.items() if through),
                *(Inherited(file.name, False, file.through) for file in files if file.inherited),
            ),
            **beside,
        )

    def _read(self, name: str, identity: str, project: str | None) -> FileContext:
        spent = self._spent()
        try:
            text = source.read(name, left=MAX_THINGS - spent)
        except source.SourceError as error:
            read_files.forget_lines(name)
            problems = Problems(source.Source(name, ""))
            problems.add(error.code, error.message, Place(error.line, error.column), error.hint)
            return FileContext(name, identity, problems, self._known)
        problems = Problems(text, partial(source.lines_inside, project))
        root = parse(problems)
        if root is not None and not (type(root) is Scalar and is_nothing(root)):
            return FileContext(name, identity, problems, self._known, read_header(problems, root))
        if not problems:
            problems.add("empty-file", "the file is empty", _START, "a declaration file begins with dispatch: 1")
        return FileContext(name, identity, problems, self._known)

    def _extend(self, file: FileContext, extension: Extension) -> None:
        if extension.is_base:
            if file.only_guards:
                file.problems.add(
                    "only-guards", "a guards file cannot extend an embedded state", extension.node, _GUARDS_HINT
                )
            else:
                self._bases.setdefault(extension.target, (*file.through, file.problems.span(extension.node)))
            return
        identity = source.identity(extension.target)
        if identity not in self._files and len(self._files) >= MAX_FILES:
            message = f"more than {MAX_FILES} files are loaded through extends"
            file.problems.add("extends-too-long", message, extension.node)
        else:
            try:
                source.check(extension.target, file.project)
            except source.SourceError as error:  # better said where the file is named
                file.problems.add(error.code, error.message, extension.node, error.hint)
            else:
                through = (*file.through, file.problems.span(extension.node))
                self._add(extension.target, through, file.only_guards, file.project)

    def _universe(self) -> Universe | None:
        """The universe of the run; None, noting why, when the files do not settle on one that can be loaded."""
        chosen = self._wanted if isinstance(self._wanted, Universe) else None
        if isinstance(self._wanted, str):
            from dispatch_cli.declarations.universe_file import load_universe

            try:
                chosen = load_universe(self._wanted, self._allow_outside)
            except InputError as error:
                self._problems += error.problems
                return None
            self._universe_file = None if self._wanted in universes.names() else self._wanted
        before: tuple[Related, ...] = ()
        agreed = True
        for file in self._files.values():
            universe, at = file.header.universe, file.header.universe_at
            if file.header is NO_HEADER:
                agreed = agreed and self._wanted is not None  # It may be the one that names the universe.
            if at is None:
                continue
            if universe is None:
                agreed = False
            elif chosen is None:
                chosen, before = universe, (Related("it is named here", file.problems.span(at)),)
                self._universe_file = file.name if type(at) is tree.Mapping else None
            elif universes.differences(universe, chosen):
                agreed = False
                message = f"the file has the universe {universe.name}, and not {chosen.name} as the run"
                file.problems.add("universe-conflict", message, at, related=before)
        if not agreed:
            return None
        if chosen is not None:
            return chosen
        state = next((name for name in self._bases if name in states.names()), None)
        return universes.load(universes.default_name()) if state is None else states.load(state).universe

    def _named(self, universe: Universe | None) -> Universe | None:
        """The universe with the name that the caller or the files give to the backend at PrivateUse1."""
        if universe is None:
            return None
        try:
            universe = universe if self._backend is None else universe.with_backend(self._backend)
        except ValueError as error:
            self._problems.append(Problem("backend-name", str(error)))
        given = self._backend
        for file in self._files.values():
            node = file.header.privateuse1
            if node is None:
                continue
            if given not in (None, node.text):
                message = f"torch.register_privateuse1_backend() has already been set! Current backend: {quoted(given)}"
                file.problems.add("backend-name", message, node, "only one backend can have the key PrivateUse1")
                continue
            try:
                universe = universe.with_backend(node.text)
            except ValueError as error:
                file.problems.add("backend-name", str(error), node)
            given = node.text
        return universe


def _read_imported(context: FileContext, node: Node) -> None:
    values = read_record(context.problems, node, IMPORTED)
    by, context.by = context.by, Registrant.USER
    for name, value in () if values is None else values.items():
        if value is not None:
            _read_section(context, name, value)
    context.by = by


_SECTIONS = {
    "operators": ("operators", "read_operators"),
    "libraries": ("libraries", "read_libraries"),
    "fallbacks": ("libraries", "read_fallbacks"),
    "higher_order_operators": ("higher_order", "read_higher_order_operators"),
    "modes": ("higher_order", "read_modes"),
    "changes": ("changes", "read_changes"),
    "guards": ("guards", "read_guards"),
    "support": ("guards", "read_promises"),
    "suppress": ("suppressions", "read_suppressions"),
    "functions": ("undecided", "read_functions"),
    "undecided": ("undecided", "read_undecided"),
    "not_understood": ("undecided", "read_not_understood"),
}
"""Sections: the module of `declarations.sections` that is imported where a file has one, and its function there."""


def _read_section(context: FileContext, name: str, node: Node) -> None:
    """Read a section; a field of the file that is none, such as its version, was read with the header."""
    if name == IMPORTED.name:
        _read_imported(context, node)
    elif name in _SECTIONS:
        module, reader = _SECTIONS[name]
        getattr(import_module(f"dispatch_cli.declarations.sections.{module}"), reader)(context, node)


_OF_GUARDS = frozenset({"dispatch", "universe", "privateuse1", "extends", "guards", "support", "suppress"})
"""The fields of a file that may register nothing."""
_GUARDS_HINT = "give a file that registers something as FILE, without --guards"


def _read_sections(file: FileContext) -> None:
    sections, contents = file.header.sections, file.contents
    unread, suppressions = len(contents.unread), len(contents.suppressions)
    try:
        for name, node in sections:
            if file.only_guards and name not in _OF_GUARDS:
                file.problems.add("only-guards", f"a guards file cannot have {name!r}", node, _GUARDS_HINT)
            else:
                _read_section(file, name, node)
        if source.COMMENT_MARK in file.problems.source.text:
            from dispatch_cli.declarations.sections.suppressions import read_comments

            contents.suppressions += read_comments(file.problems, (node for _, node in sections))
        if file.extracted:
            from dispatch_cli.declarations.sections.suppressions import read_source_comments

            contents.suppressions += read_source_comments(file.problems, file.steps, contents.unread[unread:])
    except OverBudget as over:
        file.problems.add("too-large", over.message, _START, over.hint)
    own = [suppression._replace(inherited=file.inherited) for suppression in contents.suppressions[suppressions:]]
    contents.suppressions[suppressions:] = own
    if file.header.is_snapshot:
        steps = (step for step in file.steps if isinstance(step, Define | Implement))
        names = (step.schema.name if isinstance(step, Define) else step.operator for step in steps)
        file.steps.append(Settle(tuple(dict.fromkeys(names))))


def _defines_aten(step: Step) -> bool:
    """True if a step begins PyTorch's own library, or a hand-written file defines one of its operators."""
    if isinstance(step, Define) and step.block.implicit and not step.block.extracted:
        return step.schema.name.namespace == "aten"
    if not isinstance(step, OpenBlock) or step.block.file.endswith(".py"):  # PyTorch's own is in C++
        return False
    return step.block.kind is LibraryKind.DEF and step.block.namespace == "aten"
