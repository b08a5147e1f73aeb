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
``MODULE:NAME`` they are ``NAME_document`` and ``NAME_sheet``.
"""

CI_DOCUMENTS = {
    "github": "dispatch_cli.answers.findings.ci.github_document",
    "junit": "dispatch_cli.answers.findings.ci.junit_document",
    "sarif": "dispatch_cli.answers.findings.ci.sarif_document",
}
"""Format of a CI system → the module that writes it."""
PICTURES = dict.fromkeys(("resolve", "resolve-higher-order"), "dispatch_cli.answers.resolve.picture_document")
"""Modules of the pictures that are no part of a document, by the name of the report."""


_STATE = (
    "explore",
    "register",
    "table",
    "explain",
    "resolve",
    "coverage",
    "check-invariants",
    "guards",
    "diff",
    "page",
)
_SOURCES = (*_STATE, "extract", "crossref")
_STRICT = ("extract", "check-invariants")
_SHEETS = (
    *("register", "table", "rules", "trace", "keys", "coverage", "check-invariants", "guards", "diff", "checks"),
    *("history", "bases", "extract", "crossref"),
)
_VMAP = "leave it out: a vmap always runs before a capture"
_CONTEXTS = "write `dispatch-cli support --context NAME` with FILE or --op GLOB, which says what becomes of such calls"
_VERSIONS = "leave it out: the answer has all versions, and `dispatch-cli diff A B` compares two"
_PYTHON = (
    "write `dispatch-cli explain OP KEY`, which says what resolve_key chooses; the check python-resolution has all"
)
_SUMMARY = "leave it out; text with --full ends with a row per check, and `summary` in JSON has the same"
REMOVED: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("--against", ("extract",), "write `dispatch-cli crossref PATH... --against STATE`"),
    ("--against", ("keys",), "write `dispatch-cli diff A B`, which names the keys that only one of two states has"),
    ("--all", ("register", "table"), "write --full"),
    ("--all-findings", ("check-invariants", "crossref"), "write --full"),
    ("--autocast", ("coverage",), _CONTEXTS),
    ("--base", ("keys",), "write --universe NAME, such as torch-2.15: keys belong to a universe"),
    ("--cache-dir", _SOURCES, "set the variable DISPATCH_CLI_CACHE_DIR to the directory"),
    ("--codegen-backends", _SOURCES, "write codegen-backends in [tool.dispatch-cli.extract] of pyproject.toml"),
    ("--context", ("coverage",), _CONTEXTS),
    ("--csv-exact", _SHEETS, "set the variable DISPATCH_CLI_CSV=exact"),
    ("--derivatives", _SOURCES, "give derivatives.yaml as a FILE beside native_functions.yaml"),
    ("--device", ("resolve",), "write --argument device=DEVICE"),
    ("--dtype", ("resolve",), "write --argument dtype=DTYPE"),
    ("--exit-zero", ("check-invariants",), "write --fail-on none"),
    ("--fail-under", ("coverage",), "write --format json; `percent` is the share of operators that are served"),
    ("--fallbacks", ("register",), "write --view fallbacks"),
    ("--filter", ("coverage",), "write --op or --served-by; JSON and CSV have every row, and `explore` has a filter"),
    ("--fresh", ("explore",), "leave it out: every start begins anew"),
    ("--from", ("history",), _VERSIONS),
    ("--generator", ("resolve",), "write --argument generator=DEVICE"),
    ("--import", ("extract",), "write `dispatch-cli crossref PATH... --against live --import MODULE`"),
    ("--in-order", ("register",), "write --view order"),
    ("--kernels", ("trace",), "leave it out: `operators` in JSON has the keys whose kernels ran"),
    ("--layout", ("resolve",), "write --argument layout=LAYOUT"),
    ("--live", ("crossref",), "write --against live"),
    ("--missing", ("coverage",), "write --served-by nothing; `served` in JSON is false where autograd is broken, too"),
    ("--no-cache", _SOURCES, "set the variable DISPATCH_CLI_CACHE_DIR=none"),
    ("--no-config", ("check-invariants", "extract"), "write --config none"),
    ("--no-vmap", ("capture",), _VMAP),
    ("--only", ("history",), "leave it out: JSON and CSV name the kind of each change"),
    ("--output", ("schema",), "write `dispatch-cli schema REPORT`, and -o FILE for a file"),
    ("--python", ("extract",), "write `dispatch-cli crossref PATH... --against live --python PATH`"),
    ("--pytorch", ("check-invariants",), "leave the files out and write --base NAME, such as a capture"),
    ("--recorder", ("trace",), "start `dispatch-cli trace --save RECORDING PROGRAM` in the place of the program"),
    ("--resolver", ("table",), _PYTHON),
    ("--rules-only", ("guards",), "remove `kernel` from what --record writes"),
    ("--sort", ("coverage",), "leave it out: JSON and CSV have rows to sort"),
    ("--stop-after", ("resolve",), "leave it out: --format json has the steps in order"),
    (
        "--strict",
        tuple(source for source in _SOURCES if source not in _STRICT),
        "use it with `extract` or `check-invariants`",
    ),
    ("--summary", ("check-invariants",), _SUMMARY),
    ("--theme", ("explore",), "set the variable TEXTUAL_THEME"),
    ("--timeout", ("extract", "capture", "crossref"), "set the variable DISPATCH_CLI_TIMEOUT to the seconds"),
    ("--timestamp", ("page",), "leave it out: the file has a date"),
    ("--to", ("history",), _VERSIONS),
    ("--view", ("check-invariants",), _SUMMARY),
    ("--view", ("crossref",), "leave it out: what only one side has is a finding"),
    ("--trace", ("page",), "write `dispatch-cli trace RECORDING --full --format html -o FILE`"),
    ("--vmap", ("capture",), _VMAP),
    ("--vmap", ("coverage",), _CONTEXTS),
    ("--where", ("trace",), "write --op, as in `--op 'aten::*copy*'`, or --line"),
)
"""Each option, the commands that had it, and what to do instead."""


def what_to_write(command: str | None, option: str) -> str | None:
    """A sentence about an option that a command had, or that others have; None for any other."""
    for name, commands, instead in REMOVED:
        if name == option and command in commands:
            return f"There is no option {name}: {instead}."
    return None


def completion(name: str) -> Complete:
    """A completion of a parameter: ``complete_NAME`` of `dispatch_cli.cli.completion`, imported when a shell asks."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        items: list[CompletionItem[str]] = getattr(import_module("dispatch_cli.cli.completion"), f"complete_{name}")(
            ctx, param, incomplete
        )
        return items

    return complete
