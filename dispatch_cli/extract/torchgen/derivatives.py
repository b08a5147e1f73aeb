"""``derivatives.yaml``: at which keys of autograd a function has a formula.

Source: ``load_derivatives`` in ``packaged/autograd/load_derivatives.py`` and ``match_differentiability_info`` in
``torchgen/api/autograd.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from dispatch_cli.declarations.tree import Node, Scalar
from dispatch_cli.extract.torchgen import function_keys as keys
from dispatch_cli.extract.torchgen.fields import Fields
from dispatch_cli.extract.torchgen.grouping import ViewGroup
from dispatch_cli.extract.torchgen.native_function import NativeFunction
from dispatch_cli.extract.torchgen.schema import ATEN, SchemaKind, read_schema
from dispatch_cli.model.declarations import NotUnderstood
from dispatch_cli.model.schema.model import FunctionSchema
from dispatch_cli.model.span import Span

DEFAULT = "Default"
_NOT_FORMULAS = frozenset({"name", "output_differentiability", "dispatch"})
_NON_DIFFERENTIABLE = "non_differentiable"


class DerivativeKeys(NamedTuple):
    """Keys of an entry. places: by key, the place in the file. differentiable: it has a formula for an argument."""

    places: dict[str, Span]
    differentiable: bool


class Derivatives:
    """The entries of a ``derivatives.yaml`` by the functions that they are for.

    functions: all of them, in the order of torchgen. problems: what is not understood.
    """

    def __init__(
        self, file: str, entries: Iterable[Node], functions: Sequence[NativeFunction], views: Sequence[ViewGroup]
    ) -> None:
        self.problems: list[NotUnderstood] = []
        self._by_schema: dict[FunctionSchema, NativeFunction] = {}
        self._by_signature: dict[str, list[NativeFunction]] = {}
        for function in functions:
            self._by_schema.setdefault(function.schema.schema, function)
            self._by_signature.setdefault(function.schema.signature, []).append(function)
        self._found: dict[FunctionSchema, tuple[NativeFunction, DerivativeKeys]] = {}
        for entry in entries:
            self._read(Fields(file, entry, self.problems))
        copies = {group.view.name: group.copy for group in views if group.copy is not None}
        for function, derivative_keys in list(self._found.values()):
            copy = copies.get(function.name)
            if copy is not None:  # it has the derivative of the view (``add_view_copy_derivatives``)
                self._found.setdefault(copy.schema.schema, (copy, derivative_keys))
        self._functional: dict[str, DerivativeKeys] = {}
        self._others: dict[str, DerivativeKeys] = {}
        for function, derivative_keys in self._found.values():
            functional = function.schema.kind is SchemaKind.FUNCTIONAL
            of = self._functional if functional else self._others
            of[function.schema.signature_without_defaults] = derivative_keys

    def of(self, function: NativeFunction) -> DerivativeKeys | None:
        """Derivative keys of a function, or of the form that its derivative is taken from."""
        schema = function.schema
        if function.generated and schema.kind is SchemaKind.OUT:
            return None
        exact = self._found.get(schema.schema)
        if exact is not None:
            return exact[1]
        signature = schema.signature_without_defaults
        if not schema.name.base.startswith("_foreach_") and signature in self._functional:
            return self._functional[signature]
        return self._others.get(signature) if function.generated else None

    def _read(self, fields: Fields) -> None:
        name = fields.text("name")
        if name is None:
            fields.refuse(fields.node, "an entry of derivatives.yaml is a mapping with name: and a schema")
            return
        function = self._function(name)
        if function is None:
            fields.refuse(fields.values["name"], "native_functions.yaml has no function with this schema")
            return
        places = {DEFAULT: fields.place("name")}
        formulas = [fields]
        dispatch = fields.values.get("dispatch")
        if dispatch is not None:
            by_key = Fields(fields.file, dispatch, self.problems)
            for key in by_key.unknown({DEFAULT, *keys.AUTOGRAD}):
                by_key.refuse_field(key, f"{key} is not a key of autograd that torchgen knows")
            places = {key: by_key.place(key) for key in by_key.values if key == DEFAULT or key in keys.AUTOGRAD}
            formulas = [Fields(fields.file, by_key.values[key], self.problems) for key in places]
        arguments = {argument.name for argument in function.schema.schema.arguments}
        differentiable = any(_is_differentiable(inner.values, arguments) for inner in formulas)
        self._found[function.schema.schema] = (function, DerivativeKeys(places, differentiable))

    def _function(self, name: str) -> NativeFunction | None:
        """The function that an entry is for (``canonical_function``)."""
        try:
            given = read_schema(ATEN, name)
        except ValueError:
            return None
        named = self._by_schema.get(given.schema)
        functions = () if named is None else self._by_signature[named.schema.signature]
        for function in functions:
            schema = function.schema
            if "functional" not in schema.overload and not schema.out and schema.full_base == given.full_base:
                return function
        return next(iter(functions), None)


def _is_differentiable(fields: Mapping[str, Node], arguments: Set[str]) -> bool:
    for names, formula in fields.items():
        if names in _NOT_FORMULAS or names.partition(",")[0].strip() not in arguments:
            continue
        if not isinstance(formula, Scalar) or formula.text.strip().lower() != _NON_DIFFERENTIABLE:
            return True
    return False
