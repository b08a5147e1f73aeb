"""Parts of a call, as a user writes it: its tensor arguments, and the contexts that it happens in.

The texts name devices and dispatch keys; whether they exist is the universe's to say, when the call is simulated.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

from dispatch_cli.model.text.suggest import suggestion

MAX_TEXT = 4096
"""Characters of one tensor or context; no text that a person writes is longer."""
MAX_WRAPPERS = 64
"""Wrappers of one tensor."""


class EndKind(Enum):
    KERNEL = "kernel"
    DECOMPOSITION = "decomposition"
    HANDLER = "handler"
    ERROR = "error"
    NOT_KNOWN = "not-known"


class CallEnd(Enum):
    """End of a recorded call; the value is the name in machine formats."""

    RETURNED = "returned"
    RAISED = "raised"
    UNFINISHED = "unfinished"
    """Its end is not recorded."""


class CallError(Exception):
    """A tensor, a context or a key set of a call that is not understood, or that the universe does not have.

    message: one sentence. text: what was written. hint: what to do, such as ``did you mean sparse?``
    """

    def __init__(self, message: str, text: str, hint: str | None = None) -> None:
        super().__init__(f"{message}; {hint}" if hint else message)
        self.message = message
        self.text = text
        self.hint = hint


class Layout(Enum):
    """Layout of a tensor's elements; the value is the word for it."""

    STRIDED = "strided"
    SPARSE = "sparse"
    SPARSE_CSR = "sparse_csr"
    SPARSE_CSC = "sparse_csc"
    SPARSE_BSR = "sparse_bsr"
    SPARSE_BSC = "sparse_bsc"
    MKLDNN = "mkldnn"
    JAGGED = "jagged"


class Bit(Enum):
    """A state of a tensor that has a dispatch key of its own; the value is the word for it."""

    CONJ = "conj"
    NEG = "neg"
    ZEROTENSOR = "zerotensor"


class WrapperKind(Enum):
    """Wrapper that functionalization or a functorch transform puts around a tensor; the value is the word for it."""

    FUNCTIONAL = "functional"
    BATCHED = "batched"
    GRAD = "grad-wrapped"


class Absent(Enum):
    """Stand-in for a tensor that is not there; the value is the word for it."""

    UNDEFINED = "undefined"
    """An undefined tensor, as C++'s ``Tensor()``; None becomes one where a schema has ``Tensor``."""
    NONE = "none"
    """None, for ``Tensor?``."""


class Wrapper(NamedTuple):
    """A wrapper around a tensor.

    level: the level of the functorch transform that made it, 1 for the outermost; None for one that the contexts
        decide.
    """

    kind: WrapperKind
    level: int | None = None

    def __str__(self) -> str:
        return self.kind.value if self.level is None else f"{self.kind.value}={self.level}"


class TensorSpec(NamedTuple):
    """One tensor argument.

    device: a device type of the universe, such as ``cuda``; None for the universe's first. number: the 0 of ``cuda:0``.
    quantized, nested: its kind of elements. requires_grad: changes no key. inference: made in inference mode.
    bits: conjugate, negative, zero tensor.
    fake: the name of its fake mode, empty when it was not named; None when it is no fake tensor.
    subclass: the name of its class when that has a ``__torch_dispatch__``.
    wrappers: of functionalization and of functorch, the innermost first.
    absent: it is no tensor; nothing else is said of it then.
    """

    device: str | None = None
    number: int | None = None
    layout: Layout = Layout.STRIDED
    quantized: bool = False
    nested: bool = False
    requires_grad: bool = False
    inference: bool = False
    bits: tuple[Bit, ...] = ()
    fake: str | None = None
    subclass: str | None = None
    wrappers: tuple[Wrapper, ...] = ()
    absent: Absent | None = None

    @classmethod
    def parse(cls, text: str) -> TensorSpec:
        """Read ``cuda:0 sparse requires_grad``: words in any order. Errors: CallError."""
        words = _words(text, "a tensor", "such as `cpu` or `cuda sparse`")
        absent = next((word for word in words if word in _ABSENT), None)
        if absent is not None:
            if len(words) > 1:
                raise CallError(f"{absent!r} cannot be combined with other words", text, f"write only `{absent}`")
            return TensorSpec(absent=_ABSENT[absent])
        fields: dict[str, object] = {}
        bits: list[Bit] = []
        wrappers: list[Wrapper] = []
        others: list[str] = []

        def set_once(field: str, value: object, word: str) -> None:
            if field in fields:
                raise CallError(f"a tensor has only one {field}, and {word!r} is a second one", text)
            fields[field] = value

        for word in words:
            name, equals, value = word.partition("=")
            if name in _NAMED:
                if not value and (equals or name == "subclass"):
                    raise CallError(f"{name!r} needs a name", text, f"write {name}=NAME")
                set_once(name, value, word)
            elif name in _WRAPPERS:
                wrappers.append(Wrapper(_WRAPPERS[name], _level(value, text) if equals else None))
            elif word in LAYOUTS:
                set_once("layout", LAYOUTS[word], word)
            elif word in _FLAGS:
                fields[word] = True
            elif word in _BITS:
                bits += [_BITS[word]] if _BITS[word] not in bits else []
            else:
                others.append(word)
        if len(wrappers) > MAX_WRAPPERS:
            raise CallError(f"a tensor cannot have more than {MAX_WRAPPERS} wrappers", text)
        device, number = _device(others, text)
        chosen = {"bits": tuple(bits), "wrappers": tuple(wrappers), **fields}
        return TensorSpec(device, number, **chosen)  # type: ignore[arg-type]

    def __str__(self) -> str:
        if self.absent is not None:
            return self.absent.value
        device = self.device or ""
        words = [device if self.number is None else f"{device}:{self.number}"]
        words += [self.layout.value] if self.layout is not Layout.STRIDED else []
        words += [flag for flag in _FLAGS if getattr(self, flag)]
        words += [bit.value for bit in self.bits]
        words += [f"fake={self.fake}" if self.fake else "fake"] if self.fake is not None else []
        words += [f"subclass={self.subclass}"] if self.subclass is not None else []
        words += [str(wrapper) for wrapper in self.wrappers]
        return " ".join(word for word in words if word)


class ContextKind(Enum):
    """A kind of context; the value is the word for it."""

    AUTOCAST = "autocast"
    INFERENCE_MODE = "inference_mode"
    NO_GRAD = "no_grad"
    ENABLE_GRAD = "enable_grad"
    BELOW_AUTOGRAD = "below_autograd"
    BELOW_AD_INPLACE_OR_VIEW = "below_ADInplaceOrView"
    FUNCTIONALIZE = "functionalize"
    ENABLE_FUNCTIONALIZATION = "enable_functionalization"
    SUSPEND_FUNCTIONALIZATION = "suspend_functionalization"
    VMAP = "vmap"
    GRAD = "grad"
    JVP = "jvp"
    MODE = "mode"
    PYTHON_DISPATCHER = "python_dispatcher"
    NO_PYTHON_DISPATCHER = "no_python_dispatcher"
    PRE_DISPATCH = "pre_dispatch"
    PRE_DISPATCH_MODE = "pre_dispatch_mode"
    INCLUDE = "include"
    EXCLUDE = "exclude"


class Context(NamedTuple):
    """One context manager, guard or transform around the call.

    device: of an autocast. name: the class of a mode. instance: which one of several of that class, as the 2 of
        ``mode=FakeTensorMode=2``. keys: the keys to include or exclude. enabled: whether autocast or inference mode is
        turned on, and not off.
    """

    kind: ContextKind
    device: str | None = None
    name: str | None = None
    instance: str | None = None
    keys: tuple[str, ...] = ()
    enabled: bool = True

    @classmethod
    def parse(cls, text: str) -> Context:
        """Read ``autocast cuda off``, ``mode=Name``, ``exclude=AutogradCPU,CPU``, ``no_grad`` … Errors: CallError."""
        words = _words(text, "a context", "such as `no_grad` or `autocast cpu`")
        head, equals, value = words[0].partition("=")
        if (enabled := _INFERENCE_MODE.get(head.lower())) is not None and len(words) == 1 and not equals:
            return Context(ContextKind.INFERENCE_MODE, enabled=enabled)
        kinds = {kind.value.lower(): kind for kind in ContextKind}
        kind = kinds.get(head.lower().removeprefix("torch.").removesuffix("()"))
        if kind is None:
            hint = (
                suggestion(head, CONTEXT_WORDS) or "`--help` of `dispatch-cli resolve` or `support` lists the contexts"
            )
            raise CallError(f"{head!r} is not a context", text, hint)
        rest = ([value] if equals else []) + words[1:]
        if kind is ContextKind.AUTOCAST:
            enabled = rest[1:] != ["off"]
            device = _one(
                rest if enabled else rest[:1], kind, "a device, such as `autocast cpu` or `autocast cpu off`", text
            )
            return Context(kind, device=device, enabled=enabled)
        if kind in (ContextKind.MODE, ContextKind.PRE_DISPATCH_MODE):
            example = f"the name of a mode, such as `{kind.value}=FunctionalTensorMode`"
            name, _, instance = _one(rest, kind, example, text).partition("=")
            return Context(kind, name=name, instance=instance or None)
        if kind in (ContextKind.INCLUDE, ContextKind.EXCLUDE):
            keys = tuple(key for part in rest for key in part.split(",") if key)
            if not keys:
                raise CallError(f"{kind.value!r} needs a dispatch key", text, f"write {kind.value}=KEY")
            return Context(kind, keys=keys)
        if rest:
            raise CallError(f"{kind.value!r} takes no argument, but is followed by {rest[0]!r}", text)
        return Context(kind)

    def __str__(self) -> str:
        word = self.kind.value
        if self.device is not None:
            return f"{word} {self.device}{'' if self.enabled else ' off'}"
        if not self.enabled:
            return f"{word}(False)"
        if self.name is not None:
            return f"{word}={self.name}" if self.instance is None else f"{word}={self.name}={self.instance}"
        return f"{word}={','.join(self.keys)}" if self.keys else word


_FLAGS = ("quantized", "nested", "requires_grad", "inference")
LAYOUTS = {layout.value: layout for layout in Layout} | {"sparse_coo": Layout.SPARSE, "_mkldnn": Layout.MKLDNN}
"""Layouts by their words, and by PyTorch's names where those are others."""
_BITS = {bit.value: bit for bit in Bit}
_WRAPPERS = {kind.value: kind for kind in WrapperKind} | {"grad_wrapped": WrapperKind.GRAD}
_NAMED = ("fake", "subclass")
_ABSENT = {absent.value: absent for absent in Absent}
TENSOR_WORDS = (
    *(layout.value for layout in Layout),
    *_FLAGS,
    *_BITS,
    *(kind.value for kind in WrapperKind),
    *_NAMED,
    *_ABSENT,
)
"""The words of a tensor that are not its device."""
_INFERENCE_MODE = {"inference_mode(true)": True, "inference_mode(false)": False}
CONTEXT_WORDS = tuple(kind.value for kind in ContextKind)
_DEVICE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?::([0-9]{1,4}))?", re.ASCII)
_LEVEL = re.compile(r"[1-9][0-9]{0,2}", re.ASCII)


def device_type(text: str) -> str:
    """The ``cuda`` of ``cuda:0``. Errors: CallError."""
    match = _DEVICE.fullmatch(text)
    if match is None:
        raise CallError("a device is a word, optionally with an index", text[:MAX_TEXT], "such as `cuda` or `cuda:0`")
    return match[1]


def _level(text: str, whole: str) -> int:
    if not _LEVEL.fullmatch(text):
        raise CallError(f"{text!r} is not a transform level", whole, "levels count from 1, which is the outermost")
    return int(text)


_DTYPE = re.compile(r"(torch\.)?(b?float|complex|u?int|q?u?int)[0-9]+|(torch\.)?(bool|half|double|long)")
_DTYPE_HINT = "a dtype does not change the keys of a tensor, except those of quantized tensors: write `quantized`"
_WORDS_HINT = "a device and what else the tensor is, in words with spaces between: `cuda requires_grad`"


def _device(words: list[str], text: str) -> tuple[str | None, int | None]:
    """The device among words that are nothing else; the others are mistakes."""
    if not words:
        return None, None
    match = _DEVICE.fullmatch(words[0])
    if len(words) == 1 and match is not None:
        return match[1], None if match[2] is None else int(match[2])
    for word in words:
        hint = suggestion(word, TENSOR_WORDS) or (_DTYPE_HINT if _DTYPE.fullmatch(word) else None)
        if hint is not None:
            raise CallError(f"{word!r} does not describe a tensor", text, hint)
    if len(words) > 1:
        both = f"{words[0]!r} and {words[1]!r} cannot both be the device: a tensor has one"
        raise CallError(both, text, _WORDS_HINT)
    raise CallError(f"{words[0]!r} is not a device, and does not describe a tensor", text, _WORDS_HINT)


def _one(rest: list[str], kind: ContextKind, what: str, text: str) -> str:
    if len(rest) != 1 or not rest[0]:
        raise CallError(f"{kind.value!r} needs {what}", text)
    return rest[0]


def _words(text: str, what: str, example: str) -> list[str]:
    if len(text) > MAX_TEXT:
        raise CallError(f"{what} cannot have more than {MAX_TEXT} characters", text[:64])
    words = text.split()
    if not words:
        raise CallError(f"{what} is empty", text, f"write one {example}")
    return words
