"""The words by which a call is described: what the help lists, a shell completes, and ``explore`` offers.

`report.call_request` reads them.
"""

from __future__ import annotations

from collections.abc import Sequence

from dispatch_cli.model.call import CONTEXT_WORDS, TENSOR_WORDS, Absent, ContextKind, Layout
from dispatch_cli.model.options import DTYPES
from dispatch_cli.model.universe import Universe

NAMED_WORDS = ("subclass",)
"""The words of a tensor that need a name, as in ``subclass=NAME``."""
KEYS_AFTER = ("include", "exclude")
"""The contexts that need keys, as in ``exclude=KEY,KEY``."""
_WITH_A_VALUE = ("autocast", "mode", "pre_dispatch_mode", *KEYS_AFTER)
_ABSENT = tuple(absent.value for absent in Absent)


def devices(universe: Universe) -> tuple[str, ...]:
    """The devices, in the universe's order."""
    return tuple(universe.devices)


def tensor_words(universe: Universe, given: Sequence[str] = ()) -> tuple[str, ...]:
    """The words that can follow those of a tensor that are *given*: devices where none is, then the others."""
    words = tuple(one for one in TENSOR_WORDS if one not in given and not (given and one in _ABSENT))
    has_device = any(one.partition(":")[0] in universe.devices for one in given)
    return words if has_device else (*devices(universe), *words)


def contexts(universe: Universe) -> tuple[str, ...]:
    """The contexts whose words are whole: not ``include``, ``exclude`` and other modes, which need a name."""
    from dispatch_cli.engine.call.thread import INFRA_MODES, PRE_DISPATCH_MODES

    return (
        *(one for one in CONTEXT_WORDS if one not in _WITH_A_VALUE),
        *(f"{ContextKind.MODE.value}={name}" for name in INFRA_MODES),
        *(f"{ContextKind.PRE_DISPATCH_MODE.value}={name}" for name in PRE_DISPATCH_MODES),
        f"{ContextKind.INFERENCE_MODE.value}(False)",
        *autocasts(universe),
    )


def autocasts(universe: Universe) -> tuple[str, ...]:
    """The contexts of autocast, one for each device that has it."""
    from dispatch_cli.engine.keys.autocast import autocast_key_of

    found = (name for name, key in universe.devices.items() if autocast_key_of(universe, key))
    return tuple(f"{ContextKind.AUTOCAST.value} {name}" for name in found)


def context_keys(universe: Universe) -> tuple[str, ...]:
    """The keys that a thread can include and exclude."""
    return universe.slots[1:]


def option_words(universe: Universe, option: str) -> tuple[str, ...]:
    """The values of an option beside tensors: device, layout, dtype, generator."""
    if option == "layout":
        return tuple(layout.value for layout in Layout)
    return DTYPES if option == "dtype" else devices(universe)
