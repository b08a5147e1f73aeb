"""Values of expressions in registrations: texts, schemas, tags, dispatch keys and kernels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from dispatch_cli.extract.cpp.preprocessor.tokens import (
    CppToken,
    Lookup,
    inside,
    nesting,
    spelled,
    split,
    string_value,
    unwrapped,
    whole_call,
)
from dispatch_cli.model.sources.extracted import Unknown

_SAME = {
    "Autocast": "AutocastCUDA",
    "CPUTensorId": "CPU",
    "CUDATensorId": "CUDA",
    "DefaultBackend": "CompositeExplicitAutograd",
    "PrivateUse1_PreAutograd": "AutogradPrivateUse1",
    "PrivateUse2_PreAutograd": "AutogradPrivateUse2",
    "PrivateUse3_PreAutograd": "AutogradPrivateUse3",
}
"""Other names of keys in ``enum class DispatchKey`` (c10/core/DispatchKey.h)."""
_DEVICES = "CPU|CUDA|IPU|XLA|Lazy|XPU|MPS|Meta|HIP|ORT|MAIA|HPU|MTIA|PrivateUse1|VE|FPGA|Vulkan|Metal|Autograd"
"""Device types that ``torch::dispatch`` takes, and a key; the key has the same name (torch/library.h)."""
_KEY = re.compile(  # a name in other letters is a mistake where it is said to be PyTorch's
    rf"(?:::)?(?:(?:c10|at|torch)::)*(?:(?:DispatchKey|DeviceType)::(\w+)|k({_DEVICES}|(?<=::k)(?i:{_DEVICES})))"
)
_MACRO = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")

CATCH_ALL = frozenset({"CatchAll", "Undefined"})
"""A block or a kernel at these is for no particular key."""
MAX_STEPS = 20
"""Maximum number of names that stand for one another, and of calls around a text or a function."""
_TRANSPARENT = frozenset(
    {"TORCH_SELECTIVE_NAME", "TORCH_SELECTIVE_SCHEMA", "string", "string_view", "str", "parseSchema", "parseName"}
    | {"selective_name", "move", "c_str"}
)
_KINDS = {"FROM_SCHEMA": None, "CONSERVATIVE": "CONSERVATIVE", "PURE_FUNCTION": "PURE_FUNCTION"}
_WRAPPERS = frozenset(
    {"TORCH_FN", "CppFunction", "makeFromUnboxedFunction", "makeFromUnboxedRuntimeFunction"}
    | {"static_cast", "reinterpret_cast", "const_cast"}
)


def is_macro_like(name: str) -> bool:
    """True if a name looks like that of a macro, not of a namespace or key."""
    return _MACRO.fullmatch(name) is not None


def block_namespace(tokens: Sequence[CppToken]) -> str | Unknown:
    """The namespace of a block."""
    text = "".join(token.text for token in tokens)
    return text if text.isidentifier() and not is_macro_like(text) else Unknown(spelled(tuple(tokens)))


def no_value(_: str) -> None:
    """Lookup where there are no local names."""


def block_key(tokens: Sequence[CppToken]) -> str | Unknown | None:
    """The key of ``TORCH_LIBRARY_IMPL``: a member of ``c10::DispatchKey``."""
    text = "".join(token.text for token in tokens)
    if not text.isidentifier() or is_macro_like(text):
        return key_from(tokens)
    return None if text in CATCH_ALL else _SAME.get(text, text)


def key_from(tokens: Sequence[CppToken]) -> str | Unknown:
    """The key that an expression for a key or a device type names; ``CatchAll`` for the catch-all."""
    text = "".join(token.text for token in tokens)
    match = _KEY.fullmatch(text)
    if match is None:
        return Unknown(spelled(tuple(tokens)))
    member, constant = match.groups()
    if member is None:
        return constant
    return Unknown(text) if is_macro_like(member) else _SAME.get(member, member)


def resolved(tokens: Sequence[CppToken], lookup: Lookup) -> Sequence[CppToken]:
    """An expression without parentheses around it; that of a local name is its value."""
    tokens = unwrapped(tokens)
    for _ in range(MAX_STEPS):
        is_name = bool(tokens) and all(token.kind == "name" or token.text == "::" for token in tokens)
        value = lookup(tokens[-1].text) if is_name else None
        if not value:
            break
        tokens = unwrapped(value)
    return tokens


def text_of(tokens: Sequence[CppToken], lookup: Lookup, steps: int = 0) -> str | None:
    """The value of an expression that is a text; None where it is not known."""
    tokens = resolved(tokens, lookup)
    if not tokens or steps > MAX_STEPS:
        return None
    if all(token.kind in ("string", "raw") for token in tokens):
        return "".join(map(string_value, tokens))
    call = whole_call(tokens)
    if call.name in _TRANSPARENT and call.arguments:
        return text_of(call.arguments[0], lookup, steps + 1) if len(call.arguments) == 1 else None
    if len(tokens) > 4 and [token.text for token in tokens[-4:-1]] == [".", "c_str", "("]:
        return text_of(tokens[:-4], lookup, steps + 1)
    return None


def schema_of(tokens: Sequence[CppToken], lookup: Lookup) -> tuple[str | None, str | None]:
    """The schema in the first argument of ``m.def``, and its kind of alias analysis as in `ExtractedDefinition`."""
    call = whole_call(unwrapped(tokens))
    if call.name == "schema" and call.arguments:
        kinds = [_KINDS[token.text] for argument in call.arguments[1:2] for token in argument if token.text in _KINDS]
        return text_of(call.arguments[0], lookup), kinds[0] if kinds else None
    return text_of(tokens, lookup), None


def elements_of(tokens: Sequence[CppToken], lookup: Lookup) -> list[list[CppToken]] | None:
    """The elements of a list that is written down; None for something else."""
    tokens = resolved(tokens, lookup)
    opening = next((index for index, token in enumerate(tokens) if token.text == "{"), len(tokens))
    body, end = inside(tokens, opening)
    if opening == end or end != len(tokens) or any(nesting(token) for token in tokens[:opening]):
        return None
    return [element for element in split(body) if element]


def tags_of(tokens: Sequence[CppToken], lookup: Lookup) -> tuple[str, ...] | None:
    """The tags of a list such as ``{at::Tag::core}``, empty for one that is not known; None for something else."""
    elements = elements_of(tokens, lookup)
    if elements is None:
        return None
    values = [resolved(element, lookup) for element in elements]
    return tuple(value[-1].text if any(token.text == "Tag" for token in value) else "" for value in values)


class KernelArgument(NamedTuple):
    """A kernel.

    function: its name as it is written. key: of ``torch::dispatch``. function_tokens: the function alone.
    """

    function: str
    key: str | Unknown | None = None
    fallthrough: bool = False
    boxed_only: bool = False
    function_tokens: tuple[CppToken, ...] = ()


def kernel_of(tokens: Sequence[CppToken], lookup: Lookup, steps: int = 0) -> KernelArgument:
    """Read the expression of a kernel."""
    tokens = unwrapped(tokens)
    if not tokens or steps > MAX_STEPS:
        return KernelArgument(spelled(tuple(tokens)))
    for index in range(2, len(tokens) - 2):  # ``.debug("...")`` at the end
        is_debug = tokens[index].text == "debug" and tokens[index - 1].text == "."
        if is_debug and inside(tokens, index + 1)[1] == len(tokens):
            return kernel_of(tokens[: index - 1], lookup, steps + 1)
    if tokens[0].text == "[" and tokens[0].kind == "mark":
        return KernelArgument(f"lambda at {tokens[0].source.span(tokens[0].offset)}", function_tokens=tuple(tokens))
    if tokens[0].text == "&" and len(tokens) > 1:
        return kernel_of(tokens[1:], lookup, steps + 1)
    name, template, arguments, *_ = whole_call(tokens)
    if name == "dispatch" and len(arguments) == 2:
        inner = kernel_of(arguments[1], lookup, steps + 1)
        return inner._replace(key=key_from(arguments[0]))
    if name == "makeFallthrough":
        return KernelArgument("fallthrough", fallthrough=True)
    if name in ("makeFromBoxedFunction", "makeFromBoxedFunctor", "TORCH_BOX"):
        inner = kernel_of(template or (arguments[0] if arguments else []), lookup, steps + 1)
        return inner._replace(boxed_only=True)
    if name in _WRAPPERS and arguments:
        return kernel_of(arguments[0], lookup, steps + 1)
    if len(tokens) == 1 and tokens[0].kind == "name":
        value = lookup(tokens[0].text)
        is_name = value and all(token.kind == "name" or token.text in ("&", "::") for token in value)
        if value and (is_name or whole_call(unwrapped(value)).name in _WRAPPERS | {"dispatch"}):
            return kernel_of(value, lookup, steps + 1)
    text = spelled(tuple(tokens)).removeprefix("::")
    return KernelArgument(text, function_tokens=tuple(tokens))
