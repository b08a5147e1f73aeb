"""The fields of higher-order operators and of modes in declarations."""

from __future__ import annotations

from dispatch_cli.declarations.format_types import (
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
    "An operator that has Python implementations only, registered in the order they are written. Keys that fall "
    "through by default are those of the universe; an implementation at such a key makes it one that does not.",
    (
        Field("name", BARE_NAME, "Its name, without a namespace.", required=True),
        Field(
            "add",
            BOOLEAN,
            "The implementations are added to the operator of this name that is declared before, or that the state "
            "has; otherwise this operator takes the other one's place.",
            default="false",
        ),
        Field(
            "dispatch",
            map_of(KEYS, _RULE, "dispatch keys to implementations"),
            "Its implementations by dispatch key (`py_impl`); several keys are separated by commas. The word "
            "`fallthrough` makes the key one that falls through.",
        ),
        Field(
            "autograd",
            _RULE,
            "Its derivative (`py_autograd_impl`), registered at Autograd: where no gradient is needed the operator is "
            "called again below autograd, otherwise the implementation runs.",
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
        Field("side_effect", BOOLEAN, "It has a side effect: graphs must not drop its calls.", default="false"),
        Field("mutates", BOOLEAN, "It writes to its arguments; its `gen_schema` says so.", default="false"),
    ),
)
HIGHER_ORDER_RULE = Record(
    "higher_order_impl",
    "an implementation",
    "An implementation of a higher-order operator, where the kernel's name alone does not say how a call goes on. The "
    "word `fallthrough` in place of a name is short for `{fallthrough: true}`.",
    (
        Field("kernel", TEXT, "The name of its Python function."),
        Field("fallthrough", BOOLEAN, "The dispatch key falls through; there is no kernel then.", default="false"),
        Field(
            "redispatches",
            Type("true, false or raises", (Scalar,), {"enum": [True, False, RAISES]}, (*BOOLEANS, RAISES)),
            "Whether it calls the operator again: below autograd at an autograd key, without its own key at another "
            "one, without its mode in a mode, with the transform taken off in a transform. `raises`: it raises an "
            "error, wherever it runs.",
            default=f"not known; PyTorch's helper `{AUTOGRAD_NOT_IMPLEMENTED}` does",
        ),
        Field(
            "error",
            either(TEXT, map_of({"enum": [*ERROR_PLACES.values()]}, TEXT, "places to texts")),
            "What it raises, such as `ValueError: the text`: of an implementation with `redispatches: raises`, or by "
            f"its place of one for functionalization ({', '.join(ERROR_PLACES.values())}), which raises at the places "
            "that are named.",
        ),
        Field("returns", choice(NOT_IMPLEMENTED), "It returns NotImplemented: the next one is asked."),
        Field(
            "deferred_error",
            BOOLEAN,
            f"Of `{AUTOGRAD_NOT_IMPLEMENTED}`: whether a call that needs a gradient fails only in the backward pass.",
            default="not known",
        ),
    ),
    ("kernel", "fallthrough"),
)
MODE = Record(
    "mode",
    "a mode type",
    "A type of `TorchDispatchMode`.",
    (
        Field(
            "supports_higher_order_operators",
            BOOLEAN,
            "Its `__torch_dispatch__` handles the higher-order operators that have no implementation for it.",
            default="false",
        ),
    ),
)
