"""One dispatch key in depth, for people."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from dispatch_cli.engine.keys.universe_differences import KeyKind
from dispatch_cli.model.universe import AUTOGRAD_OTHER
from dispatch_cli.render import console
from dispatch_cli.render.console import plain, to_text
from dispatch_cli.render.facts import Fact, facts, lines
from dispatch_cli.render.key_wording import FEW, groups_label, hexadecimal
from dispatch_cli.render.style import Style
from dispatch_cli.render.words import short_kernel
from dispatch_cli.report.key import Filler, KeyReport
from dispatch_cli.report.keys import ThreadDefault


def key_text(report: KeyReport, style: Style) -> Iterator[str]:
    """The key, what it is, and one fact a line."""
    yield to_text(_parts(report, style), style)


def _parts(report: KeyReport, style: Style) -> Iterator[RenderableType]:
    yield plain(f"{report.key}: {_what(report)}", console.HEAD)
    yield plain(f"in {report.universe}, PyTorch {report.torch}", console.DIM)
    yield Text()
    yield from facts([*_place(report), *_filling(report, style), *_autograd(report), *_registering(report)], style)


def _what(report: KeyReport) -> str:
    match report.kind:
        case KeyKind.RUNTIME if report.backend is not None:
            return f"runtime key, the functionality {report.functionality} at the backend {report.backend}"
        case KeyKind.RUNTIME:
            return "runtime key, a functionality that is not per backend"
        case KeyKind.ALIAS:
            return "alias key; it has no slot and is in no key set"
        case KeyKind.FUNCTIONALITY:
            return f"functionality that is per backend, a building block of {len(report.keys.keys)} runtime keys"
        case KeyKind.BACKEND:
            return f"backend component, a building block of {len(report.keys.keys)} runtime keys"
        case KeyKind.UNDEFINED:
            return "the slot of a call whose key set is empty; it is in no key set"


def _place(report: KeyReport) -> Iterator[Fact]:
    if report.priority is not None:
        yield Fact("Priority", plain(f"{report.priority} of {report.priorities}, 1 is the lowest"))
    if report.slot is not None:
        yield Fact("Slot", plain(f"{report.slot} of {report.slots - 1}, 0 is Undefined"))
    if report.id is not None:
        yield Fact("Enum id", plain(str(report.id)))
    if report.bits:
        yield Fact("Key set", plain(hexadecimal(report.bits)))
    if report.kind is not KeyKind.BACKEND:
        known = "knows the name" if report.parseable else "does not know the name; C++ can name the key"
        yield Fact("Parser", plain(known))
    if report.devices:
        yield Fact("Devices", plain(", ".join(report.devices)))
    if report.kind is KeyKind.RUNTIME:
        yield Fact("Fresh thread", plain(_default(report.default)))


def _default(default: ThreadDefault) -> str:
    match default:
        case ThreadDefault.INCLUDED:
            return "adds it to every call"
        case ThreadDefault.EXCLUDED:
            return "takes it out of every call"
        case ThreadDefault.NEITHER:
            return "neither adds it nor takes it out"


def _filling(report: KeyReport, style: Style) -> Iterator[Fact]:
    if report.kind is KeyKind.ALIAS:
        rule = "no rule asks it" if report.rule is None else f"rule {report.number} [{report.rule.dump_text}]"
        yield Fact("Fills by", plain(rule))
        also = "; Undefined" if report.fills_undefined else ""
        yield Fact("Covers", plain(f"{groups_label(report.keys)}{also}"))
    elif report.keys.keys:
        yield Fact("Makes", plain(", ".join(report.keys.keys)))
    if report.fillers:
        yield Fact("Filled by", lines(*map(_filler, report.fillers)))
    if report.fallback is not None:
        falls = "falls through, " if report.fallback.fallthrough else ""
        debug = report.fallback.debug if style.width is None else short_kernel(report.fallback.debug)
        yield Fact("Core fallback", plain(f"{falls}{debug}"))
    elif report.kind is KeyKind.RUNTIME:
        yield Fact("Core fallback", plain("none"))


def _filler(filler: Filler) -> str:
    text = f"{filler.number} {filler.alias} [{filler.rule.dump_text}]"
    yields_to = [key for key in filler.yields_to if key not in filler.ambiguous_with]
    if yields_to:
        text += f", unless a kernel is at {_either(yields_to)}"
    if filler.ambiguous_with:
        text += f"; ambiguous with a kernel at any of the {len(filler.ambiguous_with)} backends of AutogradOther"
    return text


def _either(keys: list[str]) -> str:
    return f"any of {len(keys)} keys" if len(keys) > FEW else " or ".join(keys)


def _autograd(report: KeyReport) -> Iterator[Fact]:
    if report.is_autograd:
        nothing = "none: no kernel of a backend takes the math kernel away here"
        yield Fact("Backends", plain(groups_label(report.autograd_backends, nothing)))
    if report.autograd:
        yield Fact("Autograd key" if len(report.autograd) == 1 else "Autograd keys", plain(", ".join(report.autograd)))
    sentences = [*_behind(report)]
    if sentences:
        yield Fact("Backend of", lines(*sentences))


def _behind(report: KeyReport) -> Iterator[str]:
    """What a kernel at a backend key does to a math kernel at autograd keys."""
    for key in report.behind:
        shared = key == AUTOGRAD_OTHER and report.shares_autogradother
        does = "makes a math kernel there ambiguous" if shared else "takes the math kernel away there"
        yield f"{key}: a kernel here {does}"
    if report.kind is KeyKind.RUNTIME:
        for key in report.autograd:
            if key not in report.behind:
                yield f"not of {key}: a kernel here leaves the math kernel there"


def _registering(report: KeyReport) -> Iterator[Fact]:
    if report.kind in (KeyKind.RUNTIME, KeyKind.ALIAS):
        yield Fact("A registration", Text())
        yield Fact("  can change", plain(groups_label(report.can_change)))
        yield Fact("  recomputes", plain(groups_label(report.refreshes)))
        left = groups_label(report.left_behind)
        color = console.WARN if report.left_behind.keys else ""
        yield Fact("  leaves behind", plain(left, color))
    if report.full_after.keys:
        yield Fact("FULL_AFTER", plain(groups_label(report.full_after)))
