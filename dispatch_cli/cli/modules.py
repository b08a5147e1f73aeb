"""Modules that a run imports when it needs them, and options that commands no longer have."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem

    Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem[str]]]

COMMANDS = {
    "explore": "dispatch_cli.cli.explore",
    "register": "dispatch_cli.answers.table.registrations.command",
    "table": "dispatch_cli.answers.table.command",
    "explain": "dispatch_cli.answers.explain.command",
    "rules": "dispatch_cli.answers.explain.command:rules_command",
    "resolve": "dispatch_cli.answers.resolve.command",
    "trace": "dispatch_cli.answers.trace.command",
    "keys": "dispatch_cli.answers.keys.command",
    "coverage": "dispatch_cli.answers.coverage.command",
    "support": "dispatch_cli.answers.support.command",
    "check-invariants": "dispatch_cli.answers.findings.command",
    "guards": "dispatch_cli.answers.findings.guards.command",
    "diff": "dispatch_cli.answers.diff.command",
    "page": "dispatch_cli.cli.page",
    "checks": "dispatch_cli.answers.findings.command:checks_command",
    "history": "dispatch_cli.answers.history.command",
    "bases": "dispatch_cli.answers.sources.command:bases_command",
    "extract": "dispatch_cli.answers.sources.command:extract_command",
    "capture": "dispatch_cli.answers.sources.command:capture_command",
    "crossref": "dispatch_cli.answers.findings.crossref.command",
    "schema": "dispatch_cli.answers.sources.command:schema_command",
    "help": "dispatch_cli.cli.help",
}
"""Command → the module that has it, as ``command``, or as NAME, where it is ``MODULE:NAME``."""

DOCUMENTS = {
    "backend-fallbacks": "dispatch_cli.answers.table.registrations.document:fallbacks",
    "bases": "dispatch_cli.answers.sources.bases_document",
    "call-keys": "dispatch_cli.answers.resolve.document:call_keys",
    "checks": "dispatch_cli.answers.findings.checks_document",
    "coverage": "dispatch_cli.answers.coverage.document",
    "coverage-overview": "dispatch_cli.answers.coverage.overview_document",
    "crossref": "dispatch_cli.answers.findings.crossref.document",
    "diff": "dispatch_cli.answers.diff.document",
    "error": "dispatch_cli.answers.errors.document",
    "explain": "dispatch_cli.answers.explain.document",
    "explain-higher-order": "dispatch_cli.answers.explain.higher_order_document",
    "findings": "dispatch_cli.answers.findings.document",
    "grid": "dispatch_cli.answers.table.grid_document",
    "guards": "dispatch_cli.answers.findings.guards.document",
    "history": "dispatch_cli.answers.history.document",
    "key": "dispatch_cli.answers.keys.key_document",
    "key-registrations": "dispatch_cli.answers.keys.registrations_document",
    "key-set": "dispatch_cli.answers.keys.key_document:key_set",
    "keys": "dispatch_cli.answers.keys.document",
    "problems": "dispatch_cli.render.problems",
    "registration-order": "dispatch_cli.answers.table.registrations.document:order",
    "registrations": "dispatch_cli.answers.table.registrations.document",
    "resolve": "dispatch_cli.answers.resolve.document",
    "resolve-higher-order": "dispatch_cli.answers.resolve.higher_order_document",
    "rules": "dispatch_cli.answers.explain.rules_document",
    "support": "dispatch_cli.answers.support.document",
    "table": "dispatch_cli.answers.table.document",
    "table-summary": "dispatch_cli.answers.table.document:summary",
    "trace": "dispatch_cli.answers.trace.document",
}
"""Report → the module with its ``document`` and, for CSV, its ``sheet``. The grid is a view of a table. Of
``MODULE:NAME`` they are ``NAME_document`` and ``NAME_sheet``. Some have an ``outcome``, the answer in one line.
"""
PICTURES = dict.fromkeys(("resolve", "resolve-higher-order"), "dispatch_cli.answers.resolve.picture_document")
"""Modules of the pictures that are no part of a document, by the name of the report."""


_VMAP = "leave it out: a vmap always runs before a capture"
_CONTEXTS = "write `dispatch-cli support --context NAME` with FILE or --op GLOB, which says what becomes of such calls"
_VERSIONS = "leave it out: the answer has all versions, and `dispatch-cli diff A B` compares two"
_SUMMARY = "leave it out; text with --full ends with a row per check, and `summary` in JSON has the same"
_TIMEOUT = "set the variable DISPATCH_CLI_TIMEOUT to the seconds"
REMOVED = {
    "--cache-dir": "set the variable DISPATCH_CLI_CACHE_DIR to the directory",
    "--codegen-backends": "write codegen-backends in [tool.dispatch-cli.extract] of pyproject.toml",
    "--csv-exact": "set the variable DISPATCH_CLI_CSV=exact",
    "--derivatives": "give derivatives.yaml as a FILE beside native_functions.yaml",
    "--no-cache": "set the variable DISPATCH_CLI_CACHE_DIR=none",
    "--strict": "use it with `extract` or `check-invariants`",
    "capture --no-vmap": _VMAP,
    "capture --timeout": _TIMEOUT,
    "capture --vmap": _VMAP,
    "check-invariants --all-findings": "write --full",
    "check-invariants --exit-zero": "write --fail-on none",
    "check-invariants --no-config": "write --config none",
    "check-invariants --pytorch": "leave the files out and write --base NAME, such as a capture",
    "check-invariants --summary": _SUMMARY,
    "check-invariants --view": _SUMMARY,
    "coverage --autocast": _CONTEXTS,
    "coverage --context": _CONTEXTS,
    "coverage --fail-under": "write --format json; `percent` is the share of operators that are served",
    "coverage --filter": "write --op or --served-by; JSON and CSV have every row, and `explore` has a filter",
    "coverage --missing": "write --served-by nothing; `served` in JSON is false where autograd is broken, too",
    "coverage --sort": "leave it out: JSON and CSV have rows to sort",
    "coverage --vmap": _CONTEXTS,
    "crossref --all-findings": "write --full",
    "crossref --live": "write --against live",
    "crossref --timeout": _TIMEOUT,
    "crossref --view": "leave it out: what only one side has is a finding",
    "explore --fresh": "leave it out: every start begins anew",
    "explore --theme": "set the variable TEXTUAL_THEME",
    "extract --against": "write `dispatch-cli crossref PATH... --against STATE`",
    "extract --import": "write `dispatch-cli crossref PATH... --against live --import MODULE`",
    "extract --no-config": "write --config none",
    "extract --python": "write `dispatch-cli crossref PATH... --against live --python PATH`",
    "extract --timeout": _TIMEOUT,
    "guards --rules-only": "remove `kernel` from what --record writes",
    "history --from": _VERSIONS,
    "history --only": "leave it out: JSON and CSV name the kind of each change",
    "history --to": _VERSIONS,
    "keys --against": "write `dispatch-cli diff A B`, which names the keys that only one of two states has",
    "keys --base": "write --universe NAME, such as torch-2.15: keys belong to a universe",
    "page --timestamp": "leave it out: the file has a date",
    "page --trace": "write `dispatch-cli trace RECORDING --full --format html -o FILE`",
    "register --all": "write --full",
    "register --fallbacks": "write --view fallbacks",
    "register --in-order": "write --view order",
    "resolve --device": "write --argument device=DEVICE",
    "resolve --dtype": "write --argument dtype=DTYPE",
    "resolve --generator": "write --argument generator=DEVICE",
    "resolve --layout": "write --argument layout=LAYOUT",
    "resolve --stop-after": "leave it out: --format json has the steps in order",
    "schema --output": "write `dispatch-cli schema REPORT`, and -o FILE for a file",
    "table --all": "write --full",
    "table --resolver": "write `dispatch-cli explain OP KEY`, which says what resolve_key chooses; the check "
    "python-resolution has all",
    "trace --kernels": "leave it out: `operators` in JSON has the keys whose kernels ran",
    "trace --recorder": "start `dispatch-cli trace --save RECORDING PROGRAM` in the place of the program",
    "trace --where": "write --op, as in `--op 'aten::*copy*'`, or --line",
}
"""The replacement of each option that all commands had, or one command."""


def what_to_write(command: str | None, option: str) -> str | None:
    """A sentence about an option that a command had, or that others have; None for any other."""
    instead = REMOVED.get(f"{command} {option}") or REMOVED.get(option)
    return None if instead is None else f"There is no option {option}: {instead}."


def completion(name: str) -> Complete:
    """A completion of a parameter: ``complete_NAME`` of `dispatch_cli.cli.completion`, imported when a shell asks."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        items: list[CompletionItem[str]] = getattr(import_module("dispatch_cli.cli.completion"), f"complete_{name}")(
            ctx, param, incomplete
        )
        return items

    return complete
