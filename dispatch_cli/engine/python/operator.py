"""An operator as Python's dispatcher has it: its kernels, the choice for a key, and the cache of choices.

Source: ``torch/_ops.py`` (``OperatorBase``, ``OpOverload._get_dispatch``). The cache is part of the behaviour:
``py_impl`` empties it, and a registration that is made in C++ or through ``torch.library`` does not, so that a choice
made earlier stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import NamedTuple

from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.dispatcher.refusal import Refusal, Refused
from dispatch_cli.engine.python import table as python_table
from dispatch_cli.engine.rules import Decision
from dispatch_cli.model.captured import StateSource
from dispatch_cli.model.declarations import PythonKernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import Problem, Related
from dispatch_cli.model.universe import PRE_DISPATCH, PYTHON


class Handles(Enum):
    """What a choice hands the call to."""

    CPP_KERNEL = "cpp-kernel"
    """The C++ kernel registered at the chosen key; a key without one gets what the slot of the table holds."""
    PYTHON_KERNEL = "python-kernel"
    """The Python kernel at the chosen key."""
    MODE_IMPLS = "mode-impls"
    """The Python key of an operator with rules for modes: the innermost mode's rule, else the C++ kernel there."""
    PRE_DISPATCH_MODE = "pre-dispatch-mode"
    """The innermost mode of the PreDispatch stack, taken off for the time of its handler."""


class Choice(NamedTuple):
    """What Python's dispatcher runs for a key.

    key: the key whose kernel runs, None when a mode handles the call. kernel: the Python kernel's name.
    decision: of ``resolve_key``, where it was asked.
    """

    handles: Handles
    key: str | None = None
    kernel: str | None = None
    decision: Decision | None = None


class PythonOperator:
    """One operator of a dispatcher, in Python (``torch._ops.OpOverload``).

    kernels: its Python kernels by dispatch key. modes: its implementations by mode type (``python_key_table``).
    cache: the choices made so far; it can be stale, see `is_stale`.
    """

    def __init__(self, dispatcher: Dispatcher, name: OperatorName, kernels: Iterable[PythonKernel] = ()) -> None:
        self.dispatcher = dispatcher
        self.name = name
        self._kernels = {kernel.dispatch_key: kernel.kernel for kernel in kernels}
        self._modes: dict[str, str] = {}
        self._cache: dict[str, Choice] = {}

    @property
    def kernels(self) -> Mapping[str, str]:
        """The Python kernels by dispatch key."""
        return self._kernels

    @property
    def modes(self) -> Mapping[str, str]:
        """The implementations by mode type or tensor subclass."""
        return self._modes

    @property
    def cache(self) -> Mapping[str, Choice]:
        """The choices that are remembered, by key."""
        return self._cache

    def py_impl(self, key: str, kernel: str) -> None:
        """Register a Python kernel at a dispatch key; the cache is emptied.

        Errors: Refused for a second kernel at a key, for the Python key, and for a key that the universe lacks.
        """
        self.dispatcher.check_key(key)
        message = refusal_text(self.name, key, key in self._kernels)
        if message is not None:
            raise Refused(Refusal.PYTHON_KERNEL, message)
        self._kernels[key] = kernel
        self._cache.clear()

    def py_impl_mode(self, mode: str, kernel: str) -> None:
        """Register an implementation for a mode type or tensor subclass; the cache is emptied.

        Errors: Refused for a second one.
        """
        if mode in self._modes:
            raise Refused(Refusal.PYTHON_KERNEL, f"<class '{mode}'> already registered in python_key_table")
        self._modes[mode] = kernel
        self._cache.clear()

    def uncache(self, key: str) -> None:
        """Forget the choice for one key (``_uncache_dispatch``); the others stay, whatever they depend on."""
        self._cache.pop(key, None)

    def resolve_key(self, key: str) -> str:
        """The key whose kernel runs. Errors: Refused, in PyTorch's words, where there is none or it is ambiguous."""
        return self._resolved(key, self._decision(key))

    def dispatch(self, key: str, pre_dispatch_modes: int = 0, python_excluded: bool = False) -> Choice:
        """What runs for a key: the remembered choice, or one made now and remembered.

        pre_dispatch_modes: how many modes are on the PreDispatch stack. python_excluded: the thread excludes the Python
        key, as inside a mode. Errors: Refused as in `resolve_key`.
        """
        cached = self._cache.get(key)
        if cached is not None:
            return cached
        choice = self._choose(key, pre_dispatch_modes, python_excluded)
        if key != PRE_DISPATCH:
            self._cache[key] = choice
        return choice

    def is_stale(self, key: str) -> bool:
        """Whether the remembered choice is another than the one that would be made now."""
        cached = self._cache.get(key)
        if cached is None:
            return False
        try:
            now = self._choose(key, 0, python_excluded=False)
        except Refused:
            return True
        return (cached.handles, cached.key, cached.kernel) != (now.handles, now.key, now.kernel)

    def _choose(self, key: str, pre_dispatch_modes: int, python_excluded: bool) -> Choice:
        if key == PYTHON:
            return Choice(Handles.MODE_IMPLS) if self._modes else Choice(Handles.CPP_KERNEL, key)
        if key == PRE_DISPATCH and pre_dispatch_modes and not python_excluded:
            return Choice(Handles.PRE_DISPATCH_MODE)
        decision = self._decision(key)
        chosen = self._resolved(key, decision)
        kernel = self._kernels.get(chosen)
        return Choice(Handles.CPP_KERNEL if kernel is None else Handles.PYTHON_KERNEL, chosen, kernel, decision)

    def _decision(self, key: str) -> Decision:
        return python_table.resolve_key(self.dispatcher, self.name, key, self._kernels)

    def _resolved(self, key: str, decision: Decision) -> str:
        chosen = python_table.chosen_key(key, decision)
        if chosen is None:
            raise Refused(Refusal.NO_KERNEL, python_table.error_text(self.name, key, decision.rule))
        return chosen


def refusal_text(name: OperatorName, key: str, taken: bool) -> str | None:
    """Why ``py_impl`` refuses a kernel at a key, in its words; None when it does not."""
    if key == PYTHON:
        return "Please register a mode for the DispatchKey.Python key instead."
    if taken:
        return f"Trying to override a python impl for {python_table.python_key_text(key)} on operator {name}"
    return None


def problems_of(declared: Iterable[PythonKernel], source: StateSource | None) -> Iterator[Problem]:
    """The declared Python kernels that ``py_impl`` refuses, beside those of a captured state; both places are named."""
    taken: dict[OperatorName, dict[str, PythonKernel]] = {}
    for kernel in declared:
        name, key = kernel.operator, kernel.dispatch_key
        if name not in taken:
            captured = source.python_kernels(str(name)) if source and str(name) in source.names else ()
            taken[name] = {place: PythonKernel(name, place, function) for place, function in captured}
        earlier = taken[name].get(key)
        message = refusal_text(name, key, earlier is not None and not kernel.replaces)
        if message is not None:
            place = earlier.span if earlier is not None else None
            related = (Related("the earlier kernel is here", place),) if place is not None else ()
            hint = "the state below the files has one already" if earlier is not None and place is None else None
            yield Problem(Refusal.PYTHON_KERNEL.value, message, kernel.span, hint=hint, related=related)
        else:
            taken[name][key] = kernel
