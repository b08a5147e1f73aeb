"""Trace of a simulated call, step by step: plain results, without words for people.

A call begins with a *selection*: the arguments' key set, the thread's state and the fallthrough mask give the set whose
highest key is the slot. Each kernel that runs is a *hop*. A kernel may redispatch, which leads straight to the next
hop, or call the operator again, which begins with a selection.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.table import TableEntry
from dispatch_cli.model.calls.call import Context, TensorSpec
from dispatch_cli.model.calls.call import EndKind as EndKind
from dispatch_cli.model.calls.options import NO_OPTIONS, Options
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span


class MaskKind(Enum):
    """Fallthrough mask that was used (``DispatchKeyExtractor``)."""

    COMMON = "common"
    """All backends have the same."""
    BACKEND = "backend"
    """They differ: that of the highest backend of the set."""
    FIRST_BACKEND = "first-backend"
    """They differ, and the set has no backend: that of the first one."""
    NONE = "none"
    """A key set was given: no thread state and no mask."""


class Mask(NamedTuple):
    """A fallthrough mask. backend: whose it is, where the backends have different ones."""

    kind: MaskKind
    backend: str | None
    keyset: DispatchKeySet


class TensorArgument(NamedTuple):
    """One tensor as an operator gets it: as it is written, and its own key set."""

    tensor: str
    keyset: DispatchKeySet


class Selection(NamedTuple):
    """Selection of a key set by the arguments.

    arguments: the tensors, in order; keyset: the union of their key sets.
    included, excluded: the thread's state. unmasked: (keyset | included) - excluded.
    skipped: the slots of what the mask took away, highest first: their entries are fallthroughs.
    result: what is left; its highest key is the slot. generator: the key set of a generator, where it counts.
    """

    arguments: tuple[TensorArgument, ...]
    keyset: DispatchKeySet
    included: DispatchKeySet
    excluded: DispatchKeySet
    unmasked: DispatchKeySet
    mask: Mask
    skipped: tuple[str, ...]
    result: DispatchKeySet
    generator: DispatchKeySet | None = None


class Reached(Enum):
    """Way in which a kernel came to be called."""

    CALL = "call"
    """The call itself."""
    REDISPATCH = "redispatch"
    """By a redispatch with a key set: neither thread state nor mask count."""
    ANEW = "anew"
    """The operator was called again, with a selection of its own."""


class Does(Enum):
    """Kind of step that a kernel makes of the call."""

    ENDS = "ends"
    """It computes the result."""
    DECOMPOSES = "decomposes"
    """It calls other operators; this one's chain ends."""
    REDISPATCHES = "redispatches"
    """It goes on with the keys below."""
    CALLS_ANEW = "calls-anew"
    """It changes arguments or thread state and calls the operator again."""
    HANDS_OVER = "hands-over"
    """It hands over to a Python handler: a mode, or a tensor subclass."""
    RAISES = "raises"
    """It raises an error."""
    NOT_KNOWN = "not-known"
    """It is not known which kernel there is, if any."""


class Why(Enum):
    """Source of the knowledge of what a kernel does."""

    BACKEND = "backend"
    """A kernel at a backend key computes."""
    COMPOSITE = "composite"
    """A math, nested or batched-decomposition kernel is written in other operators."""
    CONVENTION = "convention"
    """It is assumed. A wrapper redispatches with the keys below its own functionality; one at BackendSelect that gets a
    device or a layout, with the key of these; a batching rule unwraps, and calls again."""
    DECLARED = "declared"
    """The kernel's declaration says so."""
    CORE_FALLBACK = "core-fallback"
    """It is a fallback of PyTorch itself, whose source says so."""
    CORE_KERNEL = "core-kernel"
    """It is a kernel of PyTorch itself, of a kind whose source says so."""
    NO_KERNEL = "no-kernel"
    """The slot has no kernel that can be run."""
    INCOMPLETE = "incomplete"
    """The state is incomplete, and what it lacks could fill the slot."""
    PYTHON = "python"
    """The Python dispatcher chose it."""
    OBSERVED = "observed"
    """It was seen in a recorded call, and is not what is predicted."""
    DISPATCHER = "dispatcher"
    """No implementation of a higher-order operator runs, or it does nothing by itself: PyTorch's dispatch decides."""
    HELPER = "helper"
    """The implementation is made by a helper of PyTorch, whose source says what it does."""
    UNKNOWN = "unknown"
    """Nothing is said about the implementation, which may do anything; the trace ends here."""


class PythonChoice(NamedTuple):
    """Choice of the Python dispatcher at a slot (``OpOverload._get_dispatch``).

    chosen_key: the key whose kernel runs, None where none is found. kernel: the Python kernel there; None when it is a
        C++ one.
    """

    rule: Rule
    chosen_key: str | None
    kernel: str | None


class OptionOrigin(Enum):
    """Origin of the value of an option of a factory."""

    GIVEN = "given"
    SCHEMA = "schema"
    """The schema has it as the default of the argument."""
    ASSUMED = "assumed"
    """It is not given, and PyTorch has such a default."""


class Option(NamedTuple):
    """An option of a factory, such as the layout ``sparse``."""

    value: str
    why: OptionOrigin


class ChosenBy(NamedTuple):
    """The options by which a kernel at BackendSelect chooses; None for one that it does not ask for."""

    device: Option
    layout: Option | None = None
    dtype: Option | None = None


class Hop(NamedTuple):
    """One kernel that runs.

    slot: the table slot. live: what the slot holds. canonical: what it should hold, where that is something else.
    keyset: the set that the kernel gets, whose highest key is the slot. reached: how; selection: of a call, or a call
        again.
    does, why: what the kernel does, and how that is known. passes: the set of its redispatch.
    python: the Python dispatcher's choice, when it is on; it decides in the place of *live*.
    excludes, includes: the keys by which it changes the thread's state for what it calls.
    chosen_by: the options by which a kernel at BackendSelect chose what it passes.
    """

    slot: str
    live: TableEntry
    canonical: TableEntry | None
    keyset: DispatchKeySet
    reached: Reached
    does: Does
    why: Why
    selection: Selection | None = None
    passes: DispatchKeySet | None = None
    python: PythonChoice | None = None
    excludes: DispatchKeySet | None = None
    includes: DispatchKeySet | None = None
    chosen_by: ChosenBy | None = None


class ErrorKind(Enum):
    """Kind of error that PyTorch raises."""

    NOT_DEFINED = "not-defined"
    """The operator has kernels and no definition: ``torch.ops`` has no attribute of its name."""
    NO_KERNEL = "no-kernel"
    """``Could not run 'OP' with arguments from the 'K' backend.``"""
    NO_TENSORS = "no-tensors"
    """``There were no tensor arguments to this function …``: the Undefined slot is missing."""
    NO_LAYOUT = "no-layout"
    """``Unsupported device type for mkldnn layout``: the options of a factory do not go together."""
    LAYOUT = "layout"
    """``unsupported tensor layout``: a composite kernel computes with strided tensors alone."""
    UNDEFINED = "undefined"
    """An undefined tensor where a generated kernel needs one."""
    FALLTHROUGH = "fallthrough"
    """The slot holds a fallthrough, and it is called."""
    AMBIGUOUS = "ambiguous"
    """The ambiguous AutogradOther kernel."""
    META = "meta"
    """The fallback at Meta."""
    STALE = "stale"
    """PyTorch's invariants do not hold for the operator, and it finds out while it reports another error."""
    ALIASES = "aliases"
    """A core fallback does not support the aliases of the schema."""
    TRANSFORM = "transform"
    """A functorch transform does not support the operator or its arguments."""
    PYTHON = "python"
    """The Python key or the Python dispatcher finds nothing to run."""
    MODES = "modes"
    """A fake mode refuses a tensor that is not its own."""
    FAKE = "fake"
    """A fake mode has nothing to run, or needs data that fake tensors do not have."""
    IMPL = "impl"
    """An implementation of a higher-order operator raises it, as its declaration says; no more may be known of it."""
    ENDLESS = "endless"
    """Kernels call one another endlessly: a RecursionError of Python, or the process ends, and there is no text."""
    CRASH = "crash"
    """PyTorch reads what is not there, and the process ends; the text is ours."""
    UNSUPPORTED = "unsupported"
    """A core fallback that supports nothing."""
    KERNEL = "kernel"
    """The kernel itself raises; the error is its own."""


class Error(NamedTuple):
    """An error as PyTorch raises it.

    type: the Python exception. text: PyTorch's own; a place in PyTorch's sources stands without its line, as
        ``KernelFunction.cpp``. whole: whether that is all of the text.
    tensor: the position, from 1, of the tensor that it is about; None where it is about none, or about all.
    slot: whose kernel raises it, once what it called has computed; None where the last kernel of the call does.
    operator: in whose call it is raised, where the last kernel calls another operator; None for the call's own.
    """

    kind: ErrorKind
    type: str
    text: str
    whole: bool = True
    tensor: int | None = None
    slot: str | None = None
    operator: OperatorName | None = None


class HandlerKind(Enum):
    """Kind of handler of a call in Python."""

    MODE = "mode"
    SUBCLASS = "subclass"


class Handler(NamedTuple):
    """A ``__torch_dispatch__`` that gets the call. name: the class. position: of its context or tensor, from 1."""

    kind: HandlerKind
    name: str
    position: int


class End(NamedTuple):
    """The end of a call.

    handler: of HANDLER, and of an error that a handler is known to raise. error: of ERROR.
    passed: the handlers that returned NotImplemented before, in the order in which they were asked.
    fake: of a call that FakeTensorMode computes, or fails to, what it runs.
    """

    kind: EndKind
    handler: Handler | None = None
    error: Error | None = None
    passed: tuple[Handler, ...] = ()
    fake: FakeOutcome | None = None


class Call(NamedTuple):
    """A simulated call.

    tensors, contexts, options: what was asked for.
    hops: the kernels that ran, in order; the last one is the end's, unless the slot was missing; its entry says so.
    """

    operator: OperatorName
    tensors: tuple[TensorSpec, ...]
    contexts: tuple[Context, ...]
    hops: tuple[Hop, ...]
    end: End
    options: Options = NO_OPTIONS

    @property
    def selection(self) -> Selection:
        """The selection that the call began with."""
        selection = self.hops[0].selection
        assert selection is not None, "the first hop is the call's"
        return selection


class FakePath(Enum):
    """Ways in which FakeTensorMode computes a call, in its order (``FakeTensorMode._dispatch_impl``)."""

    QUERY = "query"
    """It answers a question about a tensor by itself."""
    CONSTANT = "constant"
    """There is no fake tensor: the operator computes, and the result becomes a fake tensor."""
    DECOMPOSITION = "decomposition"
    """A Python decomposition (``torch._decomp.decomposition_table``)."""
    COMPOSITE = "composite"
    """The kernel at CompositeImplicitAutograd decomposes the operator (``OpOverload.decompose``)."""
    PRIM_META = "prim-meta"
    """The function of a primitive (``prim_meta_impl``)."""
    FAKE_IMPL = "fake-impl"
    """The fake implementation (``torch.library.register_fake``)."""
    IMPLEMENTATION = "implementation"
    """The mode's own function for the operator (``register_op_impl``)."""
    META = "meta"
    """The operator is called with Meta included: a Meta kernel, or one by which it decomposes."""
    TRIVIAL = "trivial"
    """There is nothing to compute: it returns nothing, or what it is given to write to."""
    FALLBACK = "fallback"
    """The operator's real kernel runs, on zeros of the same sizes (``run_fallback_kernel``)."""
    NONE = "none"
    """There is nothing to run: UnsupportedOperatorException."""


class FakeOutcome(NamedTuple):
    """Outcome of a call that FakeTensorMode takes.

    function: the Python function that runs, where it is known. key, kernel: of META and FALLBACK, where the call inside
    of the mode ends; of COMPOSITE, the kernel that decomposes. slots: the slots of the call inside of the mode.
    span: where the function or the kernel is declared.
    followed: False where a kernel calls other operators, and which ones is not known. When one of them has no kernel
        for these tensors, what is given as META or IMPLEMENTATION is really FALLBACK or NONE.
    zero_dim_works: of an error for tensors of two devices: there is none where the CPU tensors have no dimensions.
    """

    path: FakePath
    function: str | None = None
    key: str | None = None
    kernel: str | None = None
    slots: tuple[str, ...] = ()
    span: Span | None = None
    followed: bool = True
    zero_dim_works: bool = False
