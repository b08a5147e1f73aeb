"""The fields of higher-order operators and of modes in declarations."""

from __future__ import annotations

from dispatch_cli.declarations.formats.format_types import (
    AT,
    BARE_NAME,
    BOOLEAN,
    BOOLEANS,
    KEYS,
    NAME,
    TEXT,
    Field,
    Record,
    Type,
    choice,
    either,
    map_of,
    text_or,
)
from dispatch_cli.declarations.tree import Scalar
from dispatch_cli.model.higher_order import AUTOGRAD_NOT_IMPLEMENTED, ERROR_PLACES, RAISES, TRANSFORMS

NOT_IMPLEMENTED = "NotImplemented"
_RULE = text_or("a kernel name", "higher_order_impl")
_RULES = map_of(NAME, _RULE, "names to implementations")
HIGHER_ORDER_OPERATOR = Record(
    "higher_order_operator",
    "a higher-order operator",
    "An operator that has only Python implementations, registered in the order in which they are written. The "
    "universe says which keys fall through by default; a key with an implementation does not fall through.",
    (
        AT,
        Field("name", BARE_NAME, "Its name, without a namespace.", required=True),
        Field(
            "add",
            BOOLEAN,
            "Add the implementations to an existing operator with this name, from an earlier declaration or the "
            "embedded state; otherwise this operator replaces it.",
            default="false",
        ),
        Field(
            "dispatch",
            map_of(KEYS, _RULE, "dispatch keys to implementations"),
            "Its implementations by dispatch key (`py_impl`); several keys are separated by commas. `fallthrough` "
            "makes the key fall through.",
        ),
        Field(
            "autograd",
            _RULE,
            "Its autograd implementation (`py_autograd_impl`), registered at Autograd. It runs when a gradient is "
            "needed; otherwise the operator is called again below autograd.",
        ),
        Field("modes", _RULES, "Its implementations by mode type, such as `FakeTensorMode`."),
        Field("subclasses", _RULES, "Its implementations by tensor subclass."),
        Field(
            "transforms",
            map_of({"enum": list(TRANSFORMS)}, _RULE, "functorch transforms to implementations"),
            f"Its implementations by functorch transform (`TransformType`): {', '.join(TRANSFORMS)}.",
        ),
        Field(
            "functionalize",
            _RULE,
            "Its implementation for functionalization (`py_functionalize_impl`), registered at the dispatch key "
            "Functionalize, for FunctionalTensorMode, and at the transform Functionalize.",
        ),
        Field("side_effect", BOOLEAN, "It has a side effect, so that graphs must not drop its calls.", default="false"),
        Field("mutates", BOOLEAN, "It writes to its arguments, according to its `gen_schema`.", default="false"),
    ),
)
HIGHER_ORDER_RULE = Record(
    "higher_order_impl",
    "an implementation",
    "An implementation of a higher-order operator, when more than the name of its function is given. `fallthrough` "
    "instead of a name is short for `{fallthrough: true}`; in quotes, as in JSON, it is a name.",
    (
        Field("kernel", TEXT, "The name of its Python function.", excludes=("fallthrough",)),
        Field("fallthrough", BOOLEAN, "The dispatch key falls through; then there is no kernel.", default="false"),
        Field(
            "redispatches",
            Type("true, false or raises", (Scalar,), {"enum": [True, False, RAISES]}, (*BOOLEANS, RAISES)),
            "Whether it calls the operator again: at an autograd key, below autograd; at another key, without that "
            "key; in a mode, without that mode; in a transform, below that transform. `raises`: it always raises an "
            "error.",
            default=f"not known, but true for PyTorch's helper `{AUTOGRAD_NOT_IMPLEMENTED}`",
        ),
        Field(
            "error",
            either(TEXT, map_of({"enum": [*ERROR_PLACES.values()]}, TEXT, "places to strings")),
            "The error that an implementation with `redispatches: raises` raises, such as `ValueError: the text`. "
            f"For an implementation for functionalization: the errors by place ({', '.join(ERROR_PLACES.values())}); "
            "it raises only at the places that are named.",
        ),
        Field(
            "returns", choice(NOT_IMPLEMENTED), "It returns NotImplemented, so that the next implementation is tried."
        ),
        Field(
            "deferred_error",
            BOOLEAN,
            f"For `{AUTOGRAD_NOT_IMPLEMENTED}`: whether a call that needs a gradient fails only in the backward pass.",
            default="not known",
        ),
    ),
    ("kernel", "fallthrough"),
)
MODE = Record(
    "mode",
    "a mode type",
    "A subclass of `TorchDispatchMode`.",
    (
        Field(
            "supports_higher_order_operators",
            BOOLEAN,
            "Its `__torch_dispatch__` handles the higher-order operators that have no implementation for it.",
            default="false",
        ),
    ),
)
