"""One operator of ``native_functions.yaml``. Source: ``torchgen/model.py``, ``NativeFunction``."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from dispatch_cli.declarations.tree import Mapping, Scalar
from dispatch_cli.extract.torchgen import function_keys as keys
from dispatch_cli.extract.torchgen.fields import Fields
from dispatch_cli.extract.torchgen.schema import ATEN, NativeSchema, annotation, read_schema
from dispatch_cli.model.declarations import NotUnderstood
from dispatch_cli.model.span import Span

_IGNORED = (
    *("variants", "device_guard", "device_check", "python_module", "category_override", "cpp_no_default_args"),
    *("use_const_ref_for_mutable_tensors", "structured_inherits", "precomputed"),
)
"""Fields that decide nothing about registrations."""
_FIELDS = (
    *("func", "dispatch", "structured", "structured_delegate", "manual_kernel_registration", "manual_cpp_binding"),
    *("autogen", "tags", "ufunc_inner_loop", *_IGNORED),
)
NOWHERE = Span("", 1, 1)
"""Place of what no file of the run has."""


class NativeKernel(NamedTuple):
    """The kernel at one key, and where the key is written."""

    name: str
    at: Span


@dataclass(eq=False)
class NativeFunction:
    """An operator of ``native_functions.yaml``, or one that torchgen makes of another one.

    at: its place. structured_at: of ``structured`` or ``structured_delegate``. autogen: the names that are announced.
    generated: torchgen makes it. abstract: it has kernels of backends.
    """

    schema: NativeSchema
    at: Span
    structured: bool = False
    delegate: str | None = None
    structured_at: Span = NOWHERE
    manual_kernel: bool = False
    manual_binding: bool = False
    tags: tuple[str, ...] = ()
    autogen: str = ""
    autogen_at: Span = NOWHERE
    generated: bool = False
    abstract: bool = False
    dispatch: dict[str, NativeKernel] = field(default_factory=dict)

    @cached_property
    def name(self) -> str:
        """The name of the operator, without namespace."""
        return f"{self.schema.full_base}.{self.schema.overload}" if self.schema.overload else self.schema.full_base

    @cached_property
    def namespace(self) -> str:
        return self.schema.schema.name.name.partition("::")[0]

    @property
    def implicit(self) -> bool:
        return keys.IMPLICIT in self.dispatch

    @property
    def composite(self) -> bool:
        """True if it has a kernel for every backend (``has_composite_kernel``)."""
        return not self.dispatch.keys().isdisjoint((keys.IMPLICIT, keys.EXPLICIT, keys.NON_FUNCTIONAL))

    @cached_property
    def is_view(self) -> bool:
        """True for a view, as by ``NativeFunction.is_view_op``."""
        results = map(annotation, self.schema.returns)
        if any(alias is not None and not alias.write for alias in results):
            return True
        if "inplace_view" in self.tags and self.name not in ("resize_", "resize_as_"):
            return True
        arguments = map(annotation, self.schema.schema.arguments)
        return any(alias is not None and "*" in alias.after for alias in arguments)


def read_function(fields: Fields) -> NativeFunction | None:
    """The function of an entry; None where torchgen would not take it."""
    func = fields.text("func")
    if func is None:
        fields.refuse(fields.node, "an entry of native_functions.yaml is a mapping with func: and a schema")
        return None
    known = len(fields.problems)
    for name in fields.unknown(_FIELDS):
        fields.refuse_field(name, f"torchgen does not know the field {name}, and does not take the entry with it")
    namespace, colons, _ = func.partition("(")[0].rpartition("::")
    try:
        schema = read_schema(namespace if colons else ATEN, func[len(namespace + colons) :])
    except ValueError as error:
        fields.refuse(fields.values["func"], f"torchgen does not take this schema: {error}")
        return None
    tags = fields.values.get("tags")
    function = NativeFunction(
        schema=schema,
        at=fields.place("func"),
        structured=fields.truth("structured"),
        delegate=fields.text("structured_delegate"),
        structured_at=fields.place("structured" if "structured" in fields.values else "structured_delegate"),
        manual_kernel=fields.truth("manual_kernel_registration"),
        manual_binding=fields.truth("manual_cpp_binding"),
        tags=(tags.text,) if isinstance(tags, Scalar) else tuple(tag.text for tag in fields.names("tags")),
        autogen=fields.text("autogen") or "",
        autogen_at=fields.place("autogen"),
    )
    if len(fields.problems) > known:
        return None
    for key in keys.UFUNC if "ufunc_inner_loop" in fields.values else ():
        kernel = f"ufunc_{schema.name.base}_{key}"
        function.dispatch[key] = NativeKernel(kernel, fields.place("ufunc_inner_loop"))
    _read_dispatch(function, fields)
    is_of_group = function.structured or function.delegate is not None
    if "dispatch" not in fields.values and not function.dispatch and not is_of_group:
        function.dispatch[keys.IMPLICIT] = NativeKernel(schema.cpp_name, function.at)
    is_implicit = function.dispatch and function.dispatch.keys() <= {keys.IMPLICIT, keys.IMPLICIT_NESTED}
    function.abstract = function.delegate is not None or not is_implicit
    return function


def _read_dispatch(function: NativeFunction, fields: Fields) -> None:
    value = fields.values.get("dispatch")
    if value is not None and not isinstance(value, Mapping):
        fields.refuse(value, "dispatch: is a mapping of dispatch keys to kernels")
    for key, kernel in value.pairs if isinstance(value, Mapping) else ():
        if not isinstance(kernel, Scalar):
            fields.refuse(key, "the kernel of a dispatch key is the name of a C++ function")
            continue
        column = key.column
        for part in key.text.split(","):
            name = part.strip()
            at = Span(fields.file, key.line, column + len(part) - len(part.lstrip()))
            if name not in keys.KNOWN:
                why = f"torchgen generates no kernels for the dispatch key {name}"
                fields.problems.append(NotUnderstood(at, f"{name}: {kernel.text}", why))
            elif name in function.dispatch:
                fields.problems.append(NotUnderstood(at, key.text, f"{name} is written twice in dispatch:"))
            else:
                function.dispatch[name] = NativeKernel(kernel.text, at)
            column += len(part) + 1
