"""Calls that show whether an operator works on fake tensors: one with real tensors, and the same with fake ones."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from dispatch_cli.engine.call import fake_errors
from dispatch_cli.engine.call.fake_dispatch import CONSTRUCTORS
from dispatch_cli.engine.call.fake_path import FakePath
from dispatch_cli.engine.call.options import option_argument
from dispatch_cli.engine.call.schema_facts import most_tensors
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.tensors import TensorMaker
from dispatch_cli.engine.call.thread import FAKE_TENSOR_MODE
from dispatch_cli.engine.call.trace import EndKind, Error
from dispatch_cli.engine.dispatcher.refusal import Refused
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.call import CallError, Context, ContextKind, TensorSpec
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.options import NO_OPTIONS, Options
from dispatch_cli.model.universe import META, Universe

KINDS = ("", "sparse", "sparse_csr", "mkldnn")
"""The kinds of tensors that can be fake."""
OF_THE_DATA = frozenset({fake_errors.DATA_DEPENDENT, fake_errors.DYNAMIC_SHAPE})
"""The errors that the mode raises for operators that need the data of their tensors, whatever is registered."""


def failure_on_fake_tensors(state: State, name: OperatorName, keys: Iterable[str]) -> Error | None:
    """The error of a call with fake tensors, where the same call with real ones works; None where all calls work.

    keys: where the operator has kernels; a call is made for the tensors of each. Errors: Refused for an unknown
    operator.
    """
    definition = state.dispatcher.operator(name).definition
    schema = None if definition is None else definition.known_schema
    specs = _specs(state.dispatcher.universe)
    real = [key for key in keys if key in specs and key != META]
    tried = dict.fromkeys(specs[key] for key in real) or dict.fromkeys([TensorSpec("cpu")])
    takes_tensors = schema is None or most_tensors(schema) != 0
    takes_device = option_argument(schema, "device") is not None
    for spec in tried:
        options = Options(spec.device) if takes_device and not takes_tensors else NO_OPTIONS
        tensors = (spec,) if takes_tensors else ()
        fake = tuple(tensor._replace(fake="") for tensor in tensors)
        works, _ = _call(state, name, tensors, (), options)
        if works:
            _, error = _call(state, name, fake, (Context(ContextKind.MODE, name=FAKE_TENSOR_MODE),), options)
            if error is not None and error.type not in OF_THE_DATA:
                return error
    return None


def _call(
    state: State, name: OperatorName, tensors: tuple[TensorSpec, ...], contexts: tuple[Context, ...], options: Options
) -> tuple[bool, Error | None]:
    """True if a call works; and the error of FakeTensorMode where that is what fails."""
    try:
        end = simulate(state, name, tensors, contexts, options=options).end
    except (CallError, Refused):
        return False, None
    # the mode's own functions for PyTorch's operators raise on purpose
    fails = end.fake is not None and (end.fake.path is not FakePath.IMPLEMENTATION or end.fake.function == CONSTRUCTORS)
    return end.kind is not EndKind.ERROR, end.error if fails else None


@lru_cache(maxsize=8)
def _specs(universe: Universe) -> dict[str, TensorSpec]:
    """A tensor for each backend key that one can have."""
    maker, specs = TensorMaker(universe), dict[str, TensorSpec]()
    for device in universe.devices:
        for kind in KINDS:
            spec = TensorSpec.parse(f"{device} {kind}".strip())
            try:
                specs.setdefault(maker.own_key(spec), spec)
            except CallError:
                continue
    return specs
