"""Kernels as the second argument of ``m.impl`` has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dispatch_cli.extract.cpp.brackets import angle_end, split, unwrapped
from dispatch_cli.extract.cpp.keys import key_of
from dispatch_cli.extract.cpp.tokens import CppToken, spelled
from dispatch_cli.extract.cpp.values import Lookup, called
from dispatch_cli.model.extracted import Unknown

MAX_WRAPPINGS = 20
"""Maximum number of calls around a function."""


class KernelArgument(NamedTuple):
    """A kernel.

    function: its name as it is written. key: of ``torch::dispatch``. function_tokens: the function alone.
    """

    function: str
    key: str | Unknown | None = None
    fallthrough: bool = False
    boxed_only: bool = False
    function_tokens: tuple[CppToken, ...] = ()


_WRAPPERS = frozenset({"TORCH_FN", "CppFunction", "makeFromUnboxedFunction", "makeFromUnboxedRuntimeFunction"})
_FUNCTORS = frozenset({"makeFromBoxedFunctor", "makeFromUnboxedFunctor"})
_CASTS = frozenset({"static_cast", "reinterpret_cast", "const_cast", "c10::guts::func"})


def kernel_of(tokens: Sequence[CppToken], near: Lookup, lookup: Lookup, steps: int = 0) -> KernelArgument:
    """Read the expression of a kernel. near: gives the values of names of the file; lookup: of all constants."""
    tokens = unwrapped(tokens)
    if not tokens or steps > MAX_WRAPPINGS:
        return KernelArgument(spelled(tuple(tokens)))
    tokens = _without_debug(tokens)
    if tokens[0].text == "[" and tokens[0].kind == "mark":
        return KernelArgument(f"lambda at {tokens[0].source.span(tokens[0].offset)}", function_tokens=tuple(tokens))
    if tokens[0].text == "&" and len(tokens) > 1:
        return kernel_of(tokens[1:], near, lookup, steps + 1)
    name, template, arguments = _call(tokens)
    if name == "dispatch" and arguments is not None and len(arguments) == 2:
        inner = kernel_of(arguments[1], near, lookup, steps + 1)
        return inner._replace(key=key_from(arguments[0], lookup))
    if name == "makeFallthrough":
        return KernelArgument("fallthrough", fallthrough=True)
    if name == "makeFromBoxedFunction":
        inner = kernel_of(template or (arguments[0] if arguments else []), near, lookup, steps + 1)
        return inner._replace(boxed_only=True)
    if name in _FUNCTORS and arguments:
        maker, type_name, _ = _call(unwrapped(arguments[0]))
        shown = spelled(tuple(type_name)) if maker in ("make_unique", "make_intrusive") and type_name else None
        return KernelArgument(shown or spelled(tuple(arguments[0])), boxed_only=name == "makeFromBoxedFunctor")
    if name == "makeNamedNotSupported":
        return KernelArgument(spelled(tuple(tokens)), boxed_only=True)
    if name == "TORCH_BOX" and arguments:
        return kernel_of(arguments[0], near, lookup, steps + 1)._replace(boxed_only=True)
    if name in _WRAPPERS and arguments:
        return kernel_of(arguments[0], near, lookup, steps + 1)
    if name in _CASTS and arguments:
        return kernel_of(arguments[0], near, lookup, steps + 1)
    if len(tokens) == 1 and tokens[0].kind == "name":
        value = near(tokens[0].text)
        if value and (value[0].text == "&" or _call(unwrapped(value))[0] in _WRAPPERS | _CASTS | {"dispatch"}):
            return kernel_of(value, near, lookup, steps + 1)
    text = spelled(tuple(tokens)).removeprefix("::")
    return KernelArgument(text, function_tokens=tuple(tokens))


def key_from(tokens: Sequence[CppToken], lookup: Lookup, steps: int = 0) -> str | Unknown:
    """The key that an expression stands for."""
    key = key_of(tokens)
    if key is not None:
        return key
    if steps < MAX_WRAPPINGS and len(tokens) and tokens[-1].kind == "name":
        value = lookup(tokens[-1].text)
        if value is not None:
            return key_from(unwrapped(value), lookup, steps + 1)
    call = called(tokens)
    if call is not None and call[0] in ("DispatchKey", "make_optional", "optional") and split(call[1]):
        return key_from(split(call[1])[0], lookup, steps + 1)
    return Unknown(spelled(tuple(tokens)))


def _without_debug(tokens: list[CppToken]) -> list[CppToken]:
    """Without ``.debug("...")`` at the end."""
    for index in range(len(tokens) - 1, 0, -1):
        if tokens[index].text == "debug" and tokens[index - 1].text == "." and tokens[-1].text == ")":
            return tokens[: index - 1] or tokens
    return tokens


def _call(tokens: Sequence[CppToken]) -> tuple[str, list[CppToken], list[list[CppToken]] | None]:
    """The name, the template arguments and the arguments of an expression that is one call."""
    index, name = 0, ""
    template: list[CppToken] = []
    while index < len(tokens):
        token = tokens[index]
        if token.kind == "name":
            name, template = token.text, []
        elif token.text == "<" and name:
            end = angle_end(tokens, index)
            if end is None:
                return "", [], None
            template = list(tokens[index + 1 : end - 1])
            index = end
            continue
        elif token.text != "::":
            break
        index += 1
    if not name or index == len(tokens) or tokens[index].text not in ("(", "{"):
        return "", [], None
    depth = 0
    for position in range(index, len(tokens)):
        text = tokens[position].text if tokens[position].kind == "mark" else ""
        depth += (text in ("(", "{", "[")) - (text in (")", "}", "]"))
        if depth == 0 and position + 1 < len(tokens):
            return "", [], None
    return name, template, split(tokens[index + 1 : -1])
