"""The reasons behind the cells of a support matrix, in words: why a call does not work, and what helps."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from dispatch_cli.engine.support.cell import Cell, Reason, SupportCall, Verdict
from dispatch_cli.model.calls.support import SupportContext
from dispatch_cli.model.names import OperatorName

MANY_TENSORS = 3
_WHY = {
    Reason.CALL: "PyTorch raises an error",
    Reason.NO_BACKEND_KERNEL: "no kernel serves the backend",
    Reason.NO_FAKE: "it has no fake kernel",
    Reason.NO_BACKWARD: "its backward pass raises: no derivative is registered",
    Reason.BACKWARD_WARNS: (
        "no derivative is registered: the gradient is that of the operators that the kernel calls, if any; the "
        "backward pass warns"
    ),
    Reason.GRADIENT_DROPPED: (
        "no derivative is registered: the gradient is that of the operators that the kernel calls, if any"
    ),
    Reason.NOT_FUNCTIONAL: (
        "no derivative is registered, and it writes to an argument or returns a view: the backward pass raises, or "
        "gradients are wrong"
    ),
    Reason.NOT_TRANSFORMED: "no derivative is registered: torch.func does not see the call",
    Reason.UNDECLARED_WRITE: "it returns nothing and declares no write, so torch.compile drops the call",
    Reason.MUTABLE_RESULT: "it returns what it writes to, which functionalization refuses",
    Reason.ALIASED_RESULT: "it returns an alias of an argument or of another result, which PyTorch refuses",
    Reason.NO_VMAP: "it has no batching rule, and vmap's fallback refuses it",
    Reason.NO_JVP: "it has no forward-mode derivative",
    Reason.AUTOGRAD_FUNCTION: "its autograd kernel does not work in torch.func's transforms",
    Reason.FUNCTION_ARGUMENTS: (
        "a Python function of it cannot be called with the schema's arguments, or returns a wrong number of values"
    ),
    Reason.CAST_COPY: "autocast casts a tensor that it writes to, and the write goes to the copy",
    Reason.LEFT_OUT: "register_autograd refuses gradients of calls that leave out arguments with defaults",
    Reason.NOT_DEFINED: "no operator of that name is defined, but others of its namespace are",
    Reason.NO_SCHEMA: "what was read has no schema of it",
    Reason.NO_KEY: (
        "its C++ kernel is registered without a key: this works if the kernel only calls PyTorch's operators, and not "
        "if it reads memory"
    ),
    Reason.INCOMPLETE: "the state lacks what decides it",
    Reason.ASSUMED: "it depends on what a kernel does, which no declaration says",
}
_DERIVATIVE = "register its derivative (torch.library.register_autograd)"
_OWN_FUNCTION = "call it in the forward of a torch.autograd.Function with setup_context, and use that in its place"
HELP = {
    Reason.NO_BACKEND_KERNEL: "register a kernel for the backend, or a composite one",
    Reason.NO_FAKE: "register a fake kernel (torch.library.register_fake)",
    Reason.NO_BACKWARD: _DERIVATIVE,
    Reason.BACKWARD_WARNS: _DERIVATIVE,
    Reason.GRADIENT_DROPPED: _DERIVATIVE,
    Reason.NOT_FUNCTIONAL: f"return a new tensor, and {_DERIVATIVE}; PyTorch takes none for writes and views",
    Reason.NOT_TRANSFORMED: _OWN_FUNCTION,
    Reason.UNDECLARED_WRITE: "declare the write: Tensor(a!) in the schema, or its name in mutates_args",
    Reason.MUTABLE_RESULT: (
        "let it return nothing; or, from PyTorch 2.13 on, the first argument, with the tag inplace, or those that are "
        "given by name, with the tag out"
    ),
    Reason.ALIASED_RESULT: "return a copy, or write it as a composite of PyTorch's operators",
    Reason.NO_VMAP: "register a batching rule (torch.library.register_vmap)",
    Reason.NO_JVP: "write it as a composite of PyTorch's operators, which have forward-mode derivatives",
    Reason.NO_AUTOCAST: (
        "register a fallthrough as the fallback at that key; if another library does so, name its declarations, too"
    ),
    Reason.AUTOGRAD_FUNCTION: _OWN_FUNCTION,
    Reason.FUNCTION_ARGUMENTS: "take the arguments of the schema; let a backward return a gradient for each of them",
    Reason.CAST_COPY: "register no autocast kernel for it, or one that casts no tensor that it writes to",
    Reason.NOT_DEFINED: "correct the name, define the operator, or name the source that defines it, too",
    Reason.NO_SCHEMA: "name the sources that define it, too, such as those in C++",
    Reason.LEFT_OUT: "pass every argument, or take the defaults out of the schema",
    Reason.NO_KEY: "register a kernel that reads memory for its backend (TORCH_LIBRARY_IMPL), and a fake kernel",
    Reason.ASSUMED: "declare what the kernel does (`redispatches`)",
}


_WHY_NOT_KNOWN = {
    Reason.UNDECLARED_WRITE: "its kernel may write to an argument, and the schema does not declare it",
    Reason.NO_BACKWARD: "it has a derivative for some calls only, if any",
    Reason.NO_JVP: "it has a forward-mode derivative for some calls only, if any",
    Reason.FUNCTION_ARGUMENTS: (
        "a Python function of it does not take some calls that the schema allows, or returns a wrong number of values"
    ),
}
_OF_FILES = (Reason.ASSUMED, Reason.NO_BACKWARD, Reason.NO_JVP)
"""Reasons about a kernel, with help for kernels that files register: a kernel of PyTorch's is not the user's."""


def reason_words(cell: Cell) -> str:
    """Reason why a call does not work, or why that is not known. No more than a sentence; without a full stop."""
    if cell.reason is Reason.CALL and cell.error is not None:
        return f"PyTorch raises: {cell.error}"
    if cell.reason is Reason.ASSUMED and cell.span is None:
        return "it depends on what a kernel of PyTorch's calls, or a mode does, which is not known"
    if cell.reason is Reason.INCOMPLETE and cell.key is not None:
        return f"what is registered at {cell.key} is not all known"
    if cell.reason is Reason.NO_AUTOCAST:
        return f"nothing is registered at {cell.key}: neither a kernel nor a fallback"
    if cell.reason in _WHY_NOT_KNOWN and cell.verdict is Verdict.NOT_KNOWN:
        return _WHY_NOT_KNOWN[cell.reason]
    return "" if cell.reason is None else _WHY[cell.reason]


def help_words(cell: Cell) -> str | None:
    """Advice, where the reason gives any."""
    if cell.reason is None or (cell.reason in _OF_FILES and cell.span is None):
        return None
    return HELP.get(cell.reason)


def contexts_words(contexts: Iterable[SupportContext]) -> str:
    """Contexts in a sentence, in their usual order: ``eager, train and vmap``."""
    words = [context.value for context in SupportContext if context in frozenset(contexts)]
    return " and ".join((*(", ".join(words[:-1]),), words[-1])) if len(words) > 1 else words[0]


def call_options(call: SupportCall) -> tuple[str, ...]:
    """The options of ``resolve`` for a call. One of many equal tensors is enough: it has the keys of all."""
    tensors = call.tensors[:1] if len(call.tensors) > MANY_TENSORS and len({*call.tensors}) == 1 else call.tensors
    options = {"--tensor": tensors, "--context": call.contexts, "--argument": call.arguments}
    return tuple(word for option, values in options.items() for value in values for word in (option, value))


def resolve_command(operator: OperatorName, call: SupportCall, source: Iterable[str] = ()) -> str:
    """The command that shows the call of a cell. source: the arguments that load the state."""
    return shlex.join(("dispatch-cli", "resolve", str(operator), *source, *call_options(call)))
