"""Answers about an operator on a backend: the backend, kinds of schemas, and what serves a call."""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.registration import schema_text_returns_tensors, schema_text_takes_tensors
from dispatch_cli.model.universe import Universe, autocast_key_of, autograd_key_of, backend_keys

_IN_PLACE = re.compile(r"[^_]_$|::__i\w+__$")
_ALIAS = re.compile(r"Tensor\(\w+\)")


class Service(Enum):
    """Outcome of a call on the backend.

    KERNEL: a kernel that is registered at the backend's key. COMPOSITE: a kernel at an alias key. FALLBACK: the backend
    fallback. ABOVE: a kernel at a key above that computes the result itself, so that the backend's slot is not asked.
    NOTHING: an error. NOT_KNOWN: the state is incomplete, and what it lacks would serve the call (`Covered.otherwise`).
    """

    KERNEL = "kernel"
    COMPOSITE = "composite"
    FALLBACK = "fallback"
    ABOVE = "above"
    NOTHING = "nothing"
    NOT_KNOWN = "not-known"


class NoService(Enum):
    """Reasons for which a call on the backend ends in an error.

    MISSING: the slot is empty. SKIPPED: the kernel there is a fallthrough, and nothing is below;
    or BackendSelect goes to the slot itself, where a fallthrough is an internal error. NO_TENSORS: the
    operator takes no tensors, nothing chooses a backend, and Undefined is empty. RAISES: the kernel only raises an
    error. NO_SCHEMA: the operator has kernels and is not defined.
    """

    MISSING = "missing"
    SKIPPED = "skipped"
    NO_TENSORS = "no-tensors"
    RAISES = "raises"
    NO_SCHEMA = "no-schema"


class Reach(Enum):
    """Way in which a call reaches a backend: by its tensors, by its argument ``device``, or not at all."""

    TENSORS = "tensors"
    DEVICE = "device"
    NOT = "not"


class Training(Enum):
    """Content of the autograd key of the backend, for a call with tensors that require a gradient.

    OWN: a kernel that is registered there. GENERIC: the kernel at the alias Autograd. MATH: a composite kernel, which
    calls operators that have derivatives. NONE: no kernel of the operator. BROKEN: nothing, or an ambiguity, so that
    every call outside of inference mode is an error. NO_TENSORS: the operator takes no tensors. NO_SCHEMA: it has
    kernels and is not defined. NOT_KNOWN: the state is incomplete.
    """

    OWN = "own"
    GENERIC = "generic"
    MATH = "math"
    NONE = "none"
    BROKEN = "broken"
    NO_TENSORS = "no-tensors"
    NO_SCHEMA = "no-schema"
    NOT_KNOWN = "not-known"


class Gradient(Enum):
    """Fate of the gradient where no autograd kernel of the operator runs, and another kernel serves it.

    WARNING: PyTorch's autograd fallback runs. The backward pass warns, and gives the gradient of what the kernel calls.
    DECOMPOSED_WITH_WARNING: the same, but where the composite kernel below calls operators that have derivatives, these
    count; the backward pass warns in any case.
    FALLBACK: a fallback that somebody else registered decides.
    DECOMPOSED: the autograd key is skipped, and the composite kernel below calls operators whose derivatives count.
    DROPPED: the autograd key is skipped; the result does not require a gradient, without a warning.
    """

    WARNING = "warning"
    DECOMPOSED_WITH_WARNING = "decomposed-with-warning"
    FALLBACK = "fallback"
    DECOMPOSED = "decomposed"
    DROPPED = "dropped"


class Covered(NamedTuple):
    """The kernel that serves an operator on a backend.

    slot: where the kernel that serves it runs, or else where the call ends in an error; rule: what fills that slot.
    source: the key that kernel is registered at; None for none. lack: of NOTHING, why.
    autograd_rule: what fills the slot of the autograd key; autograd_source: the key that kernel is registered at.
    gradient: of NONE, where something serves the operator.
    blockers: the keys whose kernels make the autograd slot ambiguous, or keep the math kernel away from it.
    otherwise: of NOT_KNOWN, what serves the operator if nothing is registered beyond what is known.
    bypassed: a math kernel at the autograd key keeps calls outside of inference mode from the kernel that serves.
    """

    service: Service
    reach: Reach
    slot: str
    rule: Rule
    source: str | None
    lack: NoService | None
    training: Training
    autograd_rule: Rule | None
    autograd_source: str | None
    gradient: Gradient | None
    blockers: tuple[str, ...]
    bypassed: bool
    otherwise: Service | None = None

    @property
    def served(self) -> bool | None:
        """True if a call outside of inference mode comes to a kernel that serves it; None where that is not known.

        What a composite kernel calls may still lack a kernel.
        """
        if self.service is Service.NOT_KNOWN or self.training is Training.NOT_KNOWN:
            return None
        return self.service is not Service.NOTHING and self.training is not Training.BROKEN


class CoveredBackend(NamedTuple):
    """A backend: its dispatch key, its device where it has a plain one, and the keys that its tensors carry as well.

    autograd, autocast: None where the universe has none.
    """

    key: str
    device: str | None
    autograd: str | None
    autocast: str | None


def backend_named(universe: Universe, text: str) -> CoveredBackend | None:
    """The backend that a dispatch key or a device type means, in any case; None where it means none."""
    key = universe.devices.get(text.lower()) or universe.key_named(text)
    return backend_of(universe, key) if key in backend_keys(universe) else None


def backend_of(universe: Universe, key: str) -> CoveredBackend:
    """The backend of a key at which calls with tensors end."""
    device = next((name for name, device_key in universe.devices.items() if device_key == key), None)
    _, component = universe.runtime_parts[key]
    autocast = None if component is None else autocast_key_of(universe, component)
    return CoveredBackend(key, device, autograd_key_of(universe, key), autocast)


class SchemaKind(Enum):
    """A kind of schema; each operator has the first that fits.

    OUT: it writes to tensors that are given by keyword, as `add.out`. INPLACE: it writes to what it is called on, and
    its name says so, as `add_` and `__iadd__`. MUTABLE: it writes to other arguments. VIEW: a result shares the memory
    of an argument. FACTORY: it takes no tensors, and returns some. FUNCTIONAL: all others.
    """

    OUT = "out"
    INPLACE = "inplace"
    MUTABLE = "mutable"
    VIEW = "view"
    FACTORY = "factory"
    FUNCTIONAL = "functional"


def schema_kind(schema: str) -> SchemaKind:
    """The kind of a printed schema."""
    head, _, rest = schema.partition("(")
    arguments, _, returns = rest.rpartition(") ->")
    if "!" in arguments.partition("*, ")[2]:
        return SchemaKind.OUT
    if "!" in arguments:
        return SchemaKind.MUTABLE if _IN_PLACE.search(head.partition(".")[0]) is None else SchemaKind.INPLACE
    if _ALIAS.search(returns) is not None:
        return SchemaKind.VIEW
    is_factory = schema_text_returns_tensors(schema) and not schema_text_takes_tensors(schema)
    return SchemaKind.FACTORY if is_factory else SchemaKind.FUNCTIONAL
