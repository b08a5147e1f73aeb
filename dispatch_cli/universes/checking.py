"""Consistency of a universe: everything that the engine takes for granted about it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from dispatch_cli.model.universe import (
    AD_INPLACE_OR_VIEW,
    AUTOGRAD,
    AUTOGRAD_OTHER,
    CATCH_ALL,
    EXPLICIT,
    PRIVATE_USE1,
    UNDEFINED,
    UNNAMED_BACKEND,
    Universe,
)

DENSE = "Dense"
"""The functionality after whose keys backends are named."""
MAX_BITS = 64
"""A set of keys is a 64-bit number: a bit per functionality, with Undefined, and per backend, as
``c10/core/DispatchKey.h`` asserts."""
MAX_BACKENDS = 16
"""``c10/core/DispatchKeySet.h`` has the backends of a functionality in 16 bits, and asserts it."""
MAX_PER_BACKEND = 16
"""Functionalities with a key per backend. PyTorch has six; so a table has at most some three hundred slots."""
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_NAME = re.compile(r"[\w.+-]{1,100}", re.ASCII)
_DEVICE = re.compile(r"[a-z_][a-z0-9_]{0,49}")
_BUILD = re.compile(r"[\w.+-]{0,200}", re.ASCII)
_GRAMMAR = {"name": (_NAME, "the name of a universe"), "torch": (_BUILD, "a version"), "git": (_BUILD, "a commit")}


class UniverseChecker:
    """Checker of what the engine takes for granted: each key is known, is one of its kind, and is there once."""

    def __init__(
        self, universe: Universe, lists: Sequence[str], maps: Sequence[str], add: Callable[[str], None]
    ) -> None:
        """Field names of lists, of maps to lists; *add* gets a message."""
        self._universe = universe
        self._lists, self._maps = lists, maps
        self._note = add
        self._ok = True

    def check(self) -> None:
        """Note every fault."""
        self._check_size()
        if not self._ok:
            return  # what is said of each key would be too much
        self._check_spelling()
        self._check_once()
        if self._ok:
            self._check_parts()
            if self._ok:  # else every field that names such a key would be a fault, too
                self._check_keys_of_fields()
            self._check_needed()

    def _check_size(self) -> None:
        """No more keys than PyTorch can have: every operator has a slot for each."""
        universe = self._universe
        functionalities, backends = len({*universe.functionalities}), len({*universe.backends})
        if backends > MAX_BACKENDS:
            self._add(f"field 'backends' has {backends} keys; PyTorch cannot have more than {MAX_BACKENDS}")
        elif functionalities + 1 + backends > MAX_BITS:
            have = f"fields 'functionalities' and 'backends' have {functionalities} and {backends} keys"
            most = f"PyTorch cannot have more than {MAX_BITS - 1} together, because a set of keys has {MAX_BITS} bits"
            self._add(f"{have}; {most}")
        elif len(universe.per_backend) > MAX_PER_BACKEND:
            have = f"field 'per_backend' has {len(universe.per_backend)} functionalities"
            self._add(f"{have}; at most {MAX_PER_BACKEND} are supported (PyTorch has six)")

    def _check_spelling(self) -> None:
        """Names are shown, matched and printed, so that they are spelled like those of PyTorch."""
        universe = self._universe
        for field, (grammar, words) in _GRAMMAR.items():
            text = getattr(universe, field)
            if not grammar.fullmatch(text):
                self._add(f"{text[:60]!r} cannot be {words}")
        keys = (*universe.runtime, *universe.functionalities, *universe.backends, *universe.ids, *universe.aliases)
        for key in dict.fromkeys(keys):
            if not _KEY.fullmatch(key):
                self._add(f"{key[:60]!r} cannot be the name of a dispatch key")
        for device in universe.devices:
            if not _DEVICE.fullmatch(device):
                self._add(f"{device[:60]!r} cannot be a device type")
        library = universe.torch_library
        texts = [fallback.debug for fallback in universe.fallbacks]
        texts += [*universe.fake_fallbacks, *universe.fake_numbered, universe.fake_device_error or ""]
        texts += [library.custom_op, library.fake, *library.functions, *library.functions.values(), *library.tags]
        texts += [*library.device_types, *library.autocast_devices]
        calls = universe.higher_order_calls
        errors = (calls.no_mode_rule, calls.no_subclass_rule, calls.unhandled or "")
        for text in (*texts, *(text.replace("\n", "") for text in errors)):
            if not text.isprintable():
                self._add(f"{text[:60]!r} has non-printable characters")

    def _check_once(self) -> None:
        universe = self._universe
        lists: dict[str, Iterable[str]] = {field: getattr(universe, field) for field in self._lists}
        lists["plain_devices"] = universe.plain_devices
        lists["fallbacks"] = [fallback.key for fallback in universe.fallbacks]
        for field, keys in lists.items():
            self._once((field,), keys)
        for field in self._maps:
            for name, keys in getattr(universe, field).items():
                self._once((field, name), keys)
        self._once(("ids",), [str(number) for number in universe.ids.values()])
        if UNDEFINED in universe.runtime:
            self._add(f"field 'runtime' names {UNDEFINED}, which is not a dispatch key")

    def _once(self, way: tuple[str, ...], names: Iterable[str]) -> None:
        seen: set[str] = set()
        for name in names:
            if name in seen:
                self._add(f"field {'.'.join(way)!r} has {name[:60]!r} twice")
            seen.add(name)

    def _check_parts(self) -> None:
        """Runtime keys are the functionalities, each as it is or once per backend."""
        universe = self._universe
        for functionality, keys in universe.per_backend.items():
            if functionality not in universe.functionalities or len(keys) != len(universe.backends):
                message = f"field 'per_backend.{functionality}' must be a functionality with one key per backend"
                self._add(message)
        expected = [key for name in universe.functionalities for key in universe.per_backend.get(name, (name,))]
        if odd := sorted({*expected} ^ {*universe.runtime}):
            message = f"fields 'runtime', 'functionalities' and 'per_backend' disagree about {', '.join(odd[:20])}"
            self._add(message)
        elif len(expected) != len({*expected}):
            self._once(("per_backend",), expected)
        for alias in universe.aliases:
            if alias in universe.slot or alias in universe.functionalities:
                self._add(f"{alias} is an alias key, but also a runtime key or a functionality")
        for key in (*universe.runtime, *universe.aliases, *universe.functionalities):
            if key not in universe.ids:
                self._add(f"field 'ids' does not have {key!r}")

    def _check_keys_of_fields(self) -> None:
        """Every key that a field names is a key of the universe, in a place where it makes sense."""
        universe = self._universe
        runtime, functionalities = {*universe.runtime}, {*universe.functionalities}
        lists: dict[tuple[str, ...], Iterable[str]] = {
            ("fallbacks",): [fallback.key for fallback in universe.fallbacks],
            ("autograd_backends",): universe.autograd_backends,
        }
        of_runtime_keys = ("autogradother_backends", "default_included", "default_excluded")
        for field in (*of_runtime_keys, "replaceable_fallbacks", "higher_order_fallthrough", "wrapped"):
            lists[field,] = getattr(universe, field)
        for field in ("aliases", "autograd_backends"):
            lists |= {(field, name): keys for name, keys in getattr(universe, field).items()}
        lists |= {("devices", device): [key] for device, key in universe.devices.items()}
        for way, named in lists.items():
            for key in named:
                if key not in runtime:
                    self._add(f"field {'.'.join(way)!r} names {key[:60]!r}, which is not a runtime key")
        for key, refreshed in universe.refreshes.items():
            way = ("refreshes", key)
            if key not in universe.ids or not {*runtime, UNDEFINED}.issuperset(refreshed):
                self._add(f"field 'refreshes.{key}' names a key that the universe does not have")
            elif key in runtime and key not in refreshed:
                self._add(f"field 'refreshes.{key}' lacks {key}: a registration always recomputes its own slot")
        named_functionalities: dict[str, tuple[str, ...]] = {
            "after_autograd": (universe.after_autograd,),
            "after_ADInplaceOrView": (universe.after_ADInplaceOrView,),
            "full_after_always": universe.full_after_always,
        }
        for field, keys in named_functionalities.items():
            for key in keys:
                if key not in functionalities:
                    self._add(f"field {field!r} names {key[:60]!r}, which is not a functionality")
        for device in universe.plain_devices:
            if device not in universe.devices:
                self._add(f"field 'plain_devices' names {device[:60]!r}, which is not in 'devices'")
        named = [device for device, key in universe.devices.items() if key == PRIVATE_USE1]
        if len(named) > 1:
            self._add(f"field 'devices' names {PRIVATE_USE1} more than once: {', '.join(named)}")
        elif UNNAMED_BACKEND in universe.devices and UNNAMED_BACKEND not in named:
            self._add(f"field 'devices.{UNNAMED_BACKEND}' must be {PRIVATE_USE1}")

    def _check_needed(self) -> None:
        """The keys without which the rules of the dispatcher cannot be applied."""
        universe = self._universe
        needed = (
            ("aliases", universe.aliases, (AUTOGRAD, CATCH_ALL, EXPLICIT)),
            ("runtime", universe.slot, (AUTOGRAD_OTHER, AD_INPLACE_OR_VIEW)),
            ("per_backend", universe.per_backend, (DENSE,)),
        )
        for field, there, keys in needed:
            for key in keys:
                if key not in there:
                    self._add(f"field {field!r} must have {key}")
        if not universe.backends:
            self._add("field 'backends' must name a backend")
        elif DENSE in universe.per_backend and universe.per_backend[DENSE] != universe.backends:
            self._add(f"field 'backends' must be field 'per_backend.{DENSE}'")
        for alias, covered in universe.aliases.items():
            if not covered:
                self._add(f"field 'aliases.{alias}' must name the keys that the alias covers")

    def _add(self, message: str) -> None:
        self._ok = False
        self._note(message)
