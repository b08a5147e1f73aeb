"""A kernel as it is registered, how it goes on with a call, what it is made of, and a definition's alias analysis."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from dispatch_cli.model.span import Span

if TYPE_CHECKING:
    from dispatch_cli.model.schema.model import FunctionSchema
    from dispatch_cli.model.sources.function_body import FunctionBody


class AliasAnalysisKind(Enum):
    """PyTorch's assumption about an operator's aliasing; the value is the name that a dump shows."""

    FROM_SCHEMA = "FROM_SCHEMA"
    CONSERVATIVE = "CONSERVATIVE"
    PURE_FUNCTION = "PURE_FUNCTION"


Data = bool | str | dict[str, str | list[str]]
"""The value in a declaration."""


class RedispatchKind(Enum):
    """The ways to go on; the value is the word for it in a declaration."""

    NO = "false"
    """The kernel computes the result itself; no other kernel of the operator runs."""
    BELOW_KEY = "below-key"
    """It redispatches with the keys below its own."""
    BELOW_AUTOGRAD = "below-autograd"
    """It redispatches with the keys below all autograd keys."""
    TO = "to"
    """It redispatches at a key of its choice."""
    EXCLUDE = "exclude"
    """It calls the operator again, with keys excluded on the thread."""
    UNWRAPPED = "unwrapped"
    """It takes off the wrappers of the innermost functorch transform, and calls the operator again below that."""
    OTHER_OPERATORS = "other-operators"
    """It calls other operators; the chain of this one ends."""
    RAISES = "raises"
    """It raises an error."""


class Redispatch(NamedTuple):
    """Way in which a kernel goes on. keys: of TO, the one; of EXCLUDE, all of them. span: where it is declared."""

    kind: RedispatchKind
    keys: tuple[str, ...] = ()
    span: Span | None = None

    @property
    def data(self) -> Data:
        """The value in a declaration."""
        word = str(self.kind.value)
        if self.kind is RedispatchKind.NO:
            return False
        if self.kind is RedispatchKind.TO:
            return {word: self.keys[0]}
        return {word: list(self.keys)} if self.kind is RedispatchKind.EXCLUDE else word

    @classmethod
    def of_data(cls, data: Data) -> Redispatch:
        """The redispatch with a value that `data` gave."""
        if isinstance(data, bool):
            return cls(RedispatchKind.BELOW_KEY if data else RedispatchKind.NO)
        if isinstance(data, str):
            return cls(RedispatchKind(data))
        word, keys = next(iter(data.items()))
        return cls(RedispatchKind(word), (keys,) if isinstance(keys, str) else tuple(keys))

    def __str__(self) -> str:
        return f"{self.kind.value} {', '.join(self.keys)}" if self.keys else self.kind.value


A_FUNCTION, THE_FAKE = "a Python function", "the fake implementation"
"""Words for functions without a name of their own."""


def shown_function(name: str, words: str = A_FUNCTION) -> str:
    """A Python function in reports: its name, or other words for one that is called ``_``."""
    return name if name.rpartition(".")[2].strip("_") else words


class FakeImpl(NamedTuple):
    """A fake implementation (``torch.library.register_fake``): what it is beside the kernel at Meta that it registers.

    function: the name of the Python function; None for the one that ``torch.library.custom_op`` registers while the
        user has registered none, which raises an error. source: where PyTorch says that it is, as ``FILE:LINE``.
    allow_override: whether it may take the place of another one or of a kernel at Meta; None for what PyTorch's
        ``register_fake`` does by default.
    """

    function: str | None = None
    source: str | None = None
    allow_override: bool | None = None


class WrapKind(Enum):
    """Wrapper that PyTorch registers around a user's function; the value is the word in a declaration."""

    FUNCTION = "function"
    """Nothing: ``torch.library.impl`` registers the function as it is."""
    KERNEL = "kernel"
    """``register_kernel`` and ``custom_op``: it checks that the results are no views of the arguments."""
    TRITON = "triton"
    """``triton_op``: the same; functionalization takes the operator apart, whatever its schema says."""
    AUTOGRAD = "autograd"
    """``register_autograd``: an ``autograd.Function`` around the kernels below autograd, with the user's backward."""
    VERSION_COUNTERS = "version-counters"
    """``custom_op`` of an operator that writes to its arguments, or returns views; no function of the user's."""
    BACKEND_SELECT = "backend-select"
    """``custom_op`` of an operator without tensors: it chooses a kernel by the device; no function of the user's."""
    VMAP = "vmap"
    """``register_vmap``: it takes off the wrappers of the innermost vmap for the user's batching rule."""
    AUTOCAST = "autocast"
    """``register_autocast``: it casts floating-point tensors and calls the operator without autocast."""


class Wrapped(NamedTuple):
    """A kernel that PyTorch made of a user's function.

    function: its name; None where the user has registered none: an operator of ``custom_op`` without a backward.
    place: where it is defined, as ``FILE:LINE``. setup_context: of AUTOGRAD, the function that saves for the backward.
    dtype: of AUTOCAST, what it casts to.
    """

    kind: WrapKind
    function: str | None = None
    place: str | None = None
    setup_context: str | None = None
    dtype: str | None = None

    def label(self, span: Span | None) -> str:
        """Name of the kernel in reports; a dump's text is the same for all kernels of an operator.

        span: where it is declared, which reports show beside it.
        """
        declared = None if span is None else f"{span.file}:{span.line}"
        place = "" if self.place in (None, declared) else f" at {self.place}"
        match self.kind:
            case WrapKind.AUTOGRAD:
                by = None if self.function is None else shown_function(self.function)
                return "autograd without a backward" if by is None else f"autograd by {by}{place}"
            case WrapKind.VERSION_COUNTERS:
                return "custom_op's count of versions"
            case WrapKind.BACKEND_SELECT:
                return "custom_op's choice by device"
            case WrapKind.AUTOCAST:
                return f"autocast to {self.dtype or 'another dtype'}"
            case _:
                return f"{shown_function(self.function or '_')}{place}"


class Kernel(NamedTuple):
    """One kernel as it is registered.

    debug: the text a dump shows for it; of a kernel declared by name, that name.
    function: identity of the function behind it. PyTorch takes two registrations of one function for equal;
        None stands for a function that nothing else registers.
    signature: the inferred signature, or None (boxed kernels and Python kernels have none).
    boxed, unboxed, fallthrough: the flags of the dump's brackets.
    python: the kernel is a Python function.
    span: where it is declared; None when it does not come from a file.
    redispatches: how it goes on with a call; None when nothing is said about it.
    wraps: the user's Python function that PyTorch made the kernel of, where that is known.
    fake: of a kernel at Meta that ``torch.library.register_fake`` registered, the fake implementation.
    when: the conditions of its registration; None where it has none.
    body: of the user's Python function, where its source is known. setup_body: of the one that saves for a backward.
    """

    debug: str
    function: str | None = None
    signature: FunctionSchema | None = None
    boxed: bool = True
    unboxed: bool = False
    fallthrough: bool = False
    python: bool = False
    span: Span | None = None
    redispatches: Redispatch | None = None
    fake: FakeImpl | None = None
    wraps: Wrapped | None = None
    when: str | None = None
    body: FunctionBody | None = None
    setup_body: FunctionBody | None = None

    @property
    def function_name(self) -> str | None:
        """The user's Python function that PyTorch made the kernel of, by name; None where none is known."""
        if self.wraps is not None:
            return self.wraps.function
        return None if self.fake is None else self.fake.function

    @property
    def label(self) -> str:
        """Name of the kernel in reports: the user's Python function, where that is known, or else what a dump shows."""
        if self.wraps is not None:
            return self.wraps.label(self.span)
        if self.fake is None:
            return shown_function(self.debug)
        return "custom_op's own" if self.fake.function is None else shown_function(self.fake.function, THE_FAKE)

    @property
    def shown_function(self) -> str:
        """The user's function in a sentence, without its place."""
        return shown_function(self.function_name or self.debug, A_FUNCTION if self.fake is None else THE_FAKE)
