"""Reads Python sources: what they register with ``torch.library``, without running or importing anything."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from dispatch_cli.extract.python.alternatives import called_functions, without_rivals
from dispatch_cli.extract.python.modules import ModuleIndex, UnreadablePython, imported_names
from dispatch_cli.extract.python.reading import PythonReader
from dispatch_cli.extract.python.results import joined, missing_names
from dispatch_cli.extract.python.run import PythonRun
from dispatch_cli.extract.sources import Sources
from dispatch_cli.model.condition import atoms
from dispatch_cli.model.extracted import Extraction, NotUnderstood, SourceKind

_REGISTERS = (
    *("torch.library", "torch._library", "_custom_op", "Library(", "_scoped_library", "custom_op", "triton_op"),
    *("py_impl", "register_fake", "register_kernel", "register_autograd", "register_vmap", "register_autocast"),
    *("impl_abstract", ".impl(", ".define(", ".fallback(", "has_side_effect("),
)
"""Texts of a file that may register something itself."""


def extract_python(sources: Sources) -> Extraction:
    """Registrations in the Python files of a run."""
    files = list(dict.fromkeys(sources.files.get(SourceKind.PYTHON, ())))
    with _room():
        return _read(files, sources)


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


def _read(files: list[str], sources: Sources) -> Extraction:
    index = ModuleIndex(files, sources)
    run = PythonRun(sources, index)
    reader = PythonReader(run)
    chosen = _chosen(files, index, run)
    for file in sorted(chosen, key=lambda file: "sys.path" not in index.text(file)):
        reader.module(file)  # what changes ``sys.path`` first: others may be imported by it
    for file in chosen:
        reader.unreached(file)
    reader.end_libraries()
    order = {file: place for place, file in enumerate(files)}
    found, rivals = without_rivals(run.found, run.assumed_of)
    for thing, function in rivals.items():
        why = f"`{function.name}` registers it when it is called, and the file registers it elsewhere, too"
        run.not_understood.append(NotUnderstood(thing.at, index.line(thing.at).strip(), why, thing.when))
    functions = called_functions(found, run.assumed_of, lambda called: run.span(called.scope.file, called.node))
    things = sorted(joined(found), key=lambda entry: order.get(entry[0], len(order)))
    statements = sorted(run.not_understood, key=lambda item: (order.get(item.at.file, len(order)), item.at))
    run.accounted.update((statement.at.file, statement.at.line) for statement in statements)
    conditions = [part for file in dict.fromkeys(file for file, _ in things) for part in sources.settings(file).when]
    given = frozenset(text for condition in conditions for text in atoms(condition))
    return Extraction(
        tuple(thing for _, thing in things),
        tuple(statements),
        frozenset(run.accounted),
        tuple(index.read),
        missing_names([thing for _, thing in things], given),
        functions=tuple(sorted(functions, key=lambda function: function.at)),
    )


def _chosen(files: list[str], index: ModuleIndex, run: PythonRun) -> list[str]:
    """The files that can register something: by themselves, or by a function of such a file."""
    chosen: list[str] = []
    rest: list[str] = []
    for file in files:
        try:
            text = index.text(file)
        except UnreadablePython as error:
            run.not_understood.append(error.at_file(file))
            continue
        registers = any(part in text for part in _REGISTERS)
        (chosen if registers else rest).append(file)
    run.helpers = index.helpers(chosen)
    chosen += [file for file in rest if run.helpers & imported_names(index.text(file))]
    return [file for file in files if file in set(chosen)]
