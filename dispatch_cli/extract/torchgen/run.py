"""The files of torchgen among the sources of a run, and what they register."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from dispatch_cli.declarations import tree, yaml_reader
from dispatch_cli.declarations.problems import Problems
from dispatch_cli.declarations.source import Source, SourceError
from dispatch_cli.declarations.tree import Node, kind_of
from dispatch_cli.extract.sources import Sources, nearest
from dispatch_cli.extract.torchgen import function_keys as keys
from dispatch_cli.extract.torchgen.backend_yaml import (
    BackendYaml,
    KnownOperators,
    known_operators,
    operators_of_schemas,
)
from dispatch_cli.extract.torchgen.derivatives import Derivatives
from dispatch_cli.extract.torchgen.fields import Fields
from dispatch_cli.extract.torchgen.native_function import NativeFunction
from dispatch_cli.extract.torchgen.native_functions import GeneratedKernel, kernels, keys_in, read_native_functions
from dispatch_cli.extract.torchgen.schema import ATEN
from dispatch_cli.model.budget import Budget, OverBudget, no_collection
from dispatch_cli.model.conditions.condition import Atom, Condition
from dispatch_cli.model.declarations import LibraryKind, NotUnderstood
from dispatch_cli.model.problem import Problem
from dispatch_cli.model.sources.extracted import (
    Extracted,
    ExtractedBlock,
    ExtractedDefinition,
    ExtractedKernel,
    Extraction,
    SourceKind,
    Unknown,
)
from dispatch_cli.model.span import Span

_FRAGMENTS = frozenset({"quantized", "quantized_decomposed"})
"""Namespaces that are extended rather than made (``FRAGMENT_NAMESPACES``)."""
_LAZY = (Atom("the Lazy backend is initialized"),)
"""Kernels at Lazy are registered by a function that has to be called (``eager_registration=False``)."""
_NO_FUNCTIONS = "derivatives.yaml says nothing without the native_functions.yaml that it belongs to"
_OTHER_GENERATOR = "torchgen makes nothing of these entries; what a generator of the project makes is not known"
_OF_OUTSIDE = "these functions are for a backend outside PyTorch, and repeat those of PyTorch: they are not followed"
_NO_DERIVATIVES = "without derivatives.yaml, kernels at Autograd, ADInplaceOrView, Tracer and Functionalize are unknown"
_DIALECT = Unknown("that of a dialect of native_functions.yaml")
_OF_PYTORCH = "empty.memory_format"
"""An operator that PyTorch's own ``native_functions.yaml`` has in every version."""


def read_yaml(sources: Sources, name: str, is_list: bool) -> tuple[Node | None, tuple[Problem, ...]]:
    """The list, or the mapping, that a file is; None where it is neither, and why."""
    try:
        text = sources.read(name).removeprefix("\ufeff")
        source = Source(name, text, Budget(len(text)))
        source.budget.spend(text.count("\n"))
    except SourceError as error:
        return None, (Problem(error.code, error.message, Span(name, error.line, error.column), hint=error.hint),)
    except OverBudget as error:
        return None, (Problem("too-large", error.message, Span(name, 1, 1), hint=error.hint),)
    problems = Problems(source)
    root = yaml_reader.parse(problems)
    if isinstance(root, tree.Sequence if is_list else tree.Mapping) or problems.problems:
        return root, problems.problems
    at = Span(name, 1, 1) if root is None else Span(name, root.line, root.column)
    actual = "an empty file" if root is None else kind_of(root)
    message = f"{'a list' if is_list else 'a mapping'} is expected here, not {actual}"
    return None, (Problem("wrong-type", message, at),)


def definition_items(
    functions: Iterable[NativeFunction], tags_forms: bool, when: tuple[Condition, ...]
) -> Iterator[Extracted]:
    """The blocks of ``RegisterSchema.cpp``.

    tags_forms: out and in-place forms have the tags ``out`` and ``inplace``.
    """
    by_namespace: dict[str, list[NativeFunction]] = {}
    for function in functions:
        by_namespace.setdefault(function.namespace, []).append(function)
    for namespace, members in by_namespace.items():
        kind = LibraryKind.FRAGMENT if namespace in _FRAGMENTS else LibraryKind.DEF
        block = ExtractedBlock(kind, namespace, None, members[0].at, when)
        yield block
        for function in members:
            name = f"{namespace}::{function.name}"
            tags = _tags(function, tags_forms)
            yield ExtractedDefinition(block, name, function.schema.text, function.at, tags=tags)


def _tags(function: NativeFunction, tags_forms: bool) -> tuple[str, ...]:
    """Tags in the file, and those that torchgen adds (``NativeFunction.from_yaml``)."""
    added = ["pt2_compliant_tag"] if function.namespace == "aten" else []
    if tags_forms and function.schema.out:
        added.append("out")
    if tags_forms and function.schema.name.inplace:
        added.append("inplace")
    return (*function.tags, *(tag for tag in added if tag not in function.tags))


def kernel_items(
    kernels: Iterable[GeneratedKernel], backends: Collection[str] | None, when: tuple[Condition, ...]
) -> Iterator[Extracted]:
    """The blocks with kernels.

    backends: those of the build; None where they are not known, so that kernels of most backends are conditional.
    """
    by_block: dict[tuple[str, str], list[GeneratedKernel]] = {}
    for kernel in kernels:
        by_block.setdefault((kernel.function.namespace, kernel.key), []).append(kernel)
    for (namespace, key), members in by_block.items():
        backend = keys.codegen_backend(key)
        condition: tuple[Condition, ...] = ()
        if backend is not None:
            if backends is None:
                condition = (Atom(f"codegen backend {backend}"),)
            elif backend not in backends:
                continue
        block = ExtractedBlock(LibraryKind.IMPL, namespace, key, members[0].at, (*when, *condition))
        yield block
        for kernel in members:
            yield ExtractedKernel(block, f"{namespace}::{kernel.function.name}", key, kernel.kernel, kernel.at)


def extract_torchgen(
    sources: Sources,
    codegen_backends: tuple[str, ...] | None = None,
    base_operators: Callable[[], Iterable[str]] | None = None,
) -> Extraction:
    """Registrations in torchgen's files among *sources*.

    codegen_backends: the backends that the build had, such as ``("CPU", "CUDA")``; those of every build count without
        being named. None: not known, so that kernels of other backends have the condition ``codegen backend CUDA``.
    base_operators: gives the schemas of PyTorch's operators, with namespace, for the YAML of a backend when no
        ``native_functions.yaml`` is among the sources.
    """
    with no_collection():
        return TorchgenRun(sources, codegen_backends, base_operators).extract()


class TorchgenRun:
    """Reads the files one by one, and collects what they say."""

    def __init__(
        self, sources: Sources, backends: Collection[str] | None, base_operators: Callable[[], Iterable[str]] | None
    ) -> None:
        self._problems: list[Problem] = []
        self._sources = sources
        self._backends = None if backends is None else self._named(backends)
        self._base_operators = base_operators
        self._found: list[Extracted] = []
        self._not_understood: list[NotUnderstood] = []
        self._known: KnownOperators | None = None

    def extract(self) -> Extraction:
        """Read everything."""
        files = self._sources.files
        native = files.get(SourceKind.NATIVE_FUNCTIONS, ())
        derivatives = files.get(SourceKind.DERIVATIVES, ())
        pairs: dict[str, str] = {}
        for name in derivatives:  # each belongs to the nearest ``native_functions.yaml``
            if (file := nearest(native, name)) is not None:
                pairs.setdefault(file, name)
        for name in native:
            self._native_functions(name, pairs.get(name))
        for name in derivatives:
            if name not in pairs.values():
                self._note(name, _NO_FUNCTIONS)
        for name in files.get(SourceKind.BACKEND_YAML, ()):
            self._backend(name)
        return Extraction(tuple(self._found), tuple(self._not_understood), problems=tuple(self._problems))

    def _named(self, backends: Collection[str]) -> frozenset[str]:
        for name in backends:
            if name.upper() not in keys.CODEGEN_BACKENDS:
                hint = f"it has {', '.join(keys.CODEGEN_BACKENDS)}"
                message = f"torchgen has no code for a backend {name}"
                self._problems.append(Problem("unknown-backend", message, hint=hint))
        return frozenset(name.upper() for name in backends)

    def _native_functions(self, name: str, derivatives_name: str | None) -> None:
        problems: list[NotUnderstood] = []
        entries = [Fields(name, entry, problems) for entry in self._entries(name)]
        named = keys_in(entries)
        if named.isdisjoint(keys.KNOWN) and (named or not name.endswith("native_functions.yaml")):
            self._note(name, _OTHER_GENERATOR)
            self._found += self._of_dialect(name, entries)
            return
        read = read_native_functions(entries)
        self._not_understood += sorted(problems)
        of_pytorch = any(function.namespace == ATEN for function in read.functions)
        if named and of_pytorch and all(map(keys.is_outside, named)):
            self._note(name, _OF_OUTSIDE)
            return
        if any(function.name == _OF_PYTORCH for function in read.functions):
            self._known = known_operators(read.functions, read.groups)
        derivatives = None
        if derivatives_name is not None:
            derivatives = Derivatives(derivatives_name, self._entries(derivatives_name), read.functions, read.views)
            self._not_understood += derivatives.problems
        elif self._known is not None:
            self._note(name, _NO_DERIVATIVES)
        when = self._sources.settings(name).when
        self._found += definition_items(read.functions, read.minor >= 13, when)
        self._found += kernel_items(kernels(read, derivatives), self._backends, when)

    def _of_dialect(self, file: str, entries: Iterable[Fields]) -> Iterator[Extracted]:
        """Undecided kernels of a backend's dialect, and definitions of operators that PyTorch does not have."""
        known, when = self._operators_of_pytorch(), self._sources.settings(file).when
        blocks: dict[LibraryKind, ExtractedBlock] = {}
        if known is None:
            return
        for entry in entries:
            if (func := entry.text("func")) is not None:
                name, at = func.partition("(")[0], entry.place("func")
                is_new = name not in known.by_name
                kind, namespace = (LibraryKind.FRAGMENT, _DIALECT) if is_new else (LibraryKind.IMPL, ATEN)
                if kind not in blocks:
                    blocks[kind] = ExtractedBlock(kind, namespace, None, at, when)
                    yield blocks[kind]
                if is_new:
                    yield ExtractedDefinition(blocks[kind], name, None, at)
                else:
                    yield ExtractedKernel(blocks[kind], f"{ATEN}::{name}", _DIALECT, "kernel", at)

    def _backend(self, name: str) -> None:
        root = self._open(name, is_list=False)
        if isinstance(root, tree.Mapping):
            backend = BackendYaml(name, root, self._operators_of_pytorch())
            self._not_understood += sorted(backend.problems)
            when = self._sources.settings(name).when + (_LAZY if backend.is_lazy else ())
            self._found += kernel_items(backend.kernels(), keys.BACKENDS, when)

    def _operators_of_pytorch(self) -> KnownOperators | None:
        if self._known is None and self._base_operators is not None:
            self._known = operators_of_schemas(self._base_operators())
        return self._known

    def _entries(self, name: str) -> tuple[Node, ...]:
        root = self._open(name, is_list=True)
        return root.items if isinstance(root, tree.Sequence) else ()

    def _open(self, name: str, is_list: bool) -> Node | None:
        root, problems = read_yaml(self._sources, name, is_list)
        self._problems += problems
        return root

    def _note(self, name: str, why: str) -> None:
        self._not_understood.append(NotUnderstood(Span(name, 1, 1), "", why))
