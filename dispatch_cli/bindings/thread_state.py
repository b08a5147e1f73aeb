"""The thread-local include and exclude sets, and the guards that change them for a while.

Source: ``c10/core/impl/LocalDispatchKeySet.h`` and ``torch/csrc/utils/python_dispatch.cpp``.
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import ClassVar, TypeVar

from dispatch_cli.bindings.keys import BoundKeySet, DispatchKey, KeySpace, key_set
from dispatch_cli.engine.keys.keyset import DispatchKeySet as KeyBits
from dispatch_cli.model.universe import AD_INPLACE_OR_VIEW, AUTOGRAD


class ThreadState(threading.local):
    """Each thread's sets; a fresh thread has the universe's defaults."""

    def __init__(self, space: KeySpace) -> None:
        self.space = space
        self.included = KeyBits.of(space.universe, space.universe.default_included)
        self.excluded = KeyBits.of(space.universe, space.universe.default_excluded)

    def is_included(self, key: DispatchKey | str) -> bool:
        """Whether all bits of *key* are in the include set."""
        return _has(self.included, self.space.bits(self.space.convert(key)))

    def is_excluded(self, key: DispatchKey | str) -> bool:
        """Whether all bits of *key* are in the exclude set."""
        return _has(self.excluded, self.space.bits(self.space.convert(key)))

    def set_included(self, key: DispatchKey | str, wanted: bool) -> None:
        """Put *key* into the include set, or take its functionality out."""
        self.included = _with(self.included, self.space.bits(self.space.convert(key)), wanted)

    def set_excluded(self, key: DispatchKey | str, wanted: bool) -> None:
        """Put *key* into the exclude set, or take its functionality out."""
        self.excluded = _with(self.excluded, self.space.bits(self.space.convert(key)), wanted)


def _has(bits: KeyBits, wanted: KeyBits) -> bool:
    return (bits & wanted).bits == wanted.bits


def _with(bits: KeyBits, key: KeyBits, wanted: bool) -> KeyBits:
    if _has(bits, key) == wanted:
        return bits
    return bits | key if wanted else bits - key


class KeySetGuard:
    """A change of the sets between ``__enter__`` and ``__exit__``, which puts back what was there before."""

    state: ClassVar[ThreadState]
    _restores_included: ClassVar[bool] = False
    _restores_excluded: ClassVar[bool] = False
    _before: tuple[KeyBits, KeyBits] | None = None

    def __enter__(self) -> None:
        self.__exit__(None, None, None)
        self._before = (self.state.included, self.state.excluded)
        self._change()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is None:
            return
        included, excluded = self._before
        self._before = None
        if self._restores_included:
            self.state.included = included
        if self._restores_excluded:
            self.state.excluded = excluded

    def __del__(self) -> None:
        self.__exit__(None, None, None)

    def _change(self) -> None:
        """Change the sets."""


class ExcludeDispatchKeyGuard(KeySetGuard):
    """Excludes the keys of a set, too."""

    _restores_excluded = True

    def __init__(self, keyset: BoundKeySet, /) -> None:
        self._keyset = KeyBits(self.state.space.layout, key_set(self.state.space, keyset).raw_repr())

    def _change(self) -> None:
        self.state.excluded |= self._keyset


class IncludeDispatchKeyGuard(KeySetGuard):
    """Includes a key, too."""

    _restores_included = True

    def __init__(self, key: DispatchKey | str, /) -> None:
        self._key = self.state.space.bits(self.state.space.convert(key))

    def _change(self) -> None:
        self.state.included |= self._key


class ForceDispatchKeyGuard(KeySetGuard):
    """Replaces both sets."""

    _restores_included = _restores_excluded = True

    def __init__(self, include: BoundKeySet, exclude: BoundKeySet, /) -> None:
        space = self.state.space
        self._include = KeyBits(space.layout, key_set(space, include).raw_repr())
        self._exclude = KeyBits(space.layout, key_set(space, exclude).raw_repr())

    def _change(self) -> None:
        self.state.included, self.state.excluded = self._include, self._exclude


class PreserveDispatchKeyGuard(KeySetGuard):
    """Changes nothing, but puts both sets back in the end."""

    _restores_included = _restores_excluded = True


class SetExcludeDispatchKeyGuard(KeySetGuard):
    """Excludes one key or no longer does, and in the end makes it for this one key as it was."""

    def __init__(self, key: DispatchKey | str, enabled: bool, /) -> None:
        self._key = self.state.space.convert(key)
        self._enabled = enabled
        self._was_excluded = False

    def _change(self) -> None:
        self._was_excluded = self.state.is_excluded(self._key)
        self.state.set_excluded(self._key, self._enabled)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            self.state.set_excluded(self._key, self._was_excluded)
        super().__exit__(kind, error, trace)


class AutoDispatchBelowAutograd(KeySetGuard):
    """Excludes the functionalities that the Autograd alias covers."""

    _restores_excluded = True

    def _keys(self) -> KeyBits:
        """No backend bits: AutogradFunctionality stands for all of its keys."""
        space = self.state.space
        covered = KeyBits.of(space.universe, space.universe.aliases[AUTOGRAD])
        return KeyBits(space.layout, covered.bits & space.layout.functionality_mask)

    def _change(self) -> None:
        self.state.excluded |= self._keys()


class AutoDispatchBelowADInplaceOrView(AutoDispatchBelowAutograd):
    """Excludes ADInplaceOrView, too."""

    def _keys(self) -> KeyBits:
        return super()._keys().add(AD_INPLACE_OR_VIEW)


_GuardClass = TypeVar("_GuardClass", bound=KeySetGuard)


def guard_of(guard: type[_GuardClass], state: ThreadState) -> type[_GuardClass]:
    """The guard class that works on *state*, so that it is made with PyTorch's arguments only."""
    return type(guard.__name__, (guard,), {"state": state})
