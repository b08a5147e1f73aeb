"""Modules that a run imports when it needs them."""

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


def completion(name: str) -> Complete:
    """A completion of a parameter: ``complete_NAME`` of `dispatch_cli.cli.completion`, imported when a shell asks."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        items: list[CompletionItem[str]] = getattr(import_module("dispatch_cli.cli.completion"), f"complete_{name}")(
            ctx, param, incomplete
        )
        return items

    return complete
