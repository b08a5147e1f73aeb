"""The thread-local include and exclude sets, and the guards that change them for a while.

Source: ``c10/core/impl/LocalDispatchKeySet.h`` and ``torch/csrc/utils/python_dispatch.cpp``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any, ClassVar

from dispatch_cli.bindings.keys import DispatchKey, KeySpace
from dispatch_cli.engine.keys.keyset import DispatchKeySet as KeyBits
from dispatch_cli.model.universe import AD_INPLACE_OR_VIEW, AUTOGRAD, PRE_DISPATCH, PYTHON, PYTHON_DISPATCHER

PYTHON_KEYS = (PYTHON, "PythonTLSSnapshot", PRE_DISPATCH)


class ThreadState(threading.local):
    """Each thread's sets; a fresh thread has the universe's defaults."""

    def __init__(self, space: KeySpace) -> None:
        self.space = space
        self.included = KeyBits.of(space.universe, space.universe.default_included)
        self.excluded = KeyBits.of(space.universe, space.universe.default_excluded)
        self.python_dispatcher = False
        self.only_lift_cpu_tensors = False
        self.reapply_views = False

    def is_included(self, key: DispatchKey | str) -> bool:
        """True if all bits of *key* are in the include set."""
        return _has(self.included, self.space.bits(key))

    def is_excluded(self, key: DispatchKey | str) -> bool:
        """True if all bits of *key* are in the exclude set."""
        return _has(self.excluded, self.space.bits(key))

    def set_included(self, key: DispatchKey | str, wanted: bool) -> None:
        """Put *key* into the include set, or take its functionality out."""
        self.included = _with(self.included, self.space.bits(key), wanted)

    def set_both(self, sets: tuple[KeyBits, ...]) -> None:
        """Replace both sets."""
        self.included, self.excluded = sets

    def set_python_dispatcher(self, on: bool) -> None:
        """Turn the Python dispatcher on or off (``PythonDispatcherTLS::set_state``), and its key with it."""
        self.python_dispatcher = on
        self.set_included(self.space.key(PYTHON_DISPATCHER), on)

    def set_excluded(self, key: DispatchKey | str, wanted: bool) -> None:
        """Put *key* into the exclude set, or take its functionality out."""
        self.excluded = _with(self.excluded, self.space.bits(key), wanted)


def _has(bits: KeyBits, wanted: KeyBits) -> bool:
    return (bits & wanted).bits == wanted.bits


def _with(bits: KeyBits, key: KeyBits, wanted: bool) -> KeyBits:
    if _has(bits, key) == wanted:
        return bits
    return bits | key if wanted else bits - key


Undo = Callable[[], object]
Change = Callable[[], Undo]
"""Changes the state of the thread, and returns what takes that back."""


def _change(read: Callable[[], Any], write: Callable[[Any], object], new: Callable[[Any], Any]) -> Change:
    """A change of a part of the state. new: its value, by the one before."""

    def change() -> Undo:
        before = read()
        write(new(before))
        return partial(write, before)

    return change


class KeySetGuard:
    """A change from ``__enter__`` to ``__exit__``, or the object's end. One *at once* begins with the object."""

    _make: ClassVar[Callable[..., Change]]
    _at_once: ClassVar[bool]
    _undo: Undo | None = None

    def __init__(self, *args: Any) -> None:
        self._change = self._make(*args)
        if self._at_once:
            self._undo = self._change()

    def __enter__(self) -> None:
        if not self._at_once:
            self.__exit__()
            self._undo = self._change()

    def __exit__(self, *_: object) -> None:
        undo, self._undo = self._undo, None
        if undo is not None:
            undo()

    def __del__(self) -> None:
        self.__exit__()


def guards_of(state: ThreadState) -> dict[str, type[KeySetGuard]]:
    """The classes of guards that work on a state, by their names in ``torch._C``."""
    space, universe = state.space, state.space.universe
    python = KeyBits.of(universe, [key for key in PYTHON_KEYS if key in universe.ids])
    # no backend bits: AutogradFunctionality stands for all of its keys
    autograd = KeyBits.of(universe, universe.aliases[AUTOGRAD])
    autograd = KeyBits(space.layout, autograd.bits & space.layout.functionality_mask)

    def adds(name: str, keys: KeyBits) -> Change:
        """Adds keys to a set. In the end that is as it was before, whatever was changed since."""
        return _change(partial(getattr, state, name), partial(setattr, state, name), lambda before: before | keys)

    def replaces(*sets: KeyBits) -> Change:
        """Replaces both sets, or none of them; in the end both are as they were before."""
        return _change(lambda: (state.included, state.excluded), state.set_both, lambda before: sets or before)

    def switches(on: bool) -> Change:
        """Turns the Python dispatcher on or off."""
        return _change(lambda: state.python_dispatcher, state.set_python_dispatcher, lambda _: on)

    def excludes(key: DispatchKey, enabled: bool) -> Change:
        """Excludes one key or no longer does, and in the end makes it for this one key as it was."""
        return _change(partial(state.is_excluded, key), partial(state.set_excluded, key), lambda _: enabled)

    makers: dict[str, Callable[..., Change]] = {
        "_ExcludeDispatchKeyGuard": lambda keyset, /: adds("excluded", space.bits_of(keyset)),
        "_IncludeDispatchKeyGuard": lambda key, /: adds("included", space.bits(key)),
        "_ForceDispatchKeyGuard": lambda include, exclude, /: replaces(space.bits_of(include), space.bits_of(exclude)),
        "_PreserveDispatchKeyGuard": lambda: replaces(),
        "_SetExcludeDispatchKeyGuard": lambda key, enabled, /: excludes(space.as_key(key), enabled),
        "_AutoDispatchBelowADInplaceOrView": lambda: adds("excluded", autograd.add(AD_INPLACE_OR_VIEW)),
        "_DisablePythonDispatcher": lambda: switches(False),
        "_EnablePreDispatch": lambda: adds("included", space.bits(PRE_DISPATCH)),
    }
    at_once: dict[str, Callable[..., Change]] = {
        "ExcludeDispatchKeyGuard": makers["_ExcludeDispatchKeyGuard"],
        "_AutoDispatchBelowAutograd": lambda: adds("excluded", autograd),
        "_DisableTorchDispatch": lambda: adds("excluded", python),
        "_EnablePythonDispatcher": lambda: switches(True),
    }
    return {
        name: type(
            name.removeprefix("_"),
            (KeySetGuard,),
            {"_make": staticmethod(make), "_at_once": name in at_once, "__signature__": signature(make)},
        )
        for name, make in {**makers, **at_once}.items()
    }
