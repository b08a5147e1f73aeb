"""The YAML of a backend outside PyTorch: the kernels that ``gen_backend_stubs.py`` registers for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from dispatch_cli.declarations.tree import Scalar
from dispatch_cli.extract.torchgen import function_keys as keys
from dispatch_cli.extract.torchgen.backend_fields import BackendFields
from dispatch_cli.extract.torchgen.backend_kernels import GeneratedKernel
from dispatch_cli.extract.torchgen.grouping import Forms, group, is_complete
from dispatch_cli.extract.torchgen.native_function import NativeFunction
from dispatch_cli.extract.torchgen.native_name import parse_native_name
from dispatch_cli.extract.torchgen.point import EntryProblem, Point
from dispatch_cli.extract.torchgen.schema import NativeSchema, SchemaKind
from dispatch_cli.extract.torchgen.schema_reader import SchemaReader
from dispatch_cli.model.suggest import suggestion

_FORMS_UNKNOWN = (
    "which in-place and out forms are registered with these operators is not known without PyTorch's "
    "native_functions.yaml"
)

_SUGGESTIONS = 20
"""Maximum number of unknown operators of a file with a suggestion: the search takes milliseconds for each."""


class KnownOperators(NamedTuple):
    """The operators of PyTorch that a backend's YAML is about.

    by_name: by name without namespace. forms: the groups that they are in, by the same name. keys: where PyTorch itself
    has generated kernels.
    """

    by_name: Mapping[str, NativeFunction]
    forms: Mapping[str, Forms]
    keys: frozenset[str]


def known_operators(functions: Iterable[NativeFunction], groups: Iterable[Forms]) -> KnownOperators:
    """Known operators from the functions of a ``native_functions.yaml``."""
    by_name = {function.name: function for function in functions}
    forms = {function.name: group for group in groups for function in group.values()}
    in_tree = {key for function in by_name.values() for key in function.dispatch}
    return KnownOperators(by_name, forms, frozenset(in_tree) or keys.IN_EVERY_VERSION)


def operators_of_schemas(schemas: Iterable[str]) -> KnownOperators | None:
    """Known operators from the schemas of a state; None where there are none of PyTorch's."""
    reader = SchemaReader()
    functions = []
    for text in schemas:
        name = text.removeprefix("aten::")
        if name != text:
            try:
                functions.append(NativeFunction("aten", reader.read(name), Point(1, 1)))
            except ValueError:
                continue  # an operator that torchgen does not know
    return known_operators(functions, group(functions)[0]) if functions else None


class BackendYaml:
    """Reads the fields of a file. known: None where PyTorch's operators are not known."""

    def __init__(self, fields: BackendFields, known: KnownOperators | None) -> None:
        self._fields = fields
        self._known = known
        self.problems = list(fields.problems)
        self._unknown = 0
        self._backend_key = self._key("", bool(fields.supported))
        self._autograd_key = self._key("Autograd", bool(fields.autograd))
        if self._backend_key is not None and self._backend_key in (
            keys.IN_EVERY_VERSION if known is None else known.keys
        ):
            why = (
                f"PyTorch has generated kernels at {self._backend_key} itself, so that torchgen does not take the file"
            )
            self._problem(fields.at, self._backend_key, why)
        self._supported = self._operators(fields.supported)
        self._own_autograd = self._operators(fields.autograd)
        self._check_mixed()
        if known is None and not fields.out_is_primary and (self._supported or self._own_autograd):
            self._problem(fields.at, "", _FORMS_UNKNOWN)

    @property
    def is_lazy(self) -> bool:
        return self._backend_key == "Lazy"

    def kernels(self) -> Iterator[GeneratedKernel]:
        """The kernels at the backend's key, and at its key of autograd."""
        if self._backend_key is not None:
            yield from self._of_key(self._backend_key, self._supported)
        if self._autograd_key is not None:
            yield from self._of_key(self._autograd_key, self._own_autograd)

    def _key(self, prefix: str, needed: bool) -> str | None:
        backend = self._fields.backend
        if not needed or backend is None:
            return None
        key = prefix + backend
        if key not in keys.DISPATCH_KEYS:
            self._problem(self._fields.at, backend, f"{key} is not a dispatch key that torchgen knows")
            return None
        return key

    def _operators(self, items: Iterable[Scalar]) -> dict[str, Point]:
        places: dict[str, Point] = {}
        for item in items:
            if self._known is None or item.text in self._known.by_name:
                places[item.text] = Point(item.line, item.column)
            else:
                self._unknown += 1
                hint = suggestion(item.text, self._known.by_name) if self._unknown <= _SUGGESTIONS else None
                why = f"PyTorch has no operator {item.text}" + (f"; {hint}" if hint else "")
                self._problem(Point(item.line, item.column), item.text, why)
        return places

    def _check_mixed(self) -> None:
        """The forms of a function are all supported, or all have an autograd of their own."""
        forward = {self._group_of(name) for name in self._supported} if self._backend_key else set()
        for name, at in self._own_autograd.items():
            if self._autograd_key is not None and self._group_of(name) in forward:
                why = f"{name}, or another form of it, is under supported: as well, which torchgen does not take"
                self._problem(at, name, why)

    def _group_of(self, name: str) -> object:
        forms = None if self._known is None else self._known.forms.get(name)
        return id(forms) if forms is not None and is_complete(forms) else name

    def _of_key(self, key: str, listed: Mapping[str, Point]) -> Iterator[GeneratedKernel]:
        fields = self._fields
        class_name = fields.class_name or f"{key}NativeFunctions"
        for name, at in listed.items():
            function = _unknown(name, at) if self._known is None else self._known.by_name[name]
            if function.manual_kernel:
                continue
            suffix = "_symint" if name in fields.symint else ""
            kernel = f"{fields.cpp_namespace}::{class_name}::{function.schema.cpp_name}{suffix}"
            yield GeneratedKernel(key, function, kernel, at)
            if self._known is not None and not fields.out_is_primary:
                yield from _wrappers(key, function, self._known.forms.get(name), listed, at)

    def _problem(self, at: Point, text: str, why: str) -> None:
        self.problems.append(EntryProblem(at, text, why))


def _wrappers(
    key: str, function: NativeFunction, forms: Forms | None, listed: Mapping[str, Point], at: Point
) -> Iterator[GeneratedKernel]:
    """The in-place and out forms that are made of a functional one (``gets_generated_out_inplace_wrapper``)."""
    if forms is None or not is_complete(forms) or forms[SchemaKind.FUNCTIONAL] is not function:
        return
    for form in forms.values():
        if form is not function and form.name not in listed and not form.manual_kernel:
            name = f"wrapper_{key}_{form.schema.name.overload}_{form.schema.cpp_name}"
            yield GeneratedKernel(key, form, name, at)


def _unknown(name: str, at: Point) -> NativeFunction:
    try:
        parts = parse_native_name(name)
    except ValueError:
        parts = parse_native_name("unknown")._replace(base=name)
    return NativeFunction("aten", NativeSchema(parts, (), (), (), ()), at)
