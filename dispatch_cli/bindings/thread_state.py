"""The thread-local include and exclude sets, and the guards that change them for a while.

Source: ``c10/core/impl/LocalDispatchKeySet.h`` and ``torch/csrc/utils/python_dispatch.cpp``.
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import ClassVar, TypeVar

from dispatch_cli.bindings.keys import BoundKeySet, DispatchKey, KeySpace
from dispatch_cli.engine.keys.keyset import DispatchKeySet as KeyBits
from dispatch_cli.model.universe import AD_INPLACE_OR_VIEW, AUTOGRAD, PRE_DISPATCH, PYTHON

PYTHON_DISPATCHER = "PythonDispatcher"
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


class KeySetGuard:
    """A change between ``__enter__`` and ``__exit__``."""

    state: ClassVar[ThreadState]
    _entered: bool = False

    @property
    def _space(self) -> KeySpace:
        return self.state.space

    def __enter__(self) -> None:
        self.__exit__(None, None, None)
        self._entered = True
        self._change()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._entered:
            self._entered = False
            self._undo()

    def __del__(self) -> None:
        self.__exit__(None, None, None)

    def _change(self) -> None:
        """Begin the change."""

    def _undo(self) -> None:
        """Take it back."""


class AtOnce(KeySetGuard):
    """A change that begins when the object is made, and ends with ``__exit__`` or with the object."""

    def _begin(self) -> None:
        """Begin; for the end of ``__init__``."""
        self._entered = True
        self._change()

    def __enter__(self) -> None:
        """Change nothing: it has begun."""


class _Adds(KeySetGuard):
    """Adds keys to a set. In the end that is as it was before, whatever was changed since."""

    _set: ClassVar[str]
    _keys: KeyBits

    def _change(self) -> None:
        self._before: KeyBits = getattr(self.state, self._set)
        setattr(self.state, self._set, self._before | self._keys)

    def _undo(self) -> None:
        setattr(self.state, self._set, self._before)


class ExcludeDispatchKeyGuard(_Adds):
    """Excludes the keys of a set, too."""

    _set = "excluded"

    def __init__(self, keyset: BoundKeySet, /) -> None:
        self._keys = self._space.bits_of(keyset)


class ExcludeAtOnceGuard(AtOnce, ExcludeDispatchKeyGuard):
    """``ExcludeDispatchKeyGuard`` without an underscore, which begins at once."""

    def __init__(self, keyset: BoundKeySet, /) -> None:
        super().__init__(keyset)
        self._begin()


class DisableTorchDispatch(AtOnce, ExcludeDispatchKeyGuard):
    """Excludes the keys at which modes and subclasses are asked."""

    def __init__(self) -> None:
        universe = self.state.space.universe
        self._keys = KeyBits.of(universe, [key for key in PYTHON_KEYS if key in universe.ids])
        self._begin()


class IncludeDispatchKeyGuard(_Adds):
    """Includes a key, too."""

    _set = "included"

    def __init__(self, key: DispatchKey | str, /) -> None:
        self._keys = self._space.bits(key)


class EnablePreDispatch(IncludeDispatchKeyGuard):
    """Includes PreDispatch."""

    def __init__(self) -> None:
        super().__init__(PRE_DISPATCH)


class _SwitchesPythonDispatcher(KeySetGuard):
    """Turns the Python dispatcher on or off, and in the end makes it as it was."""

    _on: ClassVar[bool]

    def _change(self) -> None:
        self._before = self.state.python_dispatcher
        self.state.set_python_dispatcher(self._on)

    def _undo(self) -> None:
        self.state.set_python_dispatcher(self._before)


class EnablePythonDispatcher(AtOnce, _SwitchesPythonDispatcher):
    """Turns the Python dispatcher on."""

    _on = True

    def __init__(self) -> None:
        self._begin()


class DisablePythonDispatcher(_SwitchesPythonDispatcher):
    """Turns the Python dispatcher off."""

    _on = False

    def __init__(self) -> None:
        super().__init__()


class _SavesBoth(KeySetGuard):
    """Puts both sets back in the end."""

    def _change(self) -> None:
        self._before = (self.state.included, self.state.excluded)

    def _undo(self) -> None:
        self.state.included, self.state.excluded = self._before


class ForceDispatchKeyGuard(_SavesBoth):
    """Replaces both sets."""

    def __init__(self, include: BoundKeySet, exclude: BoundKeySet, /) -> None:
        space = self.state.space
        self._include, self._exclude = space.bits_of(include), space.bits_of(exclude)

    def _change(self) -> None:
        super()._change()
        self.state.included, self.state.excluded = self._include, self._exclude


class PreserveDispatchKeyGuard(_SavesBoth):
    """Changes nothing."""

    def __init__(self) -> None:
        super().__init__()


class SetExcludeDispatchKeyGuard(KeySetGuard):
    """Excludes one key or no longer does, and in the end makes it for this one key as it was."""

    def __init__(self, key: DispatchKey | str, enabled: bool, /) -> None:
        self._key = key
        self._enabled = enabled

    def _change(self) -> None:
        self._was_excluded = self.state.is_excluded(self._key)
        self.state.set_excluded(self._key, self._enabled)

    def _undo(self) -> None:
        self.state.set_excluded(self._key, self._was_excluded)


class AutoDispatchBelowAutograd(AtOnce, ExcludeDispatchKeyGuard):
    """Excludes the functionalities that the Autograd alias covers."""

    def __init__(self) -> None:
        self._keys = _autograd(self.state.space)
        self._begin()


class AutoDispatchBelowADInplaceOrView(ExcludeDispatchKeyGuard):
    """Excludes ADInplaceOrView, too."""

    def __init__(self) -> None:
        self._keys = _autograd(self.state.space).add(AD_INPLACE_OR_VIEW)


def _autograd(space: KeySpace) -> KeyBits:
    """No backend bits: AutogradFunctionality stands for all of its keys."""
    covered = KeyBits.of(space.universe, space.universe.aliases[AUTOGRAD])
    return KeyBits(space.layout, covered.bits & space.layout.functionality_mask)


_GuardClass = TypeVar("_GuardClass", bound=KeySetGuard)


def guard_of(guard: type[_GuardClass], state: ThreadState) -> type[_GuardClass]:
    """The guard class that works on *state*, so that it is made with PyTorch's arguments only."""
    return type(guard.__name__, (guard,), {"state": state})
