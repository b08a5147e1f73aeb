"""Changes on trial in words."""

from __future__ import annotations

from dispatch_cli.model.change import Addition, Change, RegistrationName, Removal
from dispatch_cli.render.words import short_kernel


def change_text(change: Change) -> str:
    """A change in words."""
    if isinstance(change, Addition):
        kernel = change.kernel
        name = kernel if isinstance(kernel, str) else "a fallthrough" if kernel.fallthrough else kernel.debug
        if not isinstance(kernel, str) and kernel.fake is not None:
            return f"add the fake implementation {short_kernel(name)} of {change.operator}"
        whose = "the backend fallback" if change.operator is None else str(change.operator)
        return f"add {short_kernel(name)} at {change.key} of {whose}"
    if isinstance(change, Removal):
        return f"without {name_text(change.which)}"
    word, target = ("before", change.before) if change.before is not None else ("after", change.after)
    moved = f"the block of {name_text(change.which)}" if change.block else name_text(change.which)
    return f"move {moved} {word} {name_text(target) if target is not None else ''}"


def name_text(name: RegistrationName) -> str:
    """Name of a registration; with its number if it is not the first one."""
    return str(name if (name.number or 1) > 1 else name._replace(number=None))
