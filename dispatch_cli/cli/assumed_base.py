"""The embedded state that sources are over where no option names one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from dispatch_cli.cli.output import say
from dispatch_cli.cli.source_reading import common_folder, is_source

if TYPE_CHECKING:
    from dispatch_cli.model.settings import Named


class AssumedBase(NamedTuple):
    """An embedded state. why: how it was chosen, as the end of a sentence. setting: the one that names it, if any."""

    name: str
    why: str
    setting: Named | None = None


def assumed_base(files: Sequence[str], universe: str | None, setting: Named | None) -> AssumedBase | None:
    """The state to start from unless the files decide it; None for none.

    Sources, and declarations beside them, are over the newest state that the packaging files of the sources' project
    allow. universe: what ``--universe`` names. setting: `base` of the project file.
    """
    from dispatch_cli import bases
    from dispatch_cli.declarations.project import NO_BASE

    if setting is not None:
        return None if setting.text == NO_BASE else AssumedBase(setting.text, f"as {setting.span} says", setting)
    states = bases.names()
    sources = [file for file in files if is_source(file)]
    if not sources:
        return None
    if universe is not None:
        return AssumedBase(universe, "as --universe says") if universe in states else None
    from dispatch_cli.declarations.pytorch_requirement import newest_allowed

    name, requirement, is_allowed = newest_allowed(common_folder(sources), states)
    if requirement is None:
        return AssumedBase(name, "the newest embedded state")
    clause = f"{requirement.span}: torch{requirement.spec}"
    if is_allowed:
        return AssumedBase(name, f"the newest embedded state that the project allows ({clause})")
    return AssumedBase(name, f"the nearest embedded state to what the project requires ({clause})")


def state_with(operator: str) -> str | None:
    """The newest embedded state that has an operator."""
    from dispatch_cli import bases

    for name in bases.names():
        try:
            bases.load(name).header(operator)
        except KeyError:
            continue
        return name
    return None


def say_assumed(base: AssumedBase) -> None:
    """Name the state on standard error, in one line."""
    from dispatch_cli.render.text_safety import safe

    other = "" if base.setting is not None else "; --base names another, or none"
    say(f"note: over {base.name}, {safe(base.why)}{other}\n")
