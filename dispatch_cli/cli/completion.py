"""Shell completion of what a command takes: operators, keys, tensors, contexts, checks, embedded states, files.

A name is completed by its segments: a namespace, a name, an overload. What the line says already counts: the states and
files to load, the universe. Each module is imported only where its words are asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from dispatch_cli import bases, universes
from dispatch_cli.model.text.suggest import starting

if TYPE_CHECKING:
    from dispatch_cli.model.universe import Universe

Items = list[CompletionItem[str]]

MAX_BYTES = 1 << 18
"""Files of declarations that are larger are not read for a completion."""
_PYTHON = "torch.ops."


def complete_operators(ctx: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """The operators, by segments, as C++ or as Python writes them."""
    return _parts(operator_segments(_operators(ctx), incomplete))


def complete_explain(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Completions for ``explain``: an operator, a key, then files."""
    given = len(ctx.params.get("files") or ())
    if ctx.params.get("error_file") is None and given < 2:
        return (complete_operators, complete_keys)[given](ctx, param, incomplete)
    return complete_files(ctx, param, incomplete)


def complete_coverage(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Completions for ``coverage``: a backend, by its device or its key, then files."""
    if ctx.params.get("files"):
        return complete_files(ctx, param, incomplete)
    return complete_devices(ctx, param, incomplete)


def complete_devices(ctx: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """The devices of the universe, and its backends."""
    from dispatch_cli.model.universe import backend_keys

    universe = _universe(ctx)
    return _plain(starting([*universe.devices, *backend_keys(universe)], incomplete))


def complete_tags(ctx: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """The tags of the operators of the embedded state that the line chooses."""
    chosen = [base for base in ctx.params.get("bases") or () if base in bases.names()]
    base = bases.load(chosen[0] if chosen else bases.names()[0])
    return _plain(starting(sorted({tag for name in base.names for tag in base.listing(name).tags}), incomplete))


def complete_history(_ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Completions for ``history``: an operator of some embedded state, then a key of one."""
    versions = [bases.load(name) for name in bases.names()]
    if param.name == "key":
        keys = dict.fromkeys(key for base in versions for key in base.universe.keys_by_id)
        return _plain(starting(keys, incomplete))
    return _parts(operator_segments(sorted({name for base in versions for name in base.names}), incomplete))


def complete_keys(ctx: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """The keys of the chosen universe; of an expression, its last word."""
    from dispatch_cli.answers.resolve.call_words import key_set_completions

    return _parts(key_set_completions(_universe(ctx), incomplete))


def complete_runtime_keys(ctx: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """The keys that have a slot in a table."""
    return _plain(starting(_universe(ctx).slots, incomplete))


def complete_registrable_keys(ctx: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """The keys at which a kernel can be registered."""
    universe = _universe(ctx)
    return _plain(starting((key for key in universe.keys_by_id if key in universe.parseable), incomplete))


def complete_tensors(ctx: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """The words of a tensor: its device first, then the others."""
    from dispatch_cli.answers.resolve.call_words import tensor_completions

    return _parts(tensor_completions(_universe(ctx), incomplete))


def complete_contexts(ctx: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """The contexts, and what follows their words."""
    from dispatch_cli.answers.resolve.call_words import context_completions

    return _parts(context_completions(_universe(ctx), incomplete))


def complete_columns(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """The columns of a support matrix, and other contexts."""
    from dispatch_cli.model.calls.support import PROMISED

    words = [verdict.value for verdict in PROMISED]
    others = complete_contexts(ctx, param, incomplete)
    return _plain(starting(words, incomplete)) + [other for other in others if other.value not in words]


def complete_arguments(ctx: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """The arguments of a call beside its tensors, each with its values."""
    from dispatch_cli.answers.resolve.call_words import option_words
    from dispatch_cli.model.calls.options import Options

    name, equals, start = incomplete.partition("=")
    if not equals:
        return _parts((f"{field}=", False) for field in starting(Options._fields, name))
    words = option_words(_universe(ctx), name) if name in Options._fields else ()
    return _plain(starting(words, start), before=f"{name}=")


def complete_checks(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """The ids of checks, and their codes; of several, the last one."""
    from dispatch_cli.checks.all_checks import CHECKS

    before, comma, word = incomplete.rpartition(",")
    ids = [check.id for check in CHECKS]
    return _plain(starting([*ids, *(check.code for check in CHECKS)] if word else ids, word), before + comma)


def complete_bases(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """The embedded states and overlays."""
    return _plain(starting((*bases.names(), *bases.overlay_names()), incomplete))


def complete_sides(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Completions for ``diff``: the embedded states, or files."""
    return complete_bases(ctx, param, incomplete) + complete_files(ctx, param, incomplete)


def complete_universes(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """The embedded universes, or files."""
    return _plain(starting(universes.names(), incomplete)) or complete_files(ctx, param, incomplete)


def complete_rules(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """The numbers of the rules."""
    return _plain(starting(map(str, range(1, 11)), incomplete))


def complete_reports(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """The reports that have a JSON Schema."""
    from dispatch_cli.cli.report_schemas import report_types

    return _plain(starting(report_types(), incomplete))


def complete_files(_ctx: click.Context, _param: click.Parameter, _incomplete: str) -> Items:
    """Files: the shell completes them."""
    return _plain([""], kind="file")


def operator_segments(names: Iterable[str], incomplete: str) -> Iterable[tuple[str, bool]]:
    """The next segments of the names that begin with *incomplete*, and whether each is a whole name.

    ``at`` goes on as ``aten::``, ``aten::ad`` as ``aten::add.`` among others, which goes on as ``aten::add.Tensor``. A
    name that is the only one of its kind is given at once.
    """
    known = list(names)
    head, separator = "", "::"
    if "::" not in incomplete:
        head = _PYTHON if incomplete.startswith(_PYTHON) else ""
        namespace, dot, rest = incomplete.removeprefix(head).partition(".")
        known = [name for name in known if "::" in name] if head else known
        if head or (dot and any(name.startswith(f"{namespace}::") for name in known)):
            separator, incomplete = ".", f"{namespace}::{rest}" if dot else namespace
    by_segment: dict[str, list[str]] = {}
    for name in known:
        if name.startswith(incomplete):
            by_segment.setdefault(_segment(name, len(incomplete)), []).append(name)
    for part, whole in by_segment.items():
        text = part if len(whole) > 1 else whole[0]
        yield head + text.replace("::", separator), text in whole


def _segment(name: str, length: int) -> str:
    """The beginning of a name up to the end of the segment in which its first *length* characters end."""
    colons = name.find("::")
    if colons >= 0 and length < colons + 2:
        return name[: colons + 2]
    dot = name.find(".", colons + 2 if colons >= 0 else 0)
    return name if dot < 0 or length > dot else name[: dot + 1]


def _operators(ctx: click.Context) -> list[str]:
    """The names of the operators of what the line loads: files, states, or the newest state."""
    chosen = [base for base in ctx.params.get("bases") or () if base in bases.names()]
    # click leaves the arguments over where the line ends with an option that lacks its value
    given = ctx.params.get("files") or ctx.args
    files = [file for file in given if file.endswith((".yaml", ".yml", ".json"))]
    if files and all(map(_is_small, files)):
        from dispatch_cli.api import load_state
        from dispatch_cli.model.problem import InputError

        try:
            state = load_state(files, universe=ctx.params.get("universe"), bases=chosen)
            return [*state.dispatcher.names(), *(operator.name for operator in state.higher_order_operators)]
        except InputError:
            chosen = chosen or [bases.names()[0]]
    universe = ctx.params.get("universe") or universes.default_name()
    base = bases.load(chosen[0] if chosen else bases.newest_for(universe))
    return [*base.names, *(operator.name for operator in base.higher_order_operators)]


def _is_small(file: str) -> bool:
    return os.path.isfile(file) and os.path.getsize(file) <= MAX_BYTES  # noqa: PTH113, PTH202


def _universe(ctx: click.Context) -> Universe:
    """The universe that the line chooses. Errors: UniverseError, after which nothing is completed."""
    base = next((base_name for base_name in ctx.params.get("bases") or () if base_name in universes.names()), None)
    return universes.load(ctx.params.get("universe") or base or universes.default_name())


def _plain(words: Iterable[str], before: str = "", kind: str = "plain") -> Items:
    return [CompletionItem(before + word, kind) for word in words]


def _parts(segments: Iterable[tuple[str, bool]]) -> Items:
    return [CompletionItem(text, "plain" if whole else "part") for text, whole in segments]
