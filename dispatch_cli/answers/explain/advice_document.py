"""Advice in words: why a slot holds what it holds, and the changes that help."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dispatch_cli.answers.explain.advice_report import Advice, Change, Manual
from dispatch_cli.answers.shared.notes import Note, NoteKind
from dispatch_cli.engine.rules import PRECEDENCE, Rule
from dispatch_cli.model.changes.change import Action, Edit, Function
from dispatch_cli.model.names import some_of
from dispatch_cli.model.text.quoting import scalar
from dispatch_cli.model.universe import AUTOGRAD
from dispatch_cli.render.document import Run, Tone, joined
from dispatch_cli.render.words import not_built_sentence

ROLES = {
    next(row.alias for row in PRECEDENCE if row.rule is Rule.MATH): ", which calls other operators",
    next(row.alias for row in PRECEDENCE if row.rule is Rule.NESTED): ", which calls other operators",
    "FuncTorchBatched": ", a batching rule (torch.library.register_vmap)",
    "FuncTorchBatchedDecomposition": ", which calls other operators",
    "BackendSelect": ", which chooses the backend by the device",
    "ADInplaceOrView": ", which bumps version counters and tracks views",
    "Meta": " (torch.library.register_fake)",
}
"""Task of a kernel at a key, as a relative clause."""
DEFAULTS = tuple(row.alias for row in PRECEDENCE if row.rule is Rule.DEFAULT)


def declarations_text(change: Change) -> str | None:
    """Registrations that a change makes, as declarations in YAML; None where it only removes something."""
    return fragment(change.edits)


def fragment(edits: Iterable[Edit]) -> str | None:
    """Registrations that the edits make, as declarations in YAML; None where they only remove something."""
    dispatched: dict[str, list[str]] = {}
    fakes: dict[str, str] = {}
    fallbacks: list[str] = []
    for edit in edits:
        if edit.function is Function.FAKE:
            fakes[str(edit.operator)] = scalar(edit.kernel or "")
        elif edit.function is not None:
            kernel = "fallthrough" if edit.function is Function.FALLTHROUGH else scalar(edit.kernel or "")
            if edit.redispatches is not None:
                kernel = f"{{kernel: {kernel}, redispatches: {edit.redispatches.kind.value}}}"
            if edit.operator is None:
                fallbacks.append(f"  {edit.key}: {kernel}\n")
            else:
                dispatched.setdefault(str(edit.operator), []).append(f"      {edit.key}: {kernel}\n")
    first = f"fallbacks:\n{''.join(fallbacks)}" if fallbacks else ""
    if not dispatched and not fakes:
        return first or None
    parts = []
    for name in [*dispatched, *(fake for fake in fakes if fake not in dispatched)]:
        dispatch = f"    dispatch:\n{''.join(dispatched[name])}" if name in dispatched else ""
        fake = f"    fake: {fakes[name]}\n" if name in fakes else ""
        parts.append(f"  - name: {scalar(name)}\n{dispatch}{fake}")
    return f"{first}operators:\n{''.join(parts)}"


def advice_text(advice: Advice) -> str:
    """The reason, and the changes that help, as sentences."""
    return " ".join((reason(advice.note, advice.operator), *ways_out(advice)))


def new_changes(advice: Iterable[Advice]) -> Iterator[tuple[Change, ...]]:
    """Changes of each advice that those before it do not propose."""
    proposed: set[tuple[Edit, ...]] = set()
    for item in advice:
        new = tuple(change for change in item.changes if change.edits not in proposed)
        proposed.update(change.edits for change in new)
        yield new


def advice_texts(advice: Sequence[Advice]) -> Iterator[str]:
    """The text of each advice; no change is proposed twice."""
    for item, new in zip(advice, new_changes(advice), strict=True):
        if item.changes and not new:
            yield f"{reason(item.note, item.operator)} {REPEATED}"
        else:
            yield advice_text(item._replace(changes=new))


REPEATED = "The advice above helps here too."


def advice_lines(advice: Sequence[Advice]) -> Iterator[tuple[Run, ...]]:
    """The texts under their labels; a note alone advises nothing."""
    for item, text in zip(advice, advice_texts(advice), strict=True):
        label = "Advice" if item.changes or item.manual is not None else "Note"
        yield joined(Run(f"{label}: ", Tone.HEAD), text)


def ways_out(advice: Advice) -> Iterator[str]:
    """A sentence for each change, the best one first."""
    for position, change in enumerate(advice.changes):
        text = f"{change_text(change)}{_also(change)}"
        yield f"{text[0].upper()}{text[1:]}." if position == 0 else f"Or {text}."
        if change.drops_calls:
            yield (
                "With that alone, torch.compile removes the calls, for the operator returns nothing: also declare what "
                "it writes to, such as Tensor(a!), or name it in torch.fx.node.has_side_effect."
            )
    if advice.kind is NoteKind.SKIPPED and not advice.changes:
        yield (
            "That is right for a kernel that redispatches, which is assumed unless its declaration says otherwise. "
            "Declare one that computes the result itself with `redispatches: false`, or `other-operators`."
        )
    if advice.manual is not None:
        yield _manual_text(advice.manual, advice.note, advice.operator)


def _also(change: Change) -> str:
    """The other slots that a change changes, beside those that it names."""
    named = {edit.key for edit in change.edits}
    others = [key for key in change.also_changes if key not in named]
    return f" (also changes {some_of(others, 3)})" if others else ""


def change_text(change: Change) -> str:
    """A change as part of a sentence."""
    operator = change.operator
    removed = [edit for edit in change.edits if edit.action is Action.REMOVE]
    added = [edit for edit in change.edits if edit.action is not Action.REMOVE]
    texts = [_register_text(edit, operator, added[:position]) for position, edit in enumerate(added)]
    gone = []
    for edit in removed:
        at = next((at for at, other in enumerate(added) if edit.key in (other.key, other.source)), None)
        if at is None:
            gone.append(edit)
        elif added[at].key == edit.key:
            texts[at] = f"register a kernel at {edit.key} instead of the fallthrough{_role(edit.key)}"
        else:
            texts[at] = f"move {edit.kernel} from {edit.key} to {added[at].key}"
    if gone:
        texts.insert(0, _remove_text(tuple(edit.key for edit in gone), change))
    return ", and ".join(texts)


def _remove_text(keys: tuple[str, ...], change: Change) -> str:
    text = f"remove the {'kernel' if len(keys) == 1 else 'kernels'} at {' and '.join(keys)}"
    further = further_step(change)
    return text if further is None else f"{text}, and {further} instead"


def further_step(change: Change) -> str | None:
    """Work that a change needs beside its edits, as part of a sentence; which operators these are is not known."""
    if change.fills.rule is not Rule.MATH or any(edit.function for edit in change.edits):
        return None
    keys = " and ".join(edit.key for edit in change.edits)
    return f"register the operators that {change.operator} decomposes to at {keys}"


def _register_text(edit: Edit, operator: str, before: Sequence[Edit]) -> str:
    """A registration as part of a sentence. before: what the change registers before it."""
    if edit.operator is None:
        return f"register a fallthrough as the backend fallback at {edit.key}, for all operators"
    of = "" if str(edit.operator) == operator else f" for {edit.operator}"
    match edit.function:
        case Function.FALLTHROUGH:
            reason = ", if the operator has no derivative" if edit.key.startswith(AUTOGRAD) else ""
            return f"register a fallthrough{of} at {edit.key}{reason}"
        case Function.FAKE:
            return f"register a fake implementation{of}"
        case Function.FALLBACK:
            return f"register the fallback's function {edit.kernel}{of} at {edit.key} itself"
        case Function.SAME:
            return f"register {edit.kernel}{of} at {edit.key} too"
        case _:
            kernel = "one" if before else "register a kernel"
            if edit.key.startswith(AUTOGRAD) and any(_computes(earlier.key) for earlier in before):
                # that kernel alone serves calls without gradients: PyTorch's fallback at autograd keys goes on to it
                kernel = f"for gradients {kernel}"
            return f"{kernel}{of} at {edit.key}{_role(edit.key)}"


def _computes(key: str) -> bool:
    """True if a kernel at a key computes the result for a backend, or for all."""
    return key not in ROLES and not key.startswith(AUTOGRAD)


def _role(key: str) -> str:
    """Task of a kernel at a key, where that is not to compute."""
    if key in DEFAULTS:
        return ", which works for every backend"
    role = ROLES.get(key, "")
    return role or (", which redispatches to the kernels below" if key.startswith(AUTOGRAD) else "")


def _manual_text(manual: Manual, note: Note, operator: str) -> str:
    culprits = some_of(note.culprits)
    match manual:
        case Manual.DEFINE:
            return f"Nothing defines {operator}, so it cannot be called: define it first, or correct its name."
        case Manual.CORRECT_NAME:
            return "Name one of these." if note.kind is NoteKind.OVERLOADS else "Correct the misspelled name."
        case Manual.PASS_TENSOR:
            return "Pass a tensor."
        case Manual.CHANGE_ORDER:
            return "Register the kernels in another order."
        case Manual.DECOMPOSE:
            return f"Register the operators that {operator} decomposes to at {culprits} instead."
        case Manual.REGISTER_IN_CPP:
            return (
                f"Register a kernel at {note.keys[0]} in C++: PyTorch's Python API does not know the name of this key."
            )


def reason(note: Note, operator: str) -> str:
    """Reason for the content of a slot, or its meaning."""
    key = note.keys[0] if note.keys else ""
    culprits = some_of(note.culprits)
    single = len(note.culprits) == 1
    match note.kind:
        case NoteKind.DISPLACED:
            displaces = f"The kernel at {culprits} displaces" if single else f"The kernels at {culprits} displace"
            return (
                f"{displaces} the math kernel at {key}: CompositeImplicitAutograd fills an autograd key only if no "
                "backend of that key has a kernel."
            )
        case NoteKind.AMBIGUOUS:
            own = f"which shares {key}, has its own" if single else f"which share {key}, have their own"
            return (
                f"CompositeImplicitAutograd has a kernel, and {culprits}, {own}: PyTorch does not choose between them."
            )
        case NoteKind.BYPASSED:
            counts = f" Only a kernel at {note.detail} displaces it." if note.detail else ""
            return (
                f"Tensors of {culprits} also carry {key}, which comes first and holds the math kernel: {culprits} "
                f"is reached only if the autograd keys are excluded, as in inference mode.{counts}"
            )
        case NoteKind.SHADOWED:
            return f"The backend fallback {note.detail} fills only empty slots, and {culprits} has a kernel for {key}."
        case NoteKind.UNCOVERED:
            has = "has a kernel, but does not cover" if single else "have kernels, but do not cover"
            return f"{culprits} {has} {key}."
        case NoteKind.UNREACHABLE:
            return (
                "No argument is a tensor, so a call has only the keys that every call has. They fall through, so the "
                f"call goes to {key}, which is empty: {culprits} cannot be reached."
            )
        case _:
            return _of_one_slot(note, key, culprits, operator)


def _of_one_slot(note: Note, key: str, culprits: str, operator: str) -> str:
    match note.kind:
        case NoteKind.UNREGISTERED:
            there = f"; there are kernels at {culprits}" if culprits else ""
            return f"No kernel is registered at {key}, nor at an alias key that covers it{there}."
        case NoteKind.NO_AUTOCAST:
            there = f" before it gets to {culprits}" if culprits else ""
            return (
                f"{key} is empty, and PyTorch has no fallback there: under autocast, a call with tensors that carry it "
                f"raises{there}."
            )
        case NoteKind.NO_TENSORS:
            return f"Calls without a tensor argument go to {key}, such as with an empty list of tensors."
        case NoteKind.NO_DERIVATIVE:
            return (
                f"{key} holds PyTorch's own fallback, which calls {culprits or 'the kernel below'}: backward() warns, "
                "and there is only the gradient of the differentiable operators that this kernel calls, if any."
            )
        case NoteKind.NO_AUTOGRAD:
            return (
                f"{key} is empty, and there is no fallback: a call with tensors that carry it raises before it gets "
                f"to {culprits}."
            )
        case NoteKind.NO_META:
            return "PyTorch's own fallback at Meta raises: there is no kernel for meta and fake tensors."
        case NoteKind.NO_BATCHING:
            return (
                f"{key} holds PyTorch's own fallback, which calls the operator in a loop over the batch: it is "
                "slow, and refuses some operators."
            )
        case NoteKind.FALLS_THROUGH:
            source = "" if note.culprits == (key,) else f" from {culprits}"
            return f"{key} holds a fallthrough{source}, and no key comes after it: there is no kernel to run."
        case NoteKind.SKIPPED:
            return (
                f"Inference mode excludes the autograd keys: the kernel from {culprits} is skipped, and the call goes "
                f"to {note.keys[1]}."
            )
        case NoteKind.STALE:
            return (
                f"A change at {culprits} does not recompute {key}, so what runs depends on the order of registrations."
            )
        case NoteKind.NOT_BUILT:
            return not_built_sentence(key, note.detail)
        case NoteKind.NEAR_NAME:
            has = f"has kernels ({culprits}) and lacks" if culprits else "lacks"
            return f"{operator} {has} a schema, and {note.detail} has one: is one of the names misspelled?"
        case NoteKind.NEAR_KERNELS:
            return (
                f"{note.detail} has kernels ({culprits}) and lacks a schema, and {operator} has one and lacks these "
                "kernels: is one of the names misspelled?"
            )
        case NoteKind.OVERLOADS:
            return f"{operator} lacks a schema; the overloads of that operator are {note.detail}."
        case _:
            raise AssertionError(f"no wording for {note.kind}")
