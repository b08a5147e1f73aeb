"""The kinds of texts that PyTorch prints about operators and dispatch."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class TextKind(Enum):
    """Which of PyTorch's texts it is; the value is the name in machine formats."""

    # a slot of the dispatch table has nothing, or not what a call needs
    NO_KERNEL = "no-kernel"
    NO_TENSORS = "no-tensors"
    NO_META = "no-meta"
    AMBIGUOUS = "ambiguous"
    NO_AUTOGRAD = "no-autograd"
    NO_PYTHON_KERNEL = "no-python-kernel"
    NO_BATCHING_RULE = "no-batching-rule"
    NOT_ON_MPS = "not-on-mps"
    NOT_ON_DEVICE = "not-on-device"
    RAN_ON_CPU = "ran-on-cpu"
    NO_NAMES = "no-names"
    # devices, dtypes, and what a kernel itself refuses
    NO_DEVICE_KERNEL = "no-device-kernel"
    NO_DTYPE = "no-dtype"
    NO_STUB = "no-stub"
    NOT_BUILT = "not-built"
    BAD_DEVICE = "bad-device"
    MIXED_DEVICES = "mixed-devices"
    META_MIXED = "meta-mixed"
    VIEW_FALLBACK = "view-fallback"
    BIT_FALLBACK = "bit-fallback"
    NO_AUTOCAST = "no-autocast"
    VIEW_SCHEMA = "view-schema"
    OVERRIDEABLE = "overrideable"
    NO_HOOKS = "no-hooks"
    WRONG_RETURNS = "wrong-returns"
    NOT_SYMBOLIC = "not-symbolic"
    DATA_GUARD = "data-guard"
    FALLTHROUGH_CALLED = "fallthrough-called"
    # fake and meta tensors
    NO_FAKE = "no-fake"
    FAKE_MODULE = "fake-module"
    DYNAMIC_OUTPUT = "dynamic-output"
    DATA_DEPENDENT = "data-dependent"
    FAKE_MIXED = "fake-mixed"
    FAKE_MODES = "fake-modes"
    FAKE_DATA = "fake-data"
    FAKE_DEVICES = "fake-devices"
    FAKE_MISMATCH = "fake-mismatch"
    FAKE_UNSUPPORTED = "fake-unsupported"
    FAKE_CLASS = "fake-class"
    META_DATA = "meta-data"
    # autograd
    NO_FORMULA = "no-formula"
    NOT_AT_AUTOGRAD = "not-at-autograd"
    NO_DERIVATIVE = "no-derivative"
    NO_SECOND_DERIVATIVE = "no-second-derivative"
    NO_INPUT_DERIVATIVE = "no-input-derivative"
    NOT_DIFFERENTIABLE = "not-differentiable"
    NO_FORWARD_AD = "no-forward-ad"
    OUT_GRADIENT = "out-gradient"
    WRONG_FORMULA = "wrong-formula"
    FORMULA_REFUSED = "formula-refused"
    INFERENCE_TENSOR = "inference-tensor"
    # vmap, functionalization, tensors of functorch
    VMAP_OFF = "vmap-off"
    VMAP_RANDOM = "vmap-random"
    VMAP_IN_PLACE = "vmap-in-place"
    VMAP_DATA = "vmap-data"
    VMAP_SHAPE = "vmap-shape"
    FUNCTION_TRANSFORM = "function-transform"
    CUSTOM_OP_TRANSFORM = "custom-op-transform"
    VMAP_RULE = "vmap-rule"
    FUNCTORCH_ESCAPED = "functorch-escaped"
    FUNCTIONALIZE_ALIAS = "functionalize-alias"
    FUNCTIONALIZE_MIXED = "functionalize-mixed"
    FUNCTIONALIZE_UNSUPPORTED = "functionalize-unsupported"
    NOT_DECOMPOSED = "not-decomposed"
    # registration
    OVERRIDDEN = "overridden"
    DEFINED_TWICE = "defined-twice"
    LIBRARY_TWICE = "library-twice"
    PYTHON_TWICE = "python-twice"
    PYTHON_IMPL_TWICE = "python-impl-twice"
    FALLBACK_TWICE = "fallback-twice"
    FAKE_TWICE = "fake-twice"
    META_FOR_COMPOSITE = "meta-for-composite"
    RESERVED_NAMESPACE = "reserved-namespace"
    OTHER_NAMESPACE = "other-namespace"
    WRONG_BLOCK = "wrong-block"
    BAD_KEY = "bad-key"
    BAD_SCHEMA = "bad-schema"
    MUTATES_ARGS = "mutates-args"
    SCHEMA_MISMATCH = "schema-mismatch"
    SIGNATURE_MISMATCH = "signature-mismatch"
    BAD_REGISTRATION = "bad-registration"
    DEVICE_NAME = "device-name"
    NO_DEVICE_MODULE = "no-device-module"
    LIBRARY_GONE = "library-gone"
    OLD_GUARD = "old-guard"
    # operators that are not found
    NOT_DEFINED = "not-defined"
    NO_OVERLOAD = "no-overload"
    NO_LIBRARY_FILE = "no-library-file"
    UNDEFINED_SYMBOL = "undefined-symbol"
    NO_CLASS = "no-class"
    WRONG_ARGUMENTS = "wrong-arguments"
    # subclasses, modes, higher-order operators
    NO_IMPL = "no-impl"
    """A higher-order operator has no implementation for a mode or a subclass."""
    NO_ENTRY = "no-entry"
    """A table of a higher-order operator has nothing for a transform or a mode."""
    HIGHER_ORDER_RULE = "higher-order-rule"
    HIGHER_ORDER_GRADIENT = "higher-order-gradient"
    NO_SUBCLASS = "no-subclass"
    NO_TORCH_FUNCTION = "no-torch-function"
    MIXED_DTENSOR = "mixed-dtensor"
    NO_SHARDING = "no-sharding"
    # what checks of operators found
    OPCHECK = "opcheck"
    OPCHECK_INPUTS = "opcheck-inputs"
    COMPILED_DIFFERS = "compiled-differs"
    ALIASED_OUTPUT = "aliased-output"
    WRONG_MUTATION = "wrong-mutation"
    WRONG_TAG = "wrong-tag"
    NOT_COMPOSITE = "not-composite"


class Message(NamedTuple):
    """Texts of one kind.

    says: the kind in a clause, with names in braces for what the text fills in. templates: as they read, see
    `template`. key: the dispatch key that they are about, where they name none. means: what PyTorch means, and which
    rule it comes from. user, author: what helps who calls the operator, and who wrote or registers it. warning: it is
    no error; the program goes on. wraps: it tells that another error happened, which says more. source: the function
    or file of PyTorch that prints it. instead_of: the kind whose texts are of this one where their traceback has a
    frame in the file `frame`.
    """

    kind: TextKind
    says: str
    templates: tuple[str, ...]
    source: str
    key: str | None = None
    means: str = ""
    user: tuple[str, ...] = ()
    author: tuple[str, ...] = ()
    warning: bool = False
    wraps: bool = False
    instead_of: TextKind | None = None
    frame: str = ""
