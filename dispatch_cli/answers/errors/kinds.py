"""The kinds of texts that PyTorch prints about operators and dispatch."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from dispatch_cli.engine.rules import Rule


class TextKind(Enum):
    """A kind of PyTorch's texts; the value is the name in machine formats."""

    # a slot of the dispatch table has nothing, or not what a call needs
    NO_KERNEL = "no-kernel"
    NO_TENSORS = "no-tensors"
    NO_META = "no-meta"
    AMBIGUOUS = "ambiguous"
    NO_AUTOGRAD = "no-autograd"
    NO_BATCHING_RULE = "no-batching-rule"
    NOT_ON_DEVICE = "not-on-device"
    NO_NAMES = "no-names"
    # devices, dtypes, and what a kernel itself refuses
    RAN_ON_CPU = "ran-on-cpu"
    NO_DTYPE = "no-dtype"
    ARGUMENT_DTYPE = "argument-dtype"
    MIXED_DTYPES = "mixed-dtypes"
    NO_ATTENTION_KERNEL = "no-attention-kernel"
    NO_FLASH_ATTENTION = "no-flash-attention"
    UNDEFINED_TENSOR = "undefined-tensor"
    NO_STRIDES = "no-strides"
    NO_FALLBACK = "no-fallback"
    NO_STUB = "no-stub"
    NOT_BUILT = "not-built"
    EXTENSION_NOT_BUILT = "extension-not-built"
    MIXED_DEVICES = "mixed-devices"
    NO_GROUP_BACKEND = "no-group-backend"
    NO_DEVICE_MODULE = "no-device-module"
    NO_HOOKS = "no-hooks"
    # fake and meta tensors, symbols
    NO_FAKE = "no-fake"
    DYNAMIC_OUTPUT = "dynamic-output"
    DATA_DEPENDENT = "data-dependent"
    DATA_GUARD = "data-guard"
    FAKE_MIXED = "fake-mixed"
    FAKE_MISMATCH = "fake-mismatch"
    FAKE_MODES = "fake-modes"
    FAKE_DATA = "fake-data"
    FAKE_DEVICES = "fake-devices"
    SYMBOLIC_SIZES = "symbolic-sizes"
    FAKE_UNSUPPORTED = "fake-unsupported"
    META_DATA = "meta-data"
    # autograd
    NO_DERIVATIVE = "no-derivative"
    NO_GRAD_FN = "no-grad-fn"
    BAD_BACKWARD = "bad-backward"
    NO_SECOND_DERIVATIVE = "no-second-derivative"
    NO_FORWARD_AD = "no-forward-ad"
    OUT_GRADIENT = "out-gradient"
    INFERENCE_TENSOR = "inference-tensor"
    # vmap, functionalization, tensors of functorch
    VMAP_RANDOM = "vmap-random"
    VMAP_IN_PLACE = "vmap-in-place"
    VMAP_DATA = "vmap-data"
    VMAP_ESCAPED = "vmap-escaped"
    FUNCTION_TRANSFORM = "function-transform"
    FUNCTIONALIZE_ALIAS = "functionalize-alias"
    FUNCTIONAL_MIXED = "functional-mixed"
    # registration
    OVERRIDDEN = "overridden"
    DEFINED_TWICE = "defined-twice"
    LIBRARY_TWICE = "library-twice"
    FAKE_TWICE = "fake-twice"
    BAD_REGISTRATION = "bad-registration"
    BAD_SCHEMA = "bad-schema"
    SIGNATURE_MISMATCH = "signature-mismatch"
    # operators that are not found, calls that do not fit
    NOT_DEFINED = "not-defined"
    NO_LIBRARY_FILE = "no-library-file"
    UNDEFINED_SYMBOL = "undefined-symbol"
    OWN_SYMBOL = "own-symbol"
    NO_CLASS = "no-class"
    CLASS_PATH = "class-path"
    NO_API = "no-registration-api"
    WRONG_ARGUMENTS = "wrong-arguments"
    # subclasses, modes, higher-order operators, checks of operators
    NO_SUBCLASS = "no-subclass"
    MIXED_DTENSOR = "mixed-dtensor"
    NO_SHARDING = "no-sharding"
    NO_RULE = "no-rule"
    ALIASED_OUTPUT = "aliased-output"
    OPCHECK = "opcheck"
    WRONG_MUTATION = "wrong-mutation"
    # other parts of PyTorch
    AUTOGRAD_GRAPH = "autograd-graph"
    NOT_TRACED = "not-traced"
    INDUCTOR = "inductor"
    NOT_EXPORTED = "not-exported"
    INTERNAL_ASSERT = "internal-assert"
    LIBRARY_OF_GPU = "library-of-gpu"


class Message(NamedTuple):
    """The texts of one kind.

    says: the kind in a clause, with names in braces for what the text fills in. templates: as they read, see
    `template`. source: the function or file of PyTorch that prints it. key: the dispatch key that they are about, where
    they name none. means: PyTorch's meaning. user, author: advice for who calls the operator, and for who wrote or
    registers it; one that begins with ``[name]`` is for texts with that detail alone, with ``[!name]`` for those
    without. rules: of a kind about a slot, the rules that decide it where PyTorch prints the text. contexts: the
    details that the traceback adds, see `read.CONTEXTS`. warning: it is no error; the program goes on. aside: it is
    about another part of PyTorch, and explained only where a text has nothing about operators and dispatch.
    """

    kind: TextKind
    says: str
    templates: tuple[str, ...]
    source: str
    key: str | None = None
    means: str = ""
    user: tuple[str, ...] = ()
    author: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    contexts: tuple[str, ...] = ()
    warning: bool = False
    aside: bool = False
