"""One call of a recording, as `resolve` answers it: with the tensors and the thread that were observed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from itertools import zip_longest
from typing import Any

from dispatch_cli.answers.resolve.report import RecordedCallReport, resolve_report
from dispatch_cli.answers.trace.view import TraceView
from dispatch_cli.engine.call.tensors import Value
from dispatch_cli.model.calls.call import CallEnd, ContextKind
from dispatch_cli.trace.explained import Explained, flags_of, texts_of
from dispatch_cli.trace.facts import gradient_loss


def trace_call_report(view: TraceView, call: int) -> RecordedCallReport | None:
    """The report of a call; None where nothing can be said of it. Nothing is advised: it is what ran."""
    signature = view.recording.calls.signature[call]
    explained = view.happened.of_call(call)
    if explained.call is None:
        return None
    report = resolve_report(explained.state, explained.call, advised=False)
    universe = explained.state.dispatcher.universe
    values = {field.name: getattr(report, field.name) for field in fields(report)}
    if explained.changed:  # notes are about what is registered at the end
        values["notes"] = ()
    values |= {
        "over": (view.known.base,) if view.known.is_base else (),
        "tensors": tuple(_tensors(explained, view.recording.signatures[signature])),
        "contexts": tuple(_contexts(view, explained, signature)),
        "left_out": (),
        "gradient": None if view.facts.gives_gradient(call) else gradient_loss(explained, universe),
    }
    return RecordedCallReport(**values, predicted=_predicted(view, call), ended=explained.ended)


def _predicted(view: TraceView, call: int) -> tuple[str, ...]:
    """The keys of the kernels that are predicted, where something else was observed."""
    predicted, observed = view.explainer.of_call(call), view.happened.of_call(call)
    if observed.ended is not CallEnd.RETURNED and view.happened.difference(call) is None:
        return ()
    if [(hop.slot, hop.does) for hop in predicted.hops] == [(hop.slot, hop.does) for hop in observed.hops]:
        return ()
    return tuple(hop.slot for hop in predicted.hops)


def _tensors(explained: Explained, signature: Mapping[str, Any]) -> Iterator[str]:
    """Known facts about each tensor, in the words of `resolve`."""
    devices, subclasses = texts_of(signature, "devices"), texts_of(signature, "subclasses")
    grads = flags_of(signature, "requires_grad")
    for value, device, grad, subclass in zip_longest(explained.values, devices, grads, subclasses):
        if value is None:
            return  # there are fewer tensors than facts
        if value.is_absent:
            yield value.text
            continue
        words = [device or "no device", *(["requires_grad"] if grad else [])]
        words += [f"subclass={subclass}"] if subclass else []
        yield " ".join([*words, *reversed([*_wrappers(value)])])


def _wrappers(value: Value) -> Iterator[str]:
    """The wrappers of a tensor, the outermost first."""
    inner: Value | None = value
    while inner is not None:
        if inner.wrapper is not None:
            yield str(inner.wrapper)
        inner = inner.inner


def _contexts(view: TraceView, explained: Explained, number: int) -> Iterator[str]:
    """The state of the thread beside its keys, in the words of `resolve`."""
    thread = explained.thread
    if thread is None:
        return
    if thread.inference:
        yield ContextKind.INFERENCE_MODE.value
    elif not thread.gradients:
        yield ContextKind.NO_GRAD.value
    yield from (layer.kind.value for layer in thread.layers)
    names = texts_of(view.recording.signatures[number], "modes")
    yield from (f"mode={name or ''}" for name in names or [mode.name for mode in thread.modes])
    if thread.python_dispatcher:
        yield ContextKind.PYTHON_DISPATCHER.value
