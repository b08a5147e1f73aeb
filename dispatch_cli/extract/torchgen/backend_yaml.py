"""The YAML of a backend outside PyTorch: the kernels that ``gen_backend_stubs.py`` registers for it.

Source: ``parse_backend_yaml`` in ``torchgen/gen_backend_stubs.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from dispatch_cli.declarations import tree
from dispatch_cli.declarations.tree import Scalar
from dispatch_cli.extract.kinds import BACKEND_KEYS
from dispatch_cli.extract.torchgen import function_keys as keys
from dispatch_cli.extract.torchgen.fields import Fields
from dispatch_cli.extract.torchgen.grouping import Forms, group, is_complete
from dispatch_cli.extract.torchgen.native_function import NOWHERE, NativeFunction
from dispatch_cli.extract.torchgen.native_functions import GeneratedKernel
from dispatch_cli.extract.torchgen.schema import ATEN, NativeSchema, SchemaKind
from dispatch_cli.model.declarations import NotUnderstood
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.model import FunctionSchema
from dispatch_cli.model.schema.parser import parse_printed_schema
from dispatch_cli.model.span import Span

_FORMS_UNKNOWN = (
    "which in-place and out forms are registered with these operators is not known without PyTorch's "
    "native_functions.yaml"
)


class KnownOperators(NamedTuple):
    """The operators of PyTorch that a backend's YAML is about.

    by_name: by name without namespace. forms: the groups that they are in, by the same name.
    """

    by_name: Mapping[str, NativeFunction]
    forms: Mapping[str, Forms]


def known_operators(functions: Iterable[NativeFunction], groups: Iterable[Forms]) -> KnownOperators:
    """Known operators from the functions of a ``native_functions.yaml``."""
    by_name = {function.name: function for function in functions}
    forms = {function.name: group for group in groups for function in group.values()}
    return KnownOperators(by_name, forms)


def operators_of_schemas(schemas: Iterable[str]) -> KnownOperators | None:
    """Known operators from the schemas of a state; None where there are none of PyTorch's."""
    those = (NativeSchema(parse_printed_schema(text)) for text in schemas if text.startswith(f"{ATEN}::"))
    functions = [NativeFunction(schema, NOWHERE) for schema in those]
    return known_operators(functions, group(functions)) if functions else None


class BackendYaml:
    """Reads a file. known: None where PyTorch's operators are not known. problems: what is not understood.

    What torchgen refuses besides (one form of a function under ``supported:``, another under ``autograd:``; a backend
    for which PyTorch itself has generated kernels) is not looked for.
    """

    def __init__(self, file: str, root: tree.Mapping, known: KnownOperators | None) -> None:
        self.problems: list[NotUnderstood] = []
        self._fields = Fields(file, root, self.problems)
        self._known = known
        is_dialect = self._fields.values.keys().isdisjoint(("backend", "cpp_namespace"))
        if is_dialect:
            self._fields.refuse(
                root, "a list of functions without backend: and cpp_namespace: is not one of torchgen's"
            )
            self._fields.values.clear()
        for name in self._fields.unknown(BACKEND_KEYS):
            why = f"torchgen does not know the field {name}, and does not take the file with it"
            self._fields.refuse_field(name, why)
        self._backend = None if is_dialect else self._needed("backend")
        self.is_lazy = self._backend == "Lazy"
        self._namespace = None if is_dialect else self._needed("cpp_namespace")
        self._class_name = self._fields.text("class_name")
        self._out_is_primary = self._fields.truth("use_out_as_primary")
        self._symint = {item.text for item in self._fields.names("symint")}
        names = self._fields.names
        full = self._fields.values.get("full_codegen")  # an operator may have more to it, and is a key then
        generated = [key for key, _ in full.pairs] if isinstance(full, tree.Mapping) else names("full_codegen")
        listed = {"": [*names("supported"), *generated], "Autograd": names("autograd")}
        self._listed = {
            key: self._operators(items)
            for prefix, items in listed.items()
            if items and (key := self._key(prefix)) is not None
        }
        if known is None and not self._out_is_primary and any(self._listed.values()):
            self._fields.refuse_field("backend", _FORMS_UNKNOWN)

    def kernels(self) -> Iterator[GeneratedKernel]:
        """The kernels at the backend's key, and at its key of autograd."""
        for key, listed in self._listed.items():
            yield from self._of_key(key, listed)

    def _needed(self, name: str) -> str | None:
        text = self._fields.text(name)
        if text is None:
            self._fields.refuse_field(name, f"torchgen does not take the file without {name}: and a name")
        return text

    def _key(self, prefix: str) -> str | None:
        key = None if self._backend is None else prefix + self._backend
        if key is None or key in keys.OF_BACKENDS:
            return key
        self._fields.refuse_field("backend", f"{key} is not a dispatch key of a backend")
        return None

    def _operators(self, items: Iterable[Scalar]) -> dict[str, Span]:
        places: dict[str, Span] = {}
        for item in items:
            if self._known is None or item.text in self._known.by_name:
                places[item.text] = self._fields.span(item)
            else:
                self._fields.refuse(item, f"PyTorch has no operator {item.text}")
        return places

    def _of_key(self, key: str, listed: Mapping[str, Span]) -> Iterator[GeneratedKernel]:
        class_name = self._class_name or f"{key}NativeFunctions"
        for name, at in listed.items():
            function = _unknown(name, at) if self._known is None else self._known.by_name[name]
            if function.manual_kernel:
                continue
            suffix = "_symint" if name in self._symint else ""
            kernel = f"{self._namespace}::{class_name}::{function.schema.cpp_name}{suffix}"
            yield GeneratedKernel(key, function, kernel, at)
            if self._known is not None and not self._out_is_primary:
                yield from _wrappers(key, function, self._known.forms.get(name), listed, at)


def _wrappers(
    key: str, function: NativeFunction, forms: Forms | None, listed: Mapping[str, Span], at: Span
) -> Iterator[GeneratedKernel]:
    """The in-place and out forms that are made of a functional one (``gets_generated_out_inplace_wrapper``)."""
    if forms is None or not is_complete(forms) or forms[SchemaKind.FUNCTIONAL] is not function:
        return
    for form in forms.values():
        if form is not function and form.name not in listed and not form.manual_kernel:
            name = f"wrapper_{key}_{form.schema.overload}_{form.schema.cpp_name}"
            yield GeneratedKernel(key, form, name, at)


def _unknown(name: str, at: Span) -> NativeFunction:
    return NativeFunction(NativeSchema(FunctionSchema(OperatorName.parse(f"{ATEN}::{name}"), (), ())), at)
