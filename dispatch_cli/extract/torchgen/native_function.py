"""One operator of ``native_functions.yaml``. Source: ``torchgen/model.py``, ``NativeFunction``."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from dispatch_cli.declarations.tree import Mapping, Node, Scalar, Sequence
from dispatch_cli.extract.torchgen import function_keys as keys
from dispatch_cli.extract.torchgen.schema import NativeSchema, SchemaReader
from dispatch_cli.model.sources.extracted import NotUnderstood
from dispatch_cli.model.span import Span

_SINGLE_IMPLICIT = (
    frozenset({keys.IMPLICIT}),
    frozenset({keys.IMPLICIT_NESTED}),
    frozenset({keys.IMPLICIT, keys.IMPLICIT_NESTED}),
)
_IGNORED = frozenset(
    {
        "variants",
        "device_guard",
        "device_check",
        "python_module",
        "category_override",
        "cpp_no_default_args",
        "use_const_ref_for_mutable_tensors",
        "structured_inherits",
        "precomputed",
    }
)
"""Fields that decide nothing about registrations."""
_UNKNOWN_FIELD = "torchgen does not know a field"
TRUE, FALSE = frozenset({"true", "yes", "on"}), frozenset({"false", "no", "off"})


class NativeKernel(NamedTuple):
    """The kernel at one key, and where the key is written."""

    name: str
    at: Span


class NativeFunction:
    """An operator of ``native_functions.yaml``, or one that torchgen makes of another one.

    name: of the operator, without namespace. at: its place. structured_at: of ``structured`` or
    ``structured_delegate``. autogen: the names that are announced. generated: torchgen makes it. abstract: it has
    kernels of backends.
    """

    def __init__(self, namespace: str, schema: NativeSchema, at: Span) -> None:
        self.namespace = namespace
        self.schema = schema
        self.name = str(schema.name)
        self.at = at
        self.dispatch: dict[str, NativeKernel] = {}
        self.structured = False
        self.delegate: str | None = None
        self.structured_at = at
        self.manual_kernel = False
        self.manual_binding = False
        self.tags: tuple[str, ...] = ()
        self.autogen: tuple[str, ...] = ()
        self.autogen_at = at
        self.generated = False
        self.abstract = False

    @property
    def implicit(self) -> bool:
        return keys.IMPLICIT in self.dispatch

    @property
    def composite(self) -> bool:
        """True if it has a kernel for every backend (``has_composite_kernel``)."""
        dispatch = self.dispatch
        return keys.IMPLICIT in dispatch or keys.EXPLICIT in dispatch or keys.NON_FUNCTIONAL in dispatch

    @property
    def modifies(self) -> bool:
        """True if it writes any of its arguments."""
        return any(argument.is_write for argument in self.schema.arguments)

    @cached_property
    def is_view(self) -> bool:
        """True for a view, as by ``NativeFunction.is_view_op``."""
        if any(result.alias is not None and "!" not in result.alias for result in self.schema.returns):
            return True
        if "inplace_view" in self.tags and self.name not in ("resize_", "resize_as_"):
            return True
        return any(argument.alias is not None and "*" in argument.alias for argument in self.schema.arguments)


class FunctionReader:
    """Reads the entries of a file.

    keys: all that ``dispatch`` of them names. problems: what is not understood. bare: names without schemas.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self._schemas = SchemaReader()
        self.keys: set[str] = set()
        self.bare: list[Scalar] = []
        self.problems: list[NotUnderstood] = []

    def finish(self) -> None:
        """Note, once for all entries, that those of another dialect name functions without their schemas."""
        if self.bare:
            more = f", and of {len(self.bare) - 1} more entries," if len(self.bare) > 1 else ""
            self._problem(self.bare[0], f"func: of this entry{more} has no schema; torchgen does not take such a file")

    def read(self, entry: Node) -> NativeFunction | None:
        """The function of an entry; None where torchgen would not take it."""
        if not isinstance(entry, Mapping):
            self._problem(entry, "an entry of native_functions.yaml is a mapping with func:")
            return None
        fields = {key.text: (key, value) for key, value in entry.pairs}
        function = self._function(entry, fields)
        if function is None:
            return None
        known = len(self.problems)
        for name, (key, value) in fields.items():
            if name not in _IGNORED:
                self._field(function, name, key, value)
        if any(problem.why.startswith(_UNKNOWN_FIELD) for problem in self.problems[known:]):
            return None
        self._complete(function, "dispatch" in fields)
        return function

    def _function(self, entry: Mapping, fields: dict[str, tuple[Scalar, Node]]) -> NativeFunction | None:
        func = fields.pop("func", None)
        if func is None or not isinstance(func[1], Scalar):
            self._problem(entry.pairs[0][0] if entry.pairs else entry, "the entry has no func: with a schema")
            return None
        text = func[1].text
        if "(" not in text:
            self.bare.append(func[1])
            return None
        head, separator, rest = text.partition("(")
        namespace, colons, name = head.rpartition("::")
        try:
            if "::" in namespace:
                raise ValueError("the name of an operator has only one namespace")
            schema = self._schemas.read(name + separator + rest)
        except ValueError as error:
            self._problem(func[1], f"torchgen does not take this schema: {error}")
            return None
        return NativeFunction(namespace if colons else "aten", schema, self._at(func[0]))

    def _field(self, function: NativeFunction, name: str, key: Scalar, value: Node) -> None:
        at = self._at(key)
        if name == "dispatch":
            self._dispatch(function, value)
        elif name == "structured":
            function.structured, function.structured_at = self._truth(value), at
        elif name == "structured_delegate" and isinstance(value, Scalar):
            function.delegate, function.structured_at = value.text, at
        elif name == "manual_kernel_registration":
            function.manual_kernel = self._truth(value)
        elif name == "manual_cpp_binding":
            function.manual_binding = self._truth(value)
        elif name == "autogen" and isinstance(value, Scalar):
            function.autogen = tuple(part.strip() for part in value.text.split(","))
            function.autogen_at = at
        elif name == "tags" and isinstance(value, Scalar | Sequence):
            items = value.items if isinstance(value, Sequence) else (value,)
            function.tags = tuple(item.text for item in items if isinstance(item, Scalar))
        elif name == "ufunc_inner_loop":
            for ufunc_key in keys.UFUNC:
                function.dispatch[ufunc_key] = NativeKernel(f"ufunc_{function.schema.name.base}_{ufunc_key}", at)
        else:
            self._problem(key, f"{_UNKNOWN_FIELD} {name} of this kind, and does not take the entry with it")

    def _dispatch(self, function: NativeFunction, value: Node) -> None:
        if not isinstance(value, Mapping):
            self._problem(value, "dispatch: is a mapping of dispatch keys to kernels")
            return
        for key, kernel in value.pairs:
            if not isinstance(kernel, Scalar):
                self._problem(key, "the kernel of a dispatch key is the name of a C++ function")
                continue
            offset = 0
            for part in key.text.split(","):
                name = part.strip()
                at = Span(self._file, key.line, key.column + offset + len(part) - len(part.lstrip()))
                self.keys.add(name)
                if name not in keys.KNOWN:
                    why = f"torchgen generates no kernels for the dispatch key {name}"
                    self.problems.append(NotUnderstood(at, f"{name}: {kernel.text}", why))
                elif name in function.dispatch:
                    self.problems.append(NotUnderstood(at, key.text, f"{name} is written twice in dispatch:"))
                else:
                    function.dispatch[name] = NativeKernel(kernel.text, at)
                offset += len(part) + 1

    def _complete(self, function: NativeFunction, has_dispatch: bool) -> None:
        dispatch = function.dispatch
        if not has_dispatch and not dispatch and not function.structured and function.delegate is None:
            dispatch[keys.IMPLICIT] = NativeKernel(function.schema.cpp_name, function.at)
        function.abstract = function.delegate is not None or dispatch.keys() not in _SINGLE_IMPLICIT

    def _truth(self, value: Node) -> bool:
        word = value.text.lower() if isinstance(value, Scalar) and value.plain else ""
        if word not in TRUE and word not in FALSE:
            self._problem(value, "this is true or false")
        return word in TRUE

    def _problem(self, node: Node, why: str) -> None:
        text = node.text if isinstance(node, Scalar) else ""
        self.problems.append(NotUnderstood(self._at(node), text, why))

    def _at(self, node: Node) -> Span:
        return Span(self._file, node.line, node.column)
