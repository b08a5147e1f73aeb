"""``dispatch-cli register``"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dispatch_cli.cli.help import Command
from dispatch_cli.cli.options import (
    OWN_OR_ALL,
    SourceOptions,
    chosen_keys,
    chosen_of_both_kinds,
    chosen_operators,
    filter_option,
    key_option,
    load_state,
    note_conditions,
    source_options,
    warn_of_overrides,
)
from dispatch_cli.cli.output import Output, output_options, show, write

if TYPE_CHECKING:
    from dispatch_cli.engine.state import State


@click.command("register", cls=Command)
@source_options
@filter_option(f"{OWN_OR_ALL}; with --key all")
@key_option(
    "Instead: the operators with a kernel at exactly this key. Alias and functionality keys count, too.",
    registrable=True,
)
@click.option(
    "--view",
    type=click.Choice(("registrations", "order", "fallbacks")),
    default="registrations",
    help="What to show. order: the registrations of each operator in their order, the first one first. fallbacks: the "
    "backend fallbacks, PyTorch's own among them; with --key, those at these keys.",
)
@click.option("--full", is_flag=True, help="With --key, list every operator, however many.")
@output_options("raw")
def command(
    source: SourceOptions, ops: tuple[str, ...], key_globs: tuple[str, ...], view: str, full: bool, out: Output
) -> None:
    """Load declarations and show what they register.

    FILEs are applied one after the other. A registration that PyTorch refuses is an error; an overridden kernel is a
    warning. Kernels of a base that the files are over are counted; with --op they are listed. --format raw prints what
    torch._C._dispatch_dump returns; with --key, the names that torch._C._dispatch_print_registrations_for_dispatch_key
    prints, sorted.
    """
    fallbacks, in_order = view == "fallbacks", view == "order"
    _check_options(ops, key_globs, fallbacks, in_order, out)
    state = load_state(source, ops=ops if source.files else ops or key_globs or ("*",) * fallbacks)
    if fallbacks:
        _show_fallbacks(state, key_globs, out)
        return
    if key_globs:
        _show_keys(state, ops, key_globs, full, out)
        return
    if in_order:
        _show_order(state, ops, out)
        return
    names, higher_order = chosen_of_both_kinds(state, ops)
    note_conditions(state, names, out)
    warn_of_overrides(state, out.color, {*names})
    if out.format == "raw":
        from dispatch_cli.render.raw import raw_registrations

        if not names and higher_order:
            raise click.UsageError("PyTorch has no dump of a higher-order operator; use another --format.")
        write(raw_registrations(state.dispatcher, names), out.file)
        return
    from dispatch_cli.answers.table.registrations.report import registrations_report

    show(registrations_report(state, names, higher_order), out, base=bool(ops) or not source.files)


def _show_keys(state: State, ops: tuple[str, ...], key_globs: tuple[str, ...], full: bool, out: Output) -> None:
    """The operators with a kernel at each key. Higher-order ones are not among them: Python keeps their kernels."""
    from dispatch_cli.answers.keys.registrations import key_registrations_report

    keys = chosen_keys(state.dispatcher.universe, key_globs, registrable=True)
    assert keys is not None, "a glob is there"
    names = chosen_operators(state, ops)
    note_conditions(state, names, out)
    warn_of_overrides(state, out.color, {*names})
    report = key_registrations_report(state, keys, names)
    if out.format == "raw":
        from dispatch_cli.answers.keys.registrations_document import raw_key_registrations

        write(raw_key_registrations(report), out.file)
    else:
        show(report, out, full=full)


def _check_options(
    ops: tuple[str, ...], key_globs: tuple[str, ...], fallbacks: bool, in_order: bool, out: Output
) -> None:
    """Options that do not go together; exits with 2."""
    if fallbacks and ops:
        raise click.UsageError("A backend fallback is one of all operators: give --view fallbacks without --op.")
    if in_order and key_globs:
        raise click.UsageError("--view order shows all registrations of operators: it takes no --key.")
    if (fallbacks or in_order) and out.format == "raw":
        what = "--view fallbacks" if fallbacks else "--view order"
        raise click.UsageError(f"PyTorch prints nothing like {what}; use another --format.")


def _show_fallbacks(state: State, key_globs: tuple[str, ...], out: Output) -> None:
    from dispatch_cli.answers.table.registrations.report import backend_fallbacks_report

    keys = chosen_keys(state.dispatcher.universe, key_globs)
    note_conditions(state, (), out)
    show(backend_fallbacks_report(state, keys), out)


def _show_order(state: State, ops: tuple[str, ...], out: Output) -> None:
    """The registrations in their order. Higher-order operators are not among them: Python keeps their kernels."""
    from dispatch_cli.answers.table.registrations.report import registration_order_report

    names = chosen_operators(state, ops, own=True)
    note_conditions(state, (), out)
    show(registration_order_report(state, names), out)
