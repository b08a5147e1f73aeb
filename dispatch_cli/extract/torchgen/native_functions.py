"""``native_functions.yaml`` with its ``derivatives.yaml``: the definitions and kernels that torchgen makes of them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from dispatch_cli.declarations.tree import Scalar
from dispatch_cli.extract.torchgen import function_keys as keys
from dispatch_cli.extract.torchgen.autograd_kernels import autograd_kernels
from dispatch_cli.extract.torchgen.backend_kernels import GeneratedKernel, backend_kernels, needs_backend_select
from dispatch_cli.extract.torchgen.derivatives import Derivatives
from dispatch_cli.extract.torchgen.function_reader import FunctionReader
from dispatch_cli.extract.torchgen.functionalization import functionalization_kernels
from dispatch_cli.extract.torchgen.grouping import Forms, ViewGroup, add_generated, group, view_groups
from dispatch_cli.extract.torchgen.native_function import NativeFunction
from dispatch_cli.extract.torchgen.point import EntryProblem
from dispatch_cli.extract.torchgen.yaml_file import YamlFile

ATEN = "aten"


class VersionRules(NamedTuple):
    """Behavior of torchgen that depends on the version of PyTorch.

    generates_for_core: it adds out forms of composite operators with the tag ``core`` (since 2.6).
    decomposes_views: views that are composite have their composite kernel at Functionalize (since 2.10).
    tags_forms: out and in-place forms have the tags ``out`` and ``inplace`` (since 2.13).
    """

    generates_for_core: bool = True
    decomposes_views: bool = True
    tags_forms: bool = True


def version_rules(operators: Container[str]) -> VersionRules:
    """The rules of the version of PyTorch that has these operators; the newest where they do not tell.

    ``align_as`` goes with named tensors, which are gone in 2.13; ``_foreach_rsqrt`` is new in 2.6, and
    ``_scaled_mm_v2`` in 2.10.
    """
    named = "align_as" in operators
    return VersionRules(
        generates_for_core=not named or "_foreach_rsqrt" in operators,
        decomposes_views=not named or "_scaled_mm_v2" in operators,
        tags_forms=not named,
    )


class NativeFunctions(NamedTuple):
    """Content of a ``native_functions.yaml``.

    functions: those of the file, and those that torchgen adds to them. rules: those of its version of torchgen.
    outside: the file is of a backend that is built outside PyTorch: it repeats operators of PyTorch, and gives them
    kernels of that backend. problems: what is not understood. bare: names of operators without schemas.
    """

    functions: list[NativeFunction]
    groups: list[Forms]
    views: list[ViewGroup]
    rules: VersionRules
    outside: bool
    problems: list[EntryProblem]
    bare: list[Scalar]


def read_native_functions(file: YamlFile) -> NativeFunctions:
    """Read a file; the parts that cannot be read are left out and named as problems."""
    reader = FunctionReader()
    functions = [function for entry in file.entries() if (function := reader.read(entry)) is not None]
    reader.finish()
    functions = _each_once(functions, reader.problems)
    groups, twice = group(functions)
    for function in twice:
        why = f"{function.name} is a second {function.schema.kind.value} form of the same function"
        reader.problems.append(EntryProblem(function.at, function.name, why))
    rules = version_rules({function.name for function in functions})
    functions += add_generated(groups, rules.generates_for_core)
    _check_delegates(functions, reader.problems)
    outside = bool(reader.keys) and all(keys.codegen_backend(key) is not None for key in reader.keys)
    return NativeFunctions(functions, groups, view_groups(functions), rules, outside, reader.problems, reader.bare)


def _each_once(functions: Iterable[NativeFunction], problems: list[EntryProblem]) -> list[NativeFunction]:
    known: dict[str, NativeFunction] = {}
    for function in functions:
        name = f"{function.namespace}::{function.name}"
        if known.setdefault(name, function) is not function:
            problems.append(EntryProblem(function.at, function.name, f"{name} is defined twice in this file"))
    return list(known.values())


def _check_delegates(functions: Iterable[NativeFunction], problems: list[EntryProblem]) -> None:
    by_name = {function.name: function for function in functions}
    for function in by_name.values():
        if function.delegate is not None:
            target = by_name.get(function.delegate)
            if target is None or not target.structured:
                why = f"{function.delegate} is not a structured function of this file"
                problems.append(EntryProblem(function.structured_at, function.delegate, why))


def definitions(read: NativeFunctions) -> list[NativeFunction]:
    """The functions that are defined by the code that torchgen makes of a file."""
    return [function for function in read.functions if function.namespace != ATEN] if read.outside else read.functions


def kernels(read: NativeFunctions, derivatives: Derivatives | None) -> Iterator[GeneratedKernel]:
    """The kernels that torchgen registers for the functions of a file.

    derivatives: None where there is no ``derivatives.yaml``: then there are none for autograd, tracing and
    functionalization, which are generated together with those of PyTorch itself.
    """
    of_backends = chain.from_iterable(map(backend_kernels, read.groups))
    if read.outside:
        yield from (
            backend
            for backend in of_backends
            if backend.function.namespace != ATEN or keys.codegen_backend(backend.key) is not None
        )
        return
    yield from of_backends
    of_pytorch = [function for function in read.functions if function.namespace == ATEN]
    for function in of_pytorch:
        if needs_backend_select(function):
            yield GeneratedKernel("BackendSelect", function, function.schema.cpp_name, function.at)
    if derivatives is None:
        return
    for function in of_pytorch:
        yield from autograd_kernels(function, derivatives)
    yield from functionalization_kernels(read.groups, read.views, read.rules.decomposes_views)
