"""``dispatch-cli diff``"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from dispatch_cli.cli.help import Command
from dispatch_cli.cli.modules import completion
from dispatch_cli.cli.options import (
    SourceOptions,
    embedded_name,
    filter_option,
    key_option,
    load_state,
    matching_names,
    note_conditions,
    opened,
    resolved_name,
    source_options,
)
from dispatch_cli.cli.output import Output, output_options, say_note, show

if TYPE_CHECKING:
    from dispatch_cli.engine.state import State


PARTS = ("registrations", "slots", "schemas", "cells")


def side_state(argument: str, further: Sequence[str], source: SourceOptions) -> State:
    """The state that an argument names: an embedded one, a file of declarations, a source or a directory of sources.

    An overlay stands for itself over its embedded state.
    further: files that are applied after it. source: the other options; --base and --universe count for files alone.
    ``torch-2.9.1`` means torch-2.9. An embedded state comes before a file of that name, which can be written as
    ``./NAME``. Errors: InputError.
    """
    name = embedded_name(argument)
    if name is not None:
        source = source._replace(files=tuple(further), bases=with_base(resolved_name(name)), universe=None)
    else:
        source = source._replace(files=(argument, *further))
    return load_state(source)


def opened_sides(old: Sequence[str], new: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...], str | None]:
    """The names under which the files of two sides can be read, and the one of them that is absent, if any.

    Absent is the file of a side if the other side is the same path and has it: it was added or deleted since a
    revision. Errors: InputError.
    """
    missing, names = None, opened([*old, *new])
    if len(old) == len(new) == 1 and ":" in old[0] + new[0]:
        from dispatch_cli.files.asked import absent

        missing = absent(*names)
    return names[: len(old)], names[len(old) :], missing


def state_without(file: str, other: State) -> State:
    """The state of a file that is absent: what the other side starts from."""
    from dispatch_cli import api

    bases = other.declarations.bases
    say_note(f"{file} does not exist: it counts as {' and '.join(bases) or 'a file without registrations'}")
    return api.load_state((), universe=other.dispatcher.universe, bases=bases)


def with_base(name: str) -> tuple[str, ...]:
    """The states to load for the name of one; for an overlay, also the one below it."""
    from dispatch_cli import bases

    if name not in bases.overlay_names():
        return (name,)
    from dispatch_cli.bases import overlay

    return (overlay.load(name).over, name)


def _further(side: str) -> Callable[[Any], Any]:
    return click.option(
        f"--{side.lower()}",
        f"further_{side.lower()}",
        multiple=True,
        metavar="FILE",
        shell_complete=completion("files"),
        help=f"A further file of {side}, applied after it. Repeatable.",
    )


@click.command("diff", cls=Command)
@partial(source_options, arguments="OLD NEW", complete="sides", what_if=False)
@_further("OLD")
@_further("NEW")
@filter_option("all")
@key_option("Only registrations and slots at keys whose name matches.", registrable=True)
@click.option(
    "--only",
    "parts",
    type=click.Choice(PARTS),
    multiple=True,
    help="Only these differences. schemas: operators, their schemas and tags. registrations: also fallbacks, Python "
    "kernels, higher-order operators, keys, and what PyTorch refuses. cells: of `support`. Repeatable.",
)
@output_options()
def command(
    source: SourceOptions,
    further_old: tuple[str, ...],
    further_new: tuple[str, ...],
    ops: tuple[str, ...],
    key_globs: tuple[str, ...],
    parts: tuple[str, ...],
    out: Output,
) -> None:
    """Compare two states: what is different in NEW.

    OLD and NEW are each an embedded PyTorch state (torch-2.15) or overlay (torch-2.15-mps), a file of declarations, a
    capture, a source, a directory of sources, or REV:PATH: one of these at a git revision, as in `diff main:decl.yaml
    decl.yaml`. What a file at a revision refers to is read at that revision. --base, --universe and --when count for
    the sides that are files. If only one of two revisions has PATH, all of it is added or removed.

    A kernel is the same in both if it is registered for the same operator and key, and is in the same source file (or
    has the same name). A slot holds what calls find there, which depends on the order of registrations where PyTorch
    does not update the slot (check stale-live-table). Text groups what differs; --op shows each; JSON and CSV have
    everything. Exits with 1 if there is a difference.
    """
    from dispatch_cli.answers.diff.report import diff_report
    from dispatch_cli.answers.diff.rows import DiffChoice

    sides = _sides(source)
    *named, absent = opened_sides((sides[0], *further_old), (sides[1], *further_new))
    states = [side_state(side[0], side[1:], source) for side in named if side != (absent,)]
    if absent is not None:
        states.insert(named.index((absent,)), state_without(absent, states[0]))
    operators, higher_order = _operators(states, ops)
    chosen = DiffChoice(operators, higher_order, _keys(states, key_globs), parts or PARTS)
    report = diff_report(states[0], states[1], ((sides[0], *further_old), (sides[1], *further_new)), chosen)
    for state in states:
        note_conditions(state, state.own_operators(), out, says_undecided=False)
    universes = (states[0].dispatcher.universe, states[1].dispatcher.universe)
    show(report, out, universes=universes, each=bool(ops))
    if not report.equal:
        raise click.exceptions.Exit(1)


def _sides(source: SourceOptions) -> tuple[str, str]:
    if len(source.files) != 2:
        reason = f"not {len(source.files)}; further files of a side are given by --old and --new"
        raise click.UsageError(f"Two states are compared, OLD and NEW, {reason}.")
    old, new = source.files
    if old == new == "-":
        raise click.UsageError("Only one of OLD and NEW can be standard input.")
    if None not in map(embedded_name, source.files) and (source.bases or source.universe):
        raise click.UsageError("--base and --universe are for files; OLD and NEW are embedded states.")
    return old, new


def _operators(states: Sequence[State], ops: tuple[str, ...]) -> tuple[frozenset[str] | None, frozenset[str] | None]:
    """The operators and higher-order operators that --op chooses in either state; None for all."""
    if not ops:
        return None, None
    names = sorted({name for state in states for name in state.dispatcher.names()})
    others = sorted({operator.name for state in states for operator in state.higher_order_operators})
    operators, higher_order = matching_names(ops, names, others, "no operator of either side matches")
    return frozenset(operators), frozenset(higher_order)


def _keys(states: Sequence[State], globs: tuple[str, ...]) -> frozenset[str] | None:
    """The keys of either universe that --key chooses; None for all."""
    if not globs:
        return None
    from dispatch_cli.answers.shared.selection import select_keys
    from dispatch_cli.cli.options import chosen_keys
    from dispatch_cli.model.universe import UNDEFINED

    existing: set[str] = set()
    universes = [state.dispatcher.universe for state in states]
    for glob in globs:
        both = [select_keys(universe, (glob,), (UNDEFINED, *universe.ids)) for universe in universes]
        if not any(both):
            chosen_keys(universes[1], (glob,), registrable=True)  # says what is wrong
        existing.update(*both)
    return frozenset(existing)
