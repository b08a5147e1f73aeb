"""Refusals of ``torch.library.register_fake`` and ``Library.impl`` at Meta, in their words.

Sources: ``FakeImplHolder.register`` in ``torch/_library/fake_impl.py`` (2.4: ``AbstractImplHolder.register`` in
``abstract_impl.py``) and ``Library.impl`` in ``torch/library.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dispatch_cli.engine.table.registration import Refusal, Refused, Registration
from dispatch_cli.model.kernel import FakeImpl
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import IMPLICIT, META, Universe

if TYPE_CHECKING:
    from dispatch_cli.engine.dispatcher.operator import Operator


def active_fake(operator: Operator) -> Registration | None:
    """The registration of the fake implementation that runs: the newest one, whatever is active at Meta."""
    return next(
        (registration for registration in operator.kernels.get(META, ()) if registration.kernel.fake is not None), None
    )


def refuse_fake(universe: Universe, name: OperatorName, fake: FakeImpl, operator: Operator | None) -> None:
    """Raise Refused when PyTorch does not register the fake implementation."""
    if operator is None:
        raise Refused(Refusal.UNKNOWN_OPERATOR, f"operator {name} does not exist")
    may_override = universe.fake_overrides if fake.allow_override is None else fake.allow_override
    composite = operator.active(IMPLICIT)
    if not may_override:
        _refuse_override(universe, name, operator)
    elif composite is not None:
        raise _has_composite(name, composite)


def refuse_meta_kernel(name: OperatorName, operator: Operator | None) -> None:
    """Raise Refused when ``Library.impl`` does not register a kernel at Meta: the operator has a composite kernel.

    name: as the caller of ``Library.impl`` gives it. Only kernels that are there already count, and C++ is not asked.
    """
    composite = None if operator is None else operator.active(IMPLICIT)
    if composite is not None:
        raise _has_composite(name, composite)


def _has_composite(name: OperatorName, composite: Registration) -> Refused:
    return Refused(
        Refusal.FAKE_IMPL,
        f"We should not register a meta kernel directly to the operator '{name}', because it has a "
        "CompositeImplicitAutograd kernel in core. Instead we should let the operator decompose, and ensure that "
        "we have meta kernels for the base ops that it decomposes into.",
        composite,
    )


def _refuse_override(universe: Universe, name: OperatorName, operator: Operator) -> None:
    article = "a" if universe.fake_overrides else "an"
    earlier = active_fake(operator)
    start = f"register_fake(...): the operator {name} already has"
    if earlier is not None and earlier.kernel.fake is not None:
        source = earlier.kernel.fake.source or earlier.kernel.span or earlier.kernel.debug
        raise Refused(Refusal.FAKE_IMPL, f"{start} {article} fake impl registered at {source}.", earlier)
    meta = operator.active(META)
    if meta is not None:
        raise Refused(
            Refusal.FAKE_IMPL,
            f"{start} {article} DispatchKey::Meta implementation via a pre-existing torch.library or TORCH_LIBRARY "
            "registration. Please either remove that registration or don't call register_fake.",
            meta,
        )
    composite = operator.active(IMPLICIT)
    if composite is not None:
        raise Refused(
            Refusal.FAKE_IMPL,
            f"{start} an implementation for this device type via a pre-existing registration to "
            "DispatchKey::CompositeImplicitAutograd.CompositeImplicitAutograd operators do not need "
            f"{article} fake impl; instead, the operator will decompose into its constituents and those can have fake "
            "impls defined on them.",
            composite,
        )
