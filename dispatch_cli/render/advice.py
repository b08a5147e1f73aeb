"""What a note means for who has the problem, and what helps."""

from __future__ import annotations

from collections.abc import Iterable

from dispatch_cli.render.explain_wording import keys_list
from dispatch_cli.report.notes import Note, NoteKind


def advice_text(note: Note, operator: str) -> str:
    """A note with the way out, as sentences."""
    key = note.keys[0] if note.keys else ""
    culprits = keys_list(note.culprits)
    kernel_at = f"The kernel at {culprits}" if len(note.culprits) == 1 else f"The kernels at {culprits}"
    takes = "takes" if len(note.culprits) == 1 else "take"
    match note.kind:
        case NoteKind.DISPLACED:
            return (
                f"{kernel_at} {takes} the math kernel away from {key}: CompositeImplicitAutograd serves inference and "
                f"autograd in one, until there is a kernel below. Register the operators that {operator} decomposes to "
                f"at {culprits} instead, or a kernel at {_or(note.remedies)} as well."
            )
        case NoteKind.AMBIGUOUS:
            own = "which shares {0}, has its own" if len(note.culprits) == 1 else "which share {0}, have their own"
            return (
                f"CompositeImplicitAutograd has a kernel, and {culprits}, {own.format(key)}: PyTorch does not choose "
                f"between them. Register a kernel at {_or(note.remedies)}, or the composite one at "
                "CompositeExplicitAutograd."
            )
        case NoteKind.BYPASSED:
            counts = f" Only a kernel at {note.detail} takes it away." if note.detail else ""
            return (
                f"Tensors of {culprits} carry {key} as well, which comes first and holds the math kernel: {culprits} "
                f"is reached only where the autograd keys are left out, as in inference mode.{counts} Register a "
                f"kernel at {_or(note.remedies)}, or the composite one at CompositeExplicitAutograd."
            )
        case NoteKind.SHADOWED:
            return (
                f"The backend fallback {note.detail} is asked last, and {culprits} has a kernel for {key}. Register "
                f"the fallback's function for {operator} at {_or(note.remedies)} itself."
            )
        case _:
            return _of_one_slot(note, key, culprits, operator)


def _of_one_slot(note: Note, key: str, culprits: str, operator: str) -> str:
    there = f"; there are kernels at {culprits}" if culprits else ""
    match note.kind:
        case NoteKind.UNCOVERED:
            has = "has a kernel, but does not cover" if len(note.culprits) == 1 else "have kernels, but do not cover"
            return f"{culprits} {has} {key}. {_register(note.remedies)}"
        case NoteKind.UNREGISTERED:
            nowhere = f"No kernel is registered at {key}, nor at an alias key that covers it{there}."
            return f"{nowhere} {_register(note.remedies)}"
        case NoteKind.UNREACHABLE:
            return (
                "No argument is a tensor, so a call has only the keys that every call has. They fall through, and "
                f"{key} decides, where nothing is: {culprits} can not be reached. Register a kernel at "
                f"{note.remedies[0]} that chooses the backend, or one at an alias key that fills {key}: "
                f"{_or(note.remedies[1:])}."
            )
        case NoteKind.NO_TENSORS:
            return (
                f"{key} decides where no argument is a tensor, as with an empty list of tensors. Pass a tensor, or "
                f"register a kernel at an alias key that fills {key}: {_or(note.remedies)}."
            )
        case NoteKind.NO_DERIVATIVE:
            calls = f"{key} holds PyTorch's own fallback, which calls {culprits or 'what is below'}"
            return (
                f"{calls} and knows no derivative: backward() warns or fails, or results have no grad_fn. Register a "
                f"kernel at {_or(note.remedies)}; a fallthrough, where the operator is not differentiable."
            )
        case NoteKind.NO_AUTOGRAD:
            return (
                f"Nothing is at {key}, and there is no fallback: a call with tensors that carry it raises before it "
                f"gets to {culprits}. Register a kernel at {_or(note.remedies)}; a fallthrough, where the operator is "
                "not differentiable."
            )
        case NoteKind.NO_META:
            return (
                "PyTorch's own fallback at Meta raises: there is nothing to run for meta and fake tensors. Register a "
                f"kernel at {note.remedies[0]} (torch.library.register_fake), or one at an alias key that covers it: "
                f"{_or(note.remedies[1:])}."
            )
        case NoteKind.NO_BATCHING:
            return (
                f"{key} holds PyTorch's own fallback, which loops over the batch: it is slow, and it refuses some "
                f"operators. Register a batching rule at {_or(note.remedies)} (torch.library.register_vmap)."
            )
        case NoteKind.SKIPPED:
            return (
                f"Inference mode leaves the autograd keys out: the kernel from {culprits} is skipped, and "
                f"{note.keys[1]} decides. Where it has to run there too, register it at {_or(note.remedies)} as well, "
                "or at CompositeImplicitAutograd alone."
            )
        case NoteKind.STALE:
            return (
                f"A change at {culprits} does not recompute {key}, so the order of registrations decides what runs. "
                f"Register a kernel at {_or(note.remedies)} itself, or change the order."
            )
        case NoteKind.NEAR_NAME:
            has = f"has kernels ({culprits}) or a schema" if culprits else "has what it lacks"
            return f"{operator} lacks a schema or kernels, and {note.detail} {has}: is one of the names mistyped?"
        case _:
            raise AssertionError(f"no wording for {note.kind}")


def _register(keys: tuple[str, ...]) -> str:
    if len(keys) == 1:
        return f"Register a kernel at {keys[0]}."
    return f"Register a kernel at {keys[0]}, or at an alias key that covers it: {_or(keys[1:])}."


def _or(keys: Iterable[str]) -> str:
    *most, last = keys
    return f"{', '.join(most)} or {last}" if most else last
