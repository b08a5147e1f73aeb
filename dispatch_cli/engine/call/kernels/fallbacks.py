"""Steps of PyTorch's own backend fallbacks.

Sources: ``core/VariableFallbackKernel.cpp`` with ``torch/csrc/autograd/autograd_not_implemented_fallback.cpp``,
``native/MathBitsFallback.h``, ``ZeroTensorFallback.cpp``, ``FunctionalizeFallbackKernel.cpp``,
``TraceTypeManual.cpp``, ``core/NamedRegistrations.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from dispatch_cli.engine.call import fake_tensor_mode
from dispatch_cli.engine.call.errors import crash, meta, refused
from dispatch_cli.engine.call.kernels import functorch
from dispatch_cli.engine.call.schema_facts import arguments_of, has_aliases, is_optional_list, is_view, mixes_aliases
from dispatch_cli.engine.call.step import KernelStep, Moment, calls_anew, raises, redispatches
from dispatch_cli.engine.call.tensors import BIT_KEYS, Value, is_functional
from dispatch_cli.engine.call.trace import ErrorKind
from dispatch_cli.model.calls.call import Bit, Wrapper, WrapperKind
from dispatch_cli.model.schema.model import Argument, is_tensor_list, writes
from dispatch_cli.model.text import printed_texts
from dispatch_cli.model.universe import BACK, BATCHED, BATCHED_NESTED, FRONT, FUNCTIONALIZE, META, PRE_DISPATCH, PYTHON

PYTHON_TLS_SNAPSHOT = "PythonTLSSnapshot"


def fallback_of(moment: Moment) -> Callable[[Moment], KernelStep] | None:
    """Function for the core fallback at the moment's slot; None where it is not known."""
    if moment.slot in moment.maker.universe.aliases.get("Autograd", ()):
        return _autograd
    return _FALLBACKS.get(moment.slot)


def unwrap_functional(value: Value) -> Value:
    """The tensor that a functional tensor wraps; any other tensor as it is."""
    if is_functional(value) and value.inner is not None:
        return value.inner
    if value.spec is None and value.has(FUNCTIONALIZE):
        return value._replace(keyset=value.keyset.remove(FUNCTIONALIZE))
    return value


def _autograd(moment: Moment) -> KernelStep:
    """Autograd is not implemented: on below all autograd keys."""
    return redispatches(moment.below(moment.maker.universe.after_autograd))


def _on_below(moment: Moment) -> KernelStep:
    return redispatches(moment.below(moment.slot))


def _snapshot(moment: Moment) -> KernelStep:
    return redispatches(moment.below(moment.slot), thread=moment.thread._replace(snapshot=True))


def _math_bit(moment: Moment, bit: Bit, head: str, title: str) -> KernelStep:
    """Views go on as they are; for others, tensors with the bit are cloned, which clears it.

    head, title: of the fallback, as the error has them.
    """
    schema = moment.schema
    if mixes_aliases(schema):
        assert schema is not None, "only a schema has aliases"
        name = schema.name.name
        text = (
            f"Unsupported operator for {head}: {name}{title} fallback doesn't work for operators with a mix "
            "mutable and non-mutable inputs that alias with outputs, this must be implemented manually.  "
            "If you got this error on a core op, please report a bug to PyTorch."
        )
        return raises(refused(ErrorKind.ALIASES, text))
    if is_view(schema):
        return _on_below(moment)
    arguments = arguments_of(schema, len(moment.values))
    seen = [
        argument is None or not is_optional_list(argument.type) for argument in arguments
    ]  # the fallbacks look at tensors and at lists of tensors, and not into Tensor?[]
    with_bit = [
        argument
        for argument, value, is_seen in zip(arguments, moment.values, seen, strict=True)
        if is_seen and writes(argument) and value.has(BIT_KEYS[bit])
    ]
    if bit is Bit.ZEROTENSOR and with_bit:
        text = (
            "ZeroTensors are immutable. Please use the materialized zero tensor obtained using .clone() if you want "
            "a mutable tensor."
        )
        return raises(refused(ErrorKind.ALIASES, text))
    if with_bit:
        refusal = _mutable_refusal(moment, title, with_bit)
        if refusal is not None:
            return raises(refused(ErrorKind.ALIASES, refusal))
    fake_mode = fake_tensor_mode.active_fake_mode(moment.thread)
    if bit is not Bit.ZEROTENSOR and moment.thread.keys.excluded.has(FUNCTIONALIZE):
        functional = (
            value for value, is_seen in zip(moment.values, seen, strict=True) if is_seen and is_functional(value)
        )
        if any(value.has(BIT_KEYS[bit]) for value in functional):
            return raises(crash("a functional tensor has no data of its own, and its clone reads them"))
    inference = moment.thread.inference
    values = tuple(
        moment.maker.materialised(value, bit, inference) if is_seen else value
        for value, is_seen in zip(moment.values, seen, strict=True)
    )
    if bit is Bit.ZEROTENSOR:
        values = tuple(
            value if new is value else _new_zeros(moment, new, fake_mode)
            for new, value in zip(values, moment.values, strict=True)
        )
    return redispatches(moment.below(moment.slot), values=values)


def _new_zeros(moment: Moment, value: Value, fake_mode: str | None) -> Value:
    """The zeros that ``at::zeros`` makes on this thread: fake under such a mode, functional where the thread asks."""
    inference = moment.thread.inference
    if fake_mode is not None:
        value = fake_tensor_mode.made_by(fake_mode, moment.maker, value, inference)
    keys = moment.thread.keys
    if keys.included.has(FUNCTIONALIZE) and not keys.excluded.has(FUNCTIONALIZE):
        value = moment.maker.wrap(value, Wrapper(WrapperKind.FUNCTIONAL), inference)
    return value


def _mutable_refusal(moment: Moment, title: str, mutable: list[Argument | None]) -> str | None:
    """Error text of the math-bit fallbacks for tensors with the bit that are written to."""
    if any(argument is not None and is_tensor_list(argument.type) for argument in mutable):
        return (
            f" fallback doesn't currently support mutable TensorLists with {title} inputs. Please materialize all the "
            f"{title} input tensor(s) in the mutable TensorList inputs before calling {moment.name.name}"
        )
    if len(mutable) < 2:
        return None
    return (
        f"{title} fallback does not support operators with more than one mutable tensors with {title}bit set to true."
    )


def _functionalize(moment: Moment) -> KernelStep:
    """Functional tensors are unwrapped, and the operator is called again without functionalization."""
    if has_aliases(moment.schema):
        text = (
            f"{printed_texts.ALIASED_RESULT.format(op=moment.schema)}. We only support "
            "functionalizing operators whose outputs do not have alias annotations (e.g. 'Tensor(a)' is a Tensor with "
            "an alias annotation whereas 'Tensor' is a Tensor without. The '(a)' is the alias annotation). The alias "
            "annotation specifies that the output Tensor shares storage with an input that has the same annotation. "
            "Please check if (1) the output needs to be an output (if not, don't return it), (2) if the output "
            "doesn't share storage with any inputs, then delete the alias annotation. (3) if the output indeed shares "
            "storage with an input, then add a .clone() before returning it to prevent storage sharing and then "
            "delete the alias annotation. Otherwise, please file an issue on GitHub."
        )
        return raises(refused(ErrorKind.ALIASES, text))
    thread = moment.thread.exclude(moment.maker.known(FUNCTIONALIZE))
    return calls_anew(thread, tuple(map(unwrap_functional, moment.values)))


def _tracer(moment: Moment) -> KernelStep:
    """The call is recorded, and made again while nothing is recorded."""
    return calls_anew(moment.thread.without_included(moment.maker.known("Tracer")))


def _named(moment: Moment) -> KernelStep:
    text = (
        f"{printed_texts.NO_NAMES.format(op=moment.name)}. Please drop names via `tensor = tensor.rename(None)`, "
        "call the op with an unnamed tensor, and set names on the result of the operation."
    )
    return raises(refused(ErrorKind.UNSUPPORTED, text))


_FALLBACKS: dict[str, Callable[[Moment], KernelStep]] = {
    META: lambda moment: raises(meta(moment.name)),
    PYTHON: fake_tensor_mode.by_handler,
    PYTHON_TLS_SNAPSHOT: _snapshot,
    PRE_DISPATCH: _on_below,
    BIT_KEYS[Bit.CONJ]: partial(_math_bit, bit=Bit.CONJ, head="conjugate fallback", title="conjugate"),
    BIT_KEYS[Bit.NEG]: partial(_math_bit, bit=Bit.NEG, head="negation fallback", title="negation"),
    BIT_KEYS[Bit.ZEROTENSOR]: partial(_math_bit, bit=Bit.ZEROTENSOR, head="ZeroTensorFallback", title="ZeroTensor"),
    FUNCTIONALIZE: _functionalize,
    FRONT: functorch.front,
    BACK: functorch.back,
    BATCHED: functorch.batched,
    BATCHED_NESTED: functorch.batched,
    functorch.GRAD_WRAPPER: functorch.grad_wrapper,
    "Tracer": _tracer,
    "Named": _named,
}
