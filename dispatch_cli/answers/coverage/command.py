"""``dispatch-cli coverage``"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from dispatch_cli.cli.help import Command
from dispatch_cli.cli.modules import completion
from dispatch_cli.cli.options import (
    SourceOptions,
    as_sentence,
    chosen_operators,
    filter_option,
    load_state,
    note_conditions,
    overlays_of,
    source_options,
    state_or_newest,
)
from dispatch_cli.cli.output import Output, output_options, show
from dispatch_cli.cli.source_reading import source_arguments

if TYPE_CHECKING:
    from dispatch_cli.engine.backend_answers import CoveredBackend
    from dispatch_cli.engine.state import State
    from dispatch_cli.model.names import OperatorName


MANY = 30
"""Operators that are listed without an option that chooses some."""
_HINT = "give a key of tensors, such as CPU, SparseCUDA or PrivateUse1, or a device; --privateuse1 names one"


@click.command("coverage", cls=Command)
@partial(source_options, arguments="[BACKEND] [FILE]...", complete="coverage")
@filter_option("all")
@click.option(
    "--tag",
    "tags",
    multiple=True,
    metavar="TAG",
    shell_complete=completion("tags"),
    help="Only operators with this tag, such as core. core: the core ATen operators. schema:KIND is a tag, too. The "
    "kinds: out, inplace, mutable, view, factory, functional. Repeatable: one of them.",
)
@click.option(
    "--served-by",
    multiple=True,
    type=click.Choice(("kernel", "composite", "fallback", "above", "nothing", "not-known")),
    help="List only operators that are served so. By the backend's own kernel, a composite kernel, the backend "
    "fallback, a kernel above the backend. Repeatable: one of them.",
)
@click.option(
    "--against",
    "older",
    metavar="NAME",
    shell_complete=completion("bases"),
    help="List only what an older embedded state did not need. Operators that are new, changed, or no longer served. "
    "FILEs are applied to it, too.",
)
@output_options("svg")
def command(
    source: SourceOptions,
    ops: tuple[str, ...],
    tags: tuple[str, ...],
    served_by: tuple[str, ...],
    older: str | None,
    out: Output,
) -> None:
    """Show what serves each operator on a backend, and whether it trains there.

    BACKEND is a dispatch key or a device: PrivateUse1, SparseCUDA, xla, mps. Operators are served by the backend's own
    kernel, by a composite kernel, by a fallback, or by nothing, so that a call ends in an error. What composite kernels
    call must be served too. Without an option that chooses operators, text has the counts alone where they are many;
    --op '*' lists all.

    Without BACKEND, a picture: what serves which part of each group of operators, on every backend with kernels.

    FILEs are applied one after the other. Without FILE, --base and -k, the newest embedded PyTorch state is used.
    """
    if not source.files or _is_file(source.files[0]):
        if served_by or older is not None:
            raise click.UsageError("Give a backend, such as `coverage PrivateUse1`, to list its operators.")
        _overview(source, ops, tags, out)
        return
    if out.format == "svg":
        raise click.UsageError("--format svg draws the picture of all backends: leave BACKEND out.")
    text, *files = source.files
    state = state_or_newest(source._replace(files=tuple(files)), (text,))
    backend = _backend(state, text)
    names = _tagged(state, chosen_operators(state, ops), tags)
    note_conditions(state, names, out)
    against = None if older is None else _older(state, source._replace(files=tuple(files)), older, text)
    from dispatch_cli.answers.coverage.report import coverage_report
    from dispatch_cli.engine.backend_answers import Service

    report = coverage_report(
        state,
        backend,
        names,
        tags,
        served_by=tuple(Service(service) for service in dict.fromkeys(served_by)),
        against=against,
    )
    is_whole = out.format == "text" and not (ops or tags or served_by or older)
    show(report, out, most=MANY if is_whole else None)


def _is_file(text: str) -> bool:
    """Returns whether the first argument is a file: a word alone is a backend."""
    from dispatch_cli import universes
    from dispatch_cli.engine.backend_answers import backend_named

    is_path = text == "-" or any(sign in text for sign in "/\\.:")
    return is_path and backend_named(universes.load(universes.default_name()), text) is None


def _overview(source: SourceOptions, ops: tuple[str, ...], tags: tuple[str, ...], out: Output) -> None:
    from dispatch_cli.answers.coverage.overview import overview_report

    state = state_or_newest(source)
    names = _tagged(state, chosen_operators(state, ops), tags)
    note_conditions(state, names, out)
    show(overview_report(state, names, ops, tags, source_arguments()), out)


def _backend(state: State, text: str) -> CoveredBackend:
    """The backend that BACKEND means; exits with 2 when it means none."""
    from dispatch_cli.engine.backend_answers import backend_named
    from dispatch_cli.model.universe import backend_keys

    universe = state.dispatcher.universe
    backend = backend_named(universe, text)
    if backend is not None:
        return backend
    from dispatch_cli.model.text.suggest import suggestion

    close = suggestion(text, [*backend_keys(universe), *universe.devices], 3)
    hint = as_sentence(close or _HINT)
    raise click.BadParameter(f"{text[:200]!r} is no backend of {universe.name}.{hint}", param_hint="'BACKEND'")


def _older(state: State, source: SourceOptions, name: str, backend: str) -> State:
    """The older embedded state, with the files over it; exits with 2 for what is no embedded state."""
    overlays = overlays_of(name, (backend,)) if len(state.over) > 1 else ()
    older = load_state(source._replace(bases=(name, *overlays), universe=None, keys=()))
    if older.dispatcher.universe.name == state.dispatcher.universe.name and older.over == state.over:
        raise click.BadParameter(f"{name} is the state itself.", param_hint="'--against'")
    return older


def _tagged(state: State, names: list[OperatorName], tags: tuple[str, ...]) -> list[OperatorName]:
    """The operators with one of the tags; exits with 2 for a tag that no operator has."""
    if not tags:
        return names
    from dispatch_cli.answers.coverage.report import known_tags, with_tags

    known = known_tags(state, names)
    for tag in tags:
        if tag not in known:
            from dispatch_cli.model.text.suggest import suggestion

            hint = as_sentence(suggestion(tag, sorted(known), 3) or _no_base(state))
            raise click.BadParameter(f"no chosen operator has the tag {tag[:200]!r}.{hint}", param_hint="'--tag'")
    return with_tags(state, names, tags)


def _no_base(state: State) -> str | None:
    """Advice for a state in which the operators of PyTorch are not loaded; None where they are."""
    if state.dispatcher.base is not None:
        return None
    from dispatch_cli import bases

    return f"PyTorch's own operators are not loaded: add --base {bases.newest_for(state.dispatcher.universe.name)}"
