"""Kernels that PyTorch's Python code makes of a user's functions: ``torch.library.custom_op``, ``register_autograd``.

Sources: torch/_library/custom_ops.py, torch/_library/autograd.py, torch/autograd/function.py; of the fallback at
ADInplaceOrView, which makes a view of the first argument as the first result,
``autogradNotImplementedInplaceOrViewFallbackImpl`` in torch/csrc/autograd/autograd_not_implemented_fallback.cpp.
"""

from __future__ import annotations

from dispatch_cli.engine.call.errors import no_fake_impl, refused
from dispatch_cli.engine.call.options import select_registered_device
from dispatch_cli.engine.call.schema_facts import arguments_of, has_trivial_fake_impl
from dispatch_cli.engine.call.step import KernelStep, Moment, ends, raises, redispatches
from dispatch_cli.engine.call.tensors import Value
from dispatch_cli.engine.call.trace import Error, ErrorKind, Why
from dispatch_cli.model.kernel import Kernel, WrapKind
from dispatch_cli.model.schema.model import Argument, FunctionSchema, is_tensor
from dispatch_cli.model.schema.types import SchemaType, TypeKind
from dispatch_cli.model.text import printed_texts
from dispatch_cli.model.universe import AD_INPLACE_OR_VIEW

_CUSTOM_OPS = "custom_ops.py:"
"""Place where ``torch.library.custom_op`` registers kernels, in their debug texts."""
_OUT = "out"
"""The tag of operators that write to what they are given to write to."""
_START = "Fallback ADInplaceOrView kernel"


def wrapped(moment: Moment) -> KernelStep | None:
    """A kernel that PyTorch made of a known function, or for the lack of one; None where it can call anything."""
    kernel = moment.entry.kernel
    if kernel is not None and kernel.fake is not None and kernel.fake.function is None:
        trivial = has_trivial_fake_impl(moment.name, moment.schema, moment.operator.tags)
        return ends(Why.CORE_KERNEL) if trivial else raises(no_fake_impl(moment.name), Why.CORE_KERNEL)
    if kernel is None:
        return None
    why = Why.CORE_KERNEL if kernel.redispatches is None else Why.DECLARED
    if moment.slot == AD_INPLACE_OR_VIEW and _CUSTOM_OPS in kernel.debug:
        return in_place_or_view(moment, why)
    match kernel.wraps and kernel.wraps.kind:
        case WrapKind.AUTOGRAD:
            return autograd(moment, why)
        case WrapKind.VERSION_COUNTERS:
            return in_place_or_view(moment, why)
        case WrapKind.BACKEND_SELECT:
            return select_registered_device(moment)
        case WrapKind.AUTOCAST:
            error = _without_keywords(moment, kernel)
            return None if error is None else raises(error, why)
        case _:
            return None


def _without_keywords(moment: Moment, kernel: Kernel) -> Error | None:
    """Error of a kernel of ``register_autocast`` with arguments by keyword; the dispatcher leaves defaults out.

    Of what is passed beside tensors only the options are known, so others count only where they have no default.
    """
    arguments = () if moment.schema is None else moment.schema.arguments
    given = {name for name, _ in moment.options.given}
    names = [
        argument.name
        for argument in arguments
        if argument.kwarg_only and (argument.default is None or (argument.default == "None" and argument.name in given))
    ]
    if not names:
        return None
    end = f", got {names}" if _CUSTOM_OPS in kernel.debug else "."
    return Error(ErrorKind.UNSUPPORTED, "AssertionError", f"Custom ops do not support kwargs yet{end}")


def autograd(moment: Moment, why: Why) -> KernelStep:
    """The kernel at an autograd key: an ``autograd.Function`` if a gradient is needed; else it redispatches."""
    thread, maker = moment.thread, moment.maker
    if not maker.universe.torch_library.checks_gradients:
        if thread.layers:  # it makes an autograd.Function of every call
            return raises(_refused_in_transforms(), why)
    elif thread.gradients:
        if _OUT in moment.operator.tags and any(map(_needs_gradient, moment.values)):
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
