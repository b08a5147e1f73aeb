"""Reads the modules of a run, finds the calls that were not reached, and joins what was found."""

from __future__ import annotations

import ast
import gc
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

import dispatch_cli.extract.python.names as names
from dispatch_cli.extract.python.evaluation.evaluator import Evaluator
from dispatch_cli.extract.python.evaluation.statements import Statements
from dispatch_cli.extract.python.evaluation.values import PARTS, Call, FunctionValue, NoResult, Opaque, Scope
from dispatch_cli.extract.python.modules import ModuleIndex, imported_names
from dispatch_cli.extract.python.names import COMMON, HARMLESS
from dispatch_cli.extract.python.run import PythonRun
from dispatch_cli.extract.readable import unknown_parts
from dispatch_cli.extract.sources import Sources
from dispatch_cli.extract.work import OverWork
from dispatch_cli.model.conditions.condition import atoms
from dispatch_cli.model.conditions.worlds import TORCH_VERSION
from dispatch_cli.model.declarations import NotUnderstood, RegisteringFunction
from dispatch_cli.model.sources.extracted import Extracted, ExtractedBlock, ExtractedDefinition, Extraction, SourceKind
from dispatch_cli.model.span import Span

_REGISTERS = (
    *("torch.library", "torch._library", "_custom_op", "Library(", "_scoped_library", "custom_op", "triton_op"),
    *("py_impl", "register_fake", "register_kernel", "register_autograd", "register_vmap", "register_autocast"),
    *("impl_abstract", ".impl(", ".define(", ".fallback(", "has_side_effect("),
)
"""Texts of a file that may register something itself."""
_FILLED_IN = re.compile(r"\{%|\{\{[^{}\n]+\}\}|\$\{\w")
"""A place that a template engine fills in: a file that has one need not be Python."""


@contextmanager
def _room() -> Iterator[None]:
    """Trees are large and live until the end: looking for garbage in them doubles the time.

    Modules that import each other need more stack than Python gives by default.
    """
    enabled, limit = gc.isenabled(), sys.getrecursionlimit()
    gc.disable()
    sys.setrecursionlimit(max(limit, 6000))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
        if enabled:
            gc.enable()


@_room()
def extract_python(sources: Sources) -> Extraction:
    """Registrations in the Python files of a run."""
    files = list(dict.fromkeys(sources.files.get(SourceKind.PYTHON, ())))
    index = ModuleIndex(files, sources)
    run = PythonRun(sources, index)
    reader = PythonReader(run)
    chosen = _chosen(files, index, run)
    for file in chosen:
        reader.module(file)
    for file in chosen:
        reader.unreached(file)
    order = {file: place for place, file in enumerate(files)}
    things = sorted(run.registered, key=lambda thing: order.get(thing.at.file, len(order)))
    statements = sorted(run.not_understood.values(), key=lambda item: (order.get(item.at.file, len(order)), item.at))
    run.accounted.update((statement.at.file, statement.at.line) for statement in statements)
    settings = [
        part for file in dict.fromkeys(thing.at.file for thing in things) for part in sources.settings(file).when
    ]
    functions = [
        RegisteringFunction(function.name, run.span(function.scope.file, function.node), tuple(places))
        for function, places in run.called.items()
    ]
    not_followed = {statement.at for statement in statements}
    decidable = [thing for thing in things if not (isinstance(thing, ExtractedDefinition) and thing.at in not_followed)]
    return Extraction(
        tuple(things),
        tuple(statements),
        frozenset(run.accounted),
        missing_names(decidable, frozenset(text for condition in settings for text in atoms(condition))),
        functions=tuple(sorted(functions, key=lambda function: function.at)),
    )


def _chosen(files: list[str], index: ModuleIndex, run: PythonRun) -> list[str]:
    """The files that can register something: by themselves, or by a function of such a file."""
    chosen: list[str] = []
    rest: list[str] = []
    for file in files:
        text = index.text(file)
        registers = file in index.unread or any(part in text for part in _REGISTERS)
        (chosen if registers else rest).append(file)
    run.helpers = index.helpers(chosen)
    chosen += [file for file in rest if run.helpers & imported_names(index.text(file))]
    return [file for file in files if file in set(chosen)]


class PythonReader:
    """Reads modules, each once."""

    def __init__(self, run: PythonRun) -> None:
        self.run = run
        self.evaluator = Evaluator(run)
        self.evaluator.module = self.module
        self._statements = Statements(self.evaluator)
        self._modules: dict[str, Scope] = {}

    def module(self, file: str) -> Scope:
        """The names of a module; those that it has so far, while it is being read. Its package is read first."""
        package = self.run.index.relative(file, 2 if file.endswith("__init__.py") else 1, "")
        if package not in (None, file) and file not in self._modules:
            self.module(package)
        if file in self._modules:
            return self._modules[file]
        scope = self._modules[file] = Scope(file)
        run = self.run
        tree = run.index.tree(file)
        try:
            with run.anew(), run.work.file(file):
                self._statements.block(tree.body, scope)
        except (OverWork, RecursionError) as error:
            run.bounded(error, file)
        return scope

    def unreached(self, file: str) -> None:
        """Look at the functions that register something and that nothing calls; say what was not looked at at all."""
        index = self.run.index
        index.tree(file)
        if file in index.unread:
            text, error = index.text(file), index.unread[file]
            bound = error.code == "too-large"
            unread = not bound and "torch" in text and _FILLED_IN.search(text) is None
            at = Span(file, error.line, 1)
            self.run.not_understood[file, ""] = NotUnderstood(at, "", error.message, bound=bound, unread=unread)
            return
        try:
            with self.run.work.file(file):
                for _ in range(3):
                    left = self._left(file)
                    if not left or not self._assume(file, left):
                        break
                for call in self._left(file):
                    why = "it is not reached, as far as the import of the module is followed"
                    self.run.not_known(Call([], {}, call, self.module(file)), why)
        except OverWork as bound:
            self.run.bounded(bound, file)

    def _left(self, file: str) -> list[ast.Call]:
        """Calls that may register something, and that were not evaluated; others are noted as read."""
        run = self.run
        calls: list[ast.Call] = []
        scope = self.module(file)
        imported = self.run.index.facts(file).torch_names
        for name, call in self.run.index.facts(file).calls:
            if id(call) in run.seen_calls or name in HARMLESS or not self._may_be(call, name, scope, imported):
                run.account(file, call)
            elif (file, call.lineno) not in run.accounted:
                calls.append(call)
        return calls

    def _may_be(self, node: ast.Call, name: str, scope: Scope, imported: frozenset[str]) -> bool:
        """True if a call that was not evaluated may be one of PyTorch's."""
        if isinstance(node.func, ast.Attribute):
            return names.plausible(node, self.run.index.text(scope.file))
        if name in imported:
            return True
        value = self.evaluator.value(node.func, scope) if name in scope.names else None
        return name not in COMMON if value is None or isinstance(value, Opaque) else names.may_register(value)

    def _assume(self, file: str, left: list[ast.Call]) -> bool:
        """Go through functions that nothing calls, as if somebody did: with either value for a switch."""
        run, went = self.run, False
        functions = sorted(run.functions.get(file, ()), key=lambda code: code.name.startswith("_"))
        for function in functions:  # private ones by their callers
            code = function.node
            run.spend(1 + len(left) // PARTS)
            has_calls = any(code.lineno <= call.lineno <= (code.end_lineno or 0) for call in left)
            if has_calls and id(code) not in run.entered and not isinstance(code, ast.Lambda):
                went = True
                self._assumed_call(function, code, file)
        return went

    def _assumed_call(self, function: FunctionValue, code: ast.FunctionDef | ast.AsyncFunctionDef, file: str) -> None:
        run = self.run
        arguments = [*code.args.posonlyargs, *code.args.args]
        first = arguments[0].arg if arguments else ""
        of_class = function.scope.is_class and function.kind != "staticmethod" and bool(arguments)
        owner = Opaque(code, first) if function.scope.is_class else None
        choices = {name: Opaque(None, name) for name, value in function.defaults.items() if isinstance(value, bool)}
        bound = replace(function, binds=owner, bound=of_class, wrapped=None, attributes={}, may_be_replaced=False)
        bound.defaults = function.defaults | choices
        try:
            with run.anew():
                run.now.assumed = function
                with suppress(NoResult):
                    self.evaluator.run_function(bound, Call([], {}, code, function.scope))
        except (OverWork, RecursionError) as error:
            run.bounded(error, file, code)


def missing_names(things: Sequence[Extracted], given: frozenset[str]) -> tuple[tuple[str, int], ...]:
    """Expressions that would decide more, with the number of registrations that depend on each.

    given: the atoms that the settings of files have, which nothing in a file decides.
    """
    counts: Counter[str] = Counter()
    for thing in things:
        if isinstance(thing, ExtractedBlock):
            continue
        tests = [
            TORCH_VERSION if text.startswith(TORCH_VERSION) else text.partition(" (value ")[0]
            for part in thing.when
            for text in atoms(part)
            if not (text.endswith(" is called") or text in given)
        ]
        counts.update(list(dict.fromkeys([*(value.expression for _, value in unknown_parts(thing)), *tests])))
    return tuple(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))
