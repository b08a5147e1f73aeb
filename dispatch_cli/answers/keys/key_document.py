"""One dispatch key in depth, a fact for each of its properties; and the key set of an expression."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.answers.keys.key import Filler, KeyKind, KeyReport, KeySetReport
from dispatch_cli.answers.keys.report import ThreadDefault
from dispatch_cli.engine.keys.expression import ExpressionNote, ExpressionNoteKind
from dispatch_cli.engine.keys.keyset import KeySet, hexadecimal
from dispatch_cli.model.universe import AUTOGRAD_OTHER, UNDEFINED, Universe
from dispatch_cli.render.document import Block, Fact, Facts, Gap, Paragraph, ParagraphKind, Run, Tone, lines
from dispatch_cli.render.words import listed, short_kernel

FEW = 3
"""Number of keys that are named one by one."""


def groups_label(universe: Universe, keys: tuple[str, ...], nothing: str = "nothing") -> str:
    """A set of slots: ``Dense, Sparse at 14 backends (not XLA, Lazy); FPGA, MkldnnCPU``.

    Functionalities that have the same backends are named together, then the keys that are not per backend.
    """
    if len(keys) <= FEW:
        return ", ".join(keys) or nothing
    chosen = set(keys)
    alike: dict[tuple[str, ...], list[str]] = {}
    for functionality in universe.functionalities:
        of_backends = zip(universe.backends, universe.per_backend.get(functionality, ()), strict=False)
        backends = tuple(backend for backend, key in of_backends if key in chosen)
        if backends:
            alike.setdefault(backends, []).append(functionality)
    parts = [_group_label(universe, names, backends, chosen) for backends, names in alike.items()]
    others = [key for key in keys if key == UNDEFINED or universe.runtime_parts[key][1] is None]
    return "; ".join([*parts, *([", ".join(others)] if others else [])])


def _group_label(universe: Universe, functionalities: list[str], backends: tuple[str, ...], chosen: set[str]) -> str:
    keys = [key for name in functionalities for key in universe.per_backend[name] if key in chosen]
    if len(keys) <= FEW:
        return ", ".join(keys)
    names = ", ".join(functionalities)
    missing = [backend for backend in universe.backends if backend not in backends]
    if not missing:
        return f"{names} at all {len(backends)} backends"
    if len(missing) < len(backends):
        return f"{names} at {len(backends)} backends (not {', '.join(missing)})"
    return f"{names} at {', '.join(backends)}"


def expression_note_text(note: ExpressionNote) -> str:
    """A note on a key-set expression as a sentence."""
    keys = ", ".join(note.keys)
    several = len(note.keys) > 1
    match note.kind:
        case ExpressionNoteKind.ADDS_NOTHING:
            has = "have no bits and add" if several else "has no bits and adds"
            return f"{keys} {has} nothing to a key set; runtime(ALIAS) has the keys that an alias key covers"
        case ExpressionNoteKind.BACKENDS_STAY:
            return f"a - b removes functionality bits, never backend bits: {keys} {'stay' if several else 'stays'}"
        case ExpressionNoteKind.OTHERS_GO:
            return f"a - b removes a functionality from every backend: {keys} {'go' if several else 'goes'} too"
        case ExpressionNoteKind.CROSS_PRODUCT:
            are = "are" if several else "is"
            return f"a key set stores functionalities and backends separately: {keys} {are} in it too"
        case ExpressionNoteKind.NO_FUNCTIONALITY:
            return f"{keys} {'make' if several else 'makes'} no key without a per-backend functionality"
        case ExpressionNoteKind.NO_BACKEND:
            return f"{keys} {'make' if several else 'makes'} no key without a backend bit"


def key_set_document(report: KeySetReport) -> Iterator[Block]:
    """The expression as it is read, its keys and bits, and the notes."""
    yield Paragraph(report.reading, kind=ParagraphKind.TITLE)
    yield Paragraph(Run(f"in {report.universe}", Tone.DIM))
    yield Gap()
    yield Facts([*set_facts(report.key_set, report.highest)])
    if report.notes:
        yield Gap()
        yield from (Paragraph(expression_note_text(note)) for note in report.notes)


def set_facts(key_set: KeySet, highest: str) -> Iterator[Fact]:
    """The keys and bits of a key set."""
    count = f"{len(key_set.keys)}: " if key_set.keys else ""
    yield Fact("Keys", f"{count}{listed(key_set.keys, 'none')}")
    yield Fact("Highest", highest)
    yield Fact("Functionalities", listed(key_set.functionalities, "none"))
    yield Fact("Backends", listed(key_set.backends, "none"))
    yield Fact("Raw", key_set.raw)


DEFAULTS = {
    ThreadDefault.INCLUDED: "includes it in every call",
    ThreadDefault.EXCLUDED: "excludes it from every call",
    ThreadDefault.NEITHER: "neither includes nor excludes it",
}


def document(report: KeyReport, *, universe: Universe) -> Iterator[Block]:
    """The key, what it is, and one fact a line."""
    yield Paragraph(f"{report.key}: {_what(report)}", kind=ParagraphKind.TITLE)
    yield Paragraph(Run(f"in {report.universe}, PyTorch {report.torch}", Tone.DIM))
    yield Gap()
    place, filling = _place(report, universe), _filling(report, universe)
    yield Facts([*place, *filling, *_autograd(report, universe), *_registering(report, universe)])


def _what(report: KeyReport) -> str:
    match report.kind:
        case KeyKind.RUNTIME if report.backend is not None:
            return f"runtime key, the functionality {report.functionality} at the backend {report.backend}"
        case KeyKind.RUNTIME:
            return "runtime key, a functionality that is not per backend"
        case KeyKind.ALIAS:
            return "alias key; it has no slot and is in no key set"
        case KeyKind.FUNCTIONALITY:
            return f"functionality that is per backend, a building block of {len(report.keys)} runtime keys"
        case KeyKind.BACKEND:
            return f"backend component, a building block of {len(report.keys)} runtime keys"
        case KeyKind.UNDEFINED:
            return "the slot of a call whose key set is empty; it is in no key set"


def _place(report: KeyReport, universe: Universe) -> Iterator[Fact]:
    if report.priority is not None:
        yield Fact("Priority", f"{report.priority} of {len(universe.functionalities)}, 1 is the lowest")
    if report.slot is not None:
        yield Fact("Slot", f"{report.slot} of {len(universe.slots) - 1}, 0 is Undefined")
    if report.id is not None:
        yield Fact("Enum id", str(report.id))
    if report.raw != hexadecimal(0):
        yield Fact("Key set", report.raw)
    if report.kind is not KeyKind.BACKEND:
        yield Fact(
            "Parser", "knows the name" if report.parseable else "does not know the name; only C++ can name the key"
        )
    if report.devices:
        yield Fact("Devices", listed(report.devices))
    if report.kind is KeyKind.RUNTIME:
        yield Fact("Fresh thread", DEFAULTS[report.default])


def _filling(report: KeyReport, universe: Universe) -> Iterator[Fact]:
    if report.kind is KeyKind.ALIAS:
        rule = "no rule uses it" if report.rule is None else f"rule {report.rule_number} [{report.rule.dump_text}]"
        yield Fact("Fills by", rule)
        also = "; Undefined" if report.fills_undefined else ""
        yield Fact("Covers", f"{groups_label(universe, report.keys)}{also}")
    elif report.keys:
        yield Fact("Makes", listed(report.keys))
    if report.filled_by:
        yield Fact("Filled by", lines(*map(_filler, report.filled_by)))
    if report.fallback is not None:
        falls = "falls through, " if report.fallback.fallthrough else ""
        kernel = short_kernel(report.fallback.kernel)
        yield Fact("Core fallback", f"{falls}{kernel}")
    elif report.kind is KeyKind.RUNTIME:
        yield Fact("Core fallback", "none")


def _filler(filler: Filler) -> str:
    text = f"{filler.rule_number} {filler.alias} [{filler.rule.dump_text}]"
    yields_to = [key for key in filler.yields_to if key not in filler.ambiguous_with]
    if yields_to:
        text += f", unless a kernel is at {_either(yields_to)}"
    if filler.ambiguous_with:
        text += f"; ambiguous with a kernel at any of the {len(filler.ambiguous_with)} backends of AutogradOther"
    return text


def _either(keys: list[str]) -> str:
    return f"any of {len(keys)} keys" if len(keys) > FEW else " or ".join(keys)


def _autograd(report: KeyReport, universe: Universe) -> Iterator[Fact]:
    if report.key in universe.aliases.get("Autograd", ()):
        nothing = "none: no backend kernel displaces the math kernel here"
        yield Fact("Backends", groups_label(universe, report.autograd_backends, nothing))
    if report.autograd_keys:
        label = "Autograd key" if len(report.autograd_keys) == 1 else "Autograd keys"
        yield Fact(label, listed(report.autograd_keys))
    sentences = [*_backend_of(report)]
    if sentences:
        yield Fact("Backend of", lines(*sentences))


def _backend_of(report: KeyReport) -> Iterator[str]:
    """Sentences about the math kernels at autograd keys that a kernel at this backend key displaces."""
    for key in report.backend_of:
        shared = key == AUTOGRAD_OTHER and report.in_autogradother_backends
        does = "makes a math kernel there ambiguous" if shared else "displaces the math kernel there"
        yield f"{key}: a kernel here {does}"
    if report.kind is KeyKind.RUNTIME:
        for key in report.autograd_keys:
            if key not in report.backend_of:
                yield f"not of {key}: a kernel here does not displace the math kernel there"


def _registering(report: KeyReport, universe: Universe) -> Iterator[Fact]:
    if report.kind in (KeyKind.RUNTIME, KeyKind.ALIAS):
        yield Fact("A registration", "")
        yield Fact("  can change", groups_label(universe, report.can_change))
        yield Fact("  recomputes", groups_label(universe, report.recomputes))
        tone = Tone.WARN if report.leaves_behind else Tone.PLAIN
        yield Fact("  leaves stale", Run(groups_label(universe, report.leaves_behind), tone))
    if report.full_after:
        yield Fact("FULL_AFTER", groups_label(universe, report.full_after))
