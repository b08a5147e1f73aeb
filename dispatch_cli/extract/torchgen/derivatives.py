"""``derivatives.yaml``: at which keys of autograd a function has a formula.

Source: ``load_derivatives`` in ``packaged/autograd/load_derivatives.py`` and ``match_differentiability_info`` in
``torchgen/api/autograd.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dispatch_cli.declarations.tree import Mapping, Node, Scalar
from dispatch_cli.extract.torchgen import function_keys as keys
from dispatch_cli.extract.torchgen.grouping import ViewGroup
from dispatch_cli.extract.torchgen.native_function import NativeFunction
from dispatch_cli.extract.torchgen.schema import SchemaKind
from dispatch_cli.model.sources.extracted import NotUnderstood
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
        self._file = file
        self.problems: list[NotUnderstood] = []
        self._by_schema: dict[str, NativeFunction] = {}
        self._by_signature: dict[str, list[NativeFunction]] = {}
        for function in functions:
            self._by_schema.setdefault(str(function.schema), function)
            self._by_signature.setdefault(function.schema.signature, []).append(function)
        self._found: dict[str, tuple[NativeFunction, DerivativeKeys]] = {}
        for entry in entries:
            self._read(entry)
        self._add_view_copies(views)
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
        exact = self._found.get(f"{schema}")
        if exact is not None:
            return exact[1]
        signature = schema.signature_without_defaults
        if not schema.name.base.startswith("_foreach_") and signature in self._functional:
            return self._functional[signature]
        return self._others.get(signature) if function.generated else None

    def _read(self, entry: Node) -> None:
        fields = {key.text: (key, value) for key, value in entry.pairs} if isinstance(entry, Mapping) else {}
        name = fields.get("name")
        if name is None or not isinstance(name[1], Scalar):
            self._problem(entry, "", "an entry of derivatives.yaml is a mapping with name: and a schema")
            return
        at = self._at(name[0])
        function = self._function(name[1])
        if function is None:
            return
        formulas = fields["dispatch"][1] if "dispatch" in fields else None
        places: dict[str, Span] = {}
        arguments = {argument.name for argument in function.schema.arguments}
        if formulas is None:
            places[DEFAULT] = at
            differentiable = self._is_differentiable(fields, arguments)
        elif isinstance(formulas, Mapping):
            differentiable = False
            for key, value in formulas.pairs:
                if key.text != DEFAULT and key.text not in keys.AUTOGRAD:
                    self._problem(key, key.text, f"{key.text} is not a key of autograd that torchgen knows")
                    continue
                places[key.text] = self._at(key)
                inner = {node.text: (node, text) for node, text in value.pairs} if isinstance(value, Mapping) else {}
                differentiable |= self._is_differentiable(inner, arguments)
        else:
            self._problem(formulas, "", "dispatch: is a mapping of keys of autograd to formulas")
            return
        self._found[str(function.schema)] = (function, DerivativeKeys(places, differentiable))

    def _function(self, name: Scalar) -> NativeFunction | None:
        """The function that the entry is for (``canonical_function``)."""
        named = self._by_schema.get(name.text)
        if named is None:
            self._problem(name, name.text, "native_functions.yaml has no function with this schema")
            return None
        plain = name.text.partition("(")[0].partition(".")[0]
        functions = self._by_signature[named.schema.signature]
        for function in functions:
            schema = function.schema
            if "functional" not in schema.name.overload and not schema.out and schema.name.full_base == plain:
                return function
        return functions[0]

    @staticmethod
    def _is_differentiable(fields: dict[str, tuple[Scalar, Node]], arguments: set[str | None]) -> bool:
        for names, (_, formula) in fields.items():
            if names in _NOT_FORMULAS or names.partition(",")[0].strip() not in arguments:
                continue
            if not isinstance(formula, Scalar) or formula.text.strip().lower() != _NON_DIFFERENTIABLE:
                return True
        return False

    def _add_view_copies(self, views: Sequence[ViewGroup]) -> None:
        """The copy of a view has the derivative of the view (``add_view_copy_derivatives``)."""
        copies = {group.view.name: group.copy for group in views if group.copy is not None}
        for function, derivative_keys in list(self._found.values()):
            copy = copies.get(function.name)
            if copy is not None:
                self._found.setdefault(str(copy.schema), (copy, derivative_keys))

    def _problem(self, node: Node, text: str, why: str) -> None:
        self.problems.append(NotUnderstood(self._at(node), text, why))

    def _at(self, node: Node) -> Span:
        return Span(self._file, node.line, node.column)
