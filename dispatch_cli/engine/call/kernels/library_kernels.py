"""Kernels that PyTorch's Python code makes of a user's functions: ``torch.library.custom_op``, ``register_autograd``.

Sources: torch/_library/custom_ops.py, torch/_library/autograd.py, torch/autograd/function.py; of the fallback at
ADInplaceOrView, which makes a view of the first argument as the first result,
``autogradNotImplementedInplaceOrViewFallbackImpl`` in torch/csrc/autograd/autograd_not_implemented_fallback.cpp.
"""

from __future__ import annotations

import re

from dispatch_cli.engine.call.errors import no_fake_impl, refused
from dispatch_cli.engine.call.options import select_registered_device
from dispatch_cli.engine.call.schema_facts import arguments_of, has_trivial_fake_impl
from dispatch_cli.engine.call.step import KernelStep, Moment, ends, raises, redispatches
from dispatch_cli.engine.call.tensors import Value
from dispatch_cli.engine.call.trace import Error, ErrorKind, Why
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.model.kernel import Kernel, RedispatchKind, WrapKind, Wrapped
from dispatch_cli.model.schema import Argument, FunctionSchema, SchemaType, TypeKind
from dispatch_cli.model.schema.arguments import is_tensor
from dispatch_cli.model.text import printed_texts
from dispatch_cli.model.universe import AD_INPLACE_OR_VIEW, AUTOGRAD, BACKEND_SELECT

_OUT = "out"
"""The tag of operators that write to what they are given to write to."""
_CUSTOM_OPS = re.compile(r"[/\\]torch[/\\]_library[/\\]custom_ops\.py:[0-9]+")
"""Lines where ``torch.library.custom_op`` registers the kernels that it makes of a user's functions."""
_LIBRARY = re.compile(r"[/\\]torch[/\\]library\.py:[0-9]+")
"""Lines where ``torch.library.register_autograd`` does so, and ``torch.library.impl`` for functions as they are."""
_START = "Fallback ADInplaceOrView kernel"


def of_custom_op(kernel: Kernel | None) -> bool:
    """True if ``torch.library.custom_op`` has registered the kernel."""
    return kernel is not None and _CUSTOM_OPS.search(kernel.debug) is not None


def _is_generated(kernel: Kernel) -> bool:
    """True if a kernel that goes on below autograd is one that PyTorch made, as it is noted in a capture."""
    if kernel.wraps is not None:
        return kernel.wraps.kind is WrapKind.AUTOGRAD
    return of_custom_op(kernel) or _LIBRARY.search(kernel.debug) is not None


def declared(moment: Moment, kind: RedispatchKind, why: Why) -> KernelStep | None:
    """One of these kernels with a declared ``redispatches``, if PyTorch does more than that; None for others."""
    kernel = moment.entry.kernel
    if kernel is None:
        return None
    if kind is RedispatchKind.BELOW_KEY and moment.slot == AD_INPLACE_OR_VIEW and of_custom_op(kernel):
        return in_place_or_view(moment, why)
    if kind is RedispatchKind.BELOW_AUTOGRAD and _is_generated(kernel):
        return autograd(moment, why)
    is_autocast = kernel.wraps is not None and kernel.wraps.kind is WrapKind.AUTOCAST
    error = _without_keywords(moment) if kind is RedispatchKind.EXCLUDE and is_autocast else None
    return None if error is None else raises(error, why)


def wrapped(moment: Moment, dispatcher: Dispatcher, wraps: Wrapped) -> KernelStep | None:
    """A kernel that PyTorch made from a known function; None where that does not determine what it calls."""
    if wraps.kind is WrapKind.AUTOGRAD:
        return autograd(moment, Why.CORE_KERNEL)
    if wraps.kind is WrapKind.VERSION_COUNTERS:
        return in_place_or_view(moment, Why.CORE_KERNEL)
    return select_registered_device(moment, dispatcher) if wraps.kind is WrapKind.BACKEND_SELECT else None


def custom_op(moment: Moment, dispatcher: Dispatcher) -> KernelStep | None:
    """A kernel that ``torch.library.custom_op`` makes; None for one that is the user's own, such as a batching rule."""
    if moment.slot in moment.maker.universe.aliases.get(AUTOGRAD, ()):
        return autograd(moment, Why.CORE_KERNEL)
    if moment.slot == AD_INPLACE_OR_VIEW:
        return in_place_or_view(moment, Why.CORE_KERNEL)
    return select_registered_device(moment, dispatcher) if moment.slot == BACKEND_SELECT else None


def has_no_fake(kernel: Kernel | None) -> bool:
    """True if it is the kernel at Meta of an operator of ``custom_op`` without a fake implementation."""
    return kernel is not None and kernel.fake is not None and kernel.fake.function is None


def without_fake(moment: Moment) -> KernelStep:
    """Step of that kernel, which knows the results of an operator that only writes."""
    trivial = has_trivial_fake_impl(moment.name, moment.schema, moment.tags)
    return ends(Why.CORE_KERNEL) if trivial else raises(no_fake_impl(moment.name), Why.CORE_KERNEL)


def _without_keywords(moment: Moment) -> Error | None:
    """Error of a kernel of ``register_autocast`` with arguments by keyword; the dispatcher leaves defaults out.

    Of what is passed beside tensors only the options are known, so others count only where they have no default.
    """
    arguments = () if moment.schema is None else moment.schema.arguments
    given = {name for name, _ in moment.options.given}
    names = [
        argument.name
        for argument in arguments
        if argument.kwarg_only
        and (argument.default is None or (argument.default.value is None and argument.name in given))
    ]
    if not names:
        return None
    end = f", got {names}" if of_custom_op(moment.entry.kernel) else "."
    return Error(ErrorKind.UNSUPPORTED, "AssertionError", f"Custom ops do not support kwargs yet{end}")


def autograd(moment: Moment, why: Why) -> KernelStep:
    """The kernel at an autograd key: an ``autograd.Function`` if a gradient is needed; else it redispatches."""
    thread, maker = moment.thread, moment.maker
    if not maker.universe.torch_library.checks_gradients:
        if thread.layers:  # it makes an autograd.Function of every call
            return raises(_refused_in_transforms(), why)
    elif thread.gradients:
        if _OUT in moment.tags and any(map(_needs_gradient, moment.values)):
            name = moment.name.name.partition("::")[2]
            text = (
                f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
                "arguments requires grad."
            )
            return raises(refused(ErrorKind.UNSUPPORTED, text), why)
        if thread.layers and any(map(_needs_gradient, _positional(moment))):
            return raises(_refused_in_transforms(), why)
    below = moment.below(maker.universe.after_autograd)
    return redispatches(below, why, thread=thread.exclude(maker.autograd_keys))


def _refused_in_transforms() -> Error:
    text = (
        f"{printed_texts.FUNCTION_IN_TRANSFORM} (vmap, grad, jvp, jacrev, ...), it must "
        "override the setup_context staticmethod. For more details, please see "
        "https://pytorch.org/docs/main/notes/extending.func.html"
    )
    return refused(ErrorKind.TRANSFORM, text)


def _positional(moment: Moment) -> list[Value]:
    """The tensors that are not passed by keyword only."""
    arguments = arguments_of(moment.schema, len(moment.values))
    return [
        value
        for argument, value in zip(arguments, moment.values, strict=True)
        if argument is None or not argument.kwarg_only
    ]


def _needs_gradient(value: Value) -> bool:
    """``requires_grad`` of a tensor, of a wrapper that of its transform."""
    if value.wrapper is not None:
        return value.needs_gradient
    return value.spec is not None and value.spec.requires_grad


def in_place_or_view(moment: Moment, why: Why) -> KernelStep:
    """It goes on below its key; of a view that it cannot make it says so, of some only when the kernels have run."""
    library, schema = moment.maker.universe.torch_library, moment.schema
    step = redispatches(moment.below(moment.slot), why)
    if schema is None or not library.view_fallback:
        return step
    inputs, outputs = (_aliases(side) for side in (schema.arguments, schema.returns))
    text = _refused(inputs, outputs)
    if text is not None:
        return raises(_error(text), why)
    later = _unsupported(moment, schema) if inputs else None
    return step if later is None else step._replace(then=later._replace(slot=moment.slot))


def _aliases(arguments: tuple[Argument, ...]) -> list[int]:
    """The positions of what has an alias that is not written to."""
    return [at for at, item in enumerate(arguments) if item.alias is not None and not item.alias.write]


def _refused(inputs: list[int], outputs: list[int]) -> str | None:
    """Error text for the schema, before anything runs."""
    for indices, kind, others, gap in ((inputs, "input", "outputs", " "), (outputs, "output", "inputs", "")):
        if len(indices) > 1:
            return (
                f"{_START} expects only a single {kind} in the operator schema to have a non-write alias annotation "
                f"(i.e., 'Tensor(a)'). Non-composite functions where multiple {kind}s are aliased with {others} aren't "
                f"supported.{gap}Please rewrite your function as a composite function."
            )
    if (inputs, outputs) in (([], []), ([0], [0])):
        return None
    return (
        f"{_START} can only create view relationships between the first input and the first output (the output can be "
        "a vector of tensors). Please change the order of your operator's parameters so that this is the case."
    )


def _unsupported(moment: Moment, schema: FunctionSchema) -> Error | None:
    """The error for results and arguments, when the fallback makes the view."""
    if len(schema.returns) > 1 and is_tensor(schema.returns[0].type):
        return _error("ADInplaceOrView fallback only support single output view functions")
    arguments = arguments_of(schema, len(moment.values))
    others = [
        value
        for argument, value in zip(arguments, moment.values, strict=True)
        if argument is not None and argument is not schema.arguments[0] and is_tensor(argument.type)
    ]
    if any(not value.is_absent for value in others):
        return _error("Internal error in ADInplaceOrView fallback, unknown Tensor in the stack")
    if any(_is_symbolic(argument.real_type) for argument in schema.arguments):
        return _error("Custom ops that are views do not support SymInt. Please file an issue if you need it.")
    return None


def _is_symbolic(kind: SchemaType) -> bool:
    """``SymInt``, ``SymInt?`` or ``SymInt[]``."""
    inner = kind.contained[0] if kind.kind in (TypeKind.OPTIONAL, TypeKind.LIST) else kind
    return inner.text == "SymInt"


def _error(text: str) -> Error:
    return refused(ErrorKind.UNSUPPORTED, text)
