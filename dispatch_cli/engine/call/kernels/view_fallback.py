"""PyTorch's fallback at ADInplaceOrView, which ``torch.library.custom_op`` registers for operators with aliases.

Source: ``autogradNotImplementedInplaceOrViewFallbackImpl`` in
torch/csrc/autograd/autograd_not_implemented_fallback.cpp. It makes a view of the first argument as the first result.
"""

from __future__ import annotations

from dispatch_cli.engine.call.errors import refused
from dispatch_cli.engine.call.schema_facts import arguments_of
from dispatch_cli.engine.call.step import KernelStep, Moment, raises, redispatches
from dispatch_cli.engine.call.trace import Error, ErrorKind, Why
from dispatch_cli.model.schema import Argument, FunctionSchema, SchemaType, TypeKind
from dispatch_cli.model.schema.arguments import is_tensor

_START = "Fallback ADInplaceOrView kernel"


def in_place_or_view(moment: Moment, why: Why) -> KernelStep:
    """It goes on below its key; of a view that it cannot make it says so, of some only when the kernels have run."""
    library, schema = moment.maker.universe.torch_library, moment.schema
    step = redispatches(moment.below(moment.slot), why)
    if schema is None or (library is not None and not library.view_fallback):
        return step
    inputs, outputs = (_aliases(side) for side in (schema.arguments, schema.returns))
    text = _refused(inputs, outputs)
    if text is not None:
        return raises(_error(text), why)
    return step._replace(then=_unsupported(moment, schema)) if inputs else step


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
