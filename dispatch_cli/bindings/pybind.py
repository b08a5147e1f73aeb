"""Arguments as pybind11 takes them: what it converts, what it refuses, and the text with which it does.

Sources: ``cpp_function::dispatcher`` and ``type_caster`` of pybind11, and PyTorch's own casters in
``torch/csrc/utils/pybind.h``. The signatures are those of the texts that pybind11 makes, of PyTorch 2.13.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set, ValuesView
from functools import wraps
from types import GeneratorType
from typing import Any, NamedTuple, Protocol, TypeVar

from dispatch_cli.bindings.errors import as_text, raised_by_pytorch
from dispatch_cli.model.calls.call import TensorSpec

_Result = TypeVar("_Result")
_NUMBER = "typing.SupportsInt | typing.SupportsIndex"
_ITERABLE = (GeneratorType, Set, ValuesView, map, zip)
"""Types that become a list, apart from sequences."""


class Keys(Protocol):
    """The two classes of a universe's keys, and their names (`dispatch_cli.bindings.keys.KeySpace`)."""

    @property
    def DispatchKey(self) -> type: ...  # noqa: N802

    @property
    def DispatchKeySet(self) -> type: ...  # noqa: N802

    def parse(self, text: str) -> object:
        """The key of that name. Errors: RuntimeError."""


class _NotLoaded(Exception):
    """The value is not of the type."""


class Parameter(NamedTuple):
    """A parameter. type: in C++, where Python's type does not say it. default: as it is printed."""

    name: str
    type: str
    default: str | None

    @property
    def is_named(self) -> bool:
        """True if it can be given by its name."""
        return re.fullmatch(r"arg\d+", self.name) is None

    def __str__(self) -> str:
        shown = _SHOWN.get(self.type, self.type)
        return f"{self.name}: {shown}" + ("" if self.default is None else f" = {self.default}")


class Signature(NamedTuple):
    """A function's parameters, with ``self`` where pybind11 knows it.

    owner: the class that a constructor makes. result: the type of what is returned.
    """

    parameters: tuple[Parameter, ...]
    result: str
    owner: str | None

    @classmethod
    def parse(cls, text: str) -> Signature:
        """Read ``(self: object, arg0: str, alias: str = '') -> bool``, or ``torch._C.Class(arg0: …)``.

        The types are pybind11's, but for ``std::string`` (``str`` is ``const char*``, which can be null) and numbers,
        of which C++'s type is named.
        """
        owner, _, rest = text.partition("(")
        inside, _, result = rest.rpartition(")")
        parameters = []
        for part in re.split(r", (?=\w+: )", inside) if inside else ():
            name, _, kind = part.partition(": ")
            kind, equals, default = kind.partition(" = ")
            parameters.append(Parameter(name, kind, default if equals else None))
        return cls(tuple(parameters), result.removeprefix(" -> "), owner or None)

    def __str__(self) -> str:
        inside = ", ".join(map(str, self.parameters))
        return f"({inside}) -> {self.result}" if self.owner is None else f"{self.owner}({inside})"


def takes(signature: str) -> Callable[[Callable[..., _Result]], Callable[..., _Result]]:
    """Let a method convert and refuse its arguments as pybind11 does, and raise what PyTorch raises.

    signature: see `Signature.parse`. The method gets what pybind11 makes of the arguments: a key also of its name.
    """
    parsed = Signature.parse(signature)
    with_self = bool(parsed.parameters) and parsed.parameters[0].name == "self"
    parameters = parsed.parameters[1:] if with_self else parsed.parameters

    def decorate(function: Callable[..., _Result]) -> Callable[..., _Result]:
        @wraps(function)
        def bound(owner: Any, /, *args: object, **kwargs: object) -> _Result:
            unnamed: list[object] = []
            named: dict[str, object] = {}
            try:
                for parameter, value in _matched(parameters, args, kwargs):
                    loaded = _CASTERS[parameter.type](owner._space, value)
                    if parameter.is_named:
                        named[parameter.name] = loaded
                    else:
                        unnamed.append(loaded)
            except _NotLoaded:
                shown = (owner, *args) if with_self else args
                raise TypeError(_incompatible(function.__name__, parsed, shown, kwargs)) from None
            except RuntimeError as error:
                raise raised_by_pytorch(error) from None
            try:
                return as_text(function(owner, *unnamed, **named))
            except RuntimeError as error:
                raise raised_by_pytorch(error) from None

        return bound

    return decorate


def _matched(
    parameters: tuple[Parameter, ...], args: tuple[object, ...], kwargs: Mapping[str, object]
) -> Iterator[tuple[Parameter, object]]:
    """The parameters that are given, with their arguments. Errors: _NotLoaded, before the first."""
    given = list(zip(parameters, args, strict=False))
    rest = {parameter.name: parameter for parameter in parameters[len(args) :]}
    named = [(parameter, kwargs[name]) for name, parameter in rest.items() if name in kwargs and parameter.is_named]
    missing = any(parameter.default is None and name not in kwargs for name, parameter in rest.items())
    if len(args) > len(parameters) or len(named) < len(kwargs) or missing:
        raise _NotLoaded
    yield from given
    yield from named


def _incompatible(name: str, signature: Signature, args: tuple[object, ...], kwargs: Mapping[str, object]) -> str:
    kind = "function" if signature.owner is None else "constructor"
    parts = [", ".join(map(_repr, args))] if args else []
    if kwargs:
        parts.append("kwargs: " + ", ".join(f"{key}={_repr(value)}" for key, value in kwargs.items()))
    return (
        f"{name}(): incompatible {kind} arguments. The following argument types are supported:\n"
        f"    1. {signature}\n\nInvoked with: {'; '.join(parts)}"
    )


def _repr(value: object) -> str:
    try:
        return repr(value)
    except Exception:
        return "<repr raised Error>"


def _load_text(space: Keys, value: object) -> str:  # noqa: ARG001
    """``std::string``. Bytes need not be UTF-8."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise _NotLoaded from None
        return str(value)
    if isinstance(value, bytes | bytearray):
        return value.decode(errors="surrogateescape")
    raise _NotLoaded


def _load_c_text(space: Keys, value: object) -> str | None:
    """``const char*``, which ends at a zero byte; None is a null pointer."""
    return None if value is None else _load_text(space, value).partition("\0")[0]


def _load_bool(space: Keys, value: object) -> bool:  # noqa: ARG001
    """``bool``, of whatever says by itself if it is true."""
    if value is None:
        return False
    if not hasattr(type(value), "__bool__"):
        raise _NotLoaded
    try:
        return bool(value)
    except Exception:
        raise _NotLoaded from None


def _load_number(bits: int) -> Callable[[Keys, object], int]:
    """An unsigned number of C++, of what is an integer or can be made one; no float is."""

    def load(space: Keys, value: object) -> int:  # noqa: ARG001
        number: Any = value
        if isinstance(value, float):
            raise _NotLoaded
        if not isinstance(value, int):
            if not any(hasattr(type(value), name) for name in ("__int__", "__index__")):
                raise _NotLoaded
            try:
                number = int(number)
            except Exception:
                raise _NotLoaded from None
        if not 0 <= number < 1 << bits:
            raise _NotLoaded
        return int(number)

    return load


def _load_key(space: Keys, value: object) -> object:
    """A key, or its name. Errors: RuntimeError for a name that is not one."""
    if isinstance(value, space.DispatchKey):
        return value
    if not isinstance(value, str):
        raise _NotLoaded
    try:
        value.encode()
    except UnicodeEncodeError:
        raise RuntimeError(
            "Unable to cast Python instance of type <class 'str'> to C++ type '?' "
            "(#define PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug mode for details)"
        ) from None
    return space.parse(value)


def _load_key_set(space: Keys, value: object) -> object:
    if not isinstance(value, space.DispatchKeySet):
        raise _NotLoaded
    return value


def _load_tags(space: Keys, value: object) -> tuple[str, ...]:  # noqa: ARG001
    """The names of ``torch.Tag``\\ s, or of our own."""
    if isinstance(value, str | bytes) or not isinstance(value, (Sequence, bytearray, *_ITERABLE)):
        raise _NotLoaded
    tags: list[Any] = list(value)
    if any(type(tag).__name__ != "Tag" for tag in tags):
        raise _NotLoaded
    return tuple(str(getattr(tag, "name", tag)) for tag in tags)


def _load_tensor(space: Keys, value: object) -> object:  # noqa: ARG001
    """A tensor, which is described here."""
    if not isinstance(value, str | TensorSpec):
        raise _NotLoaded
    return value


def _load_object(space: Keys, value: object) -> object:  # noqa: ARG001
    return value


_TAGS = "collections.abc.Sequence[torch._C.Tag]"
_CASTERS: Mapping[str, Callable[[Keys, Any], object]] = {
    "str": _load_c_text,
    "std::string": _load_text,
    "bool": _load_bool,
    "uint16": _load_number(16),
    "uint32": _load_number(32),
    "uint64": _load_number(64),
    "object": _load_object,
    "torch.Tensor": _load_tensor,
    "c10::DispatchKey": _load_key,
    "torch._C.DispatchKey": _load_key,
    "c10::DispatchKeySet": _load_key_set,
    "torch._C.DispatchKeySet": _load_key_set,
    _TAGS: _load_tags,
}
_SHOWN = {"std::string": "str", "uint16": _NUMBER, "uint32": _NUMBER, "uint64": _NUMBER}
"""Names that a signature shows in place of C++'s types."""
