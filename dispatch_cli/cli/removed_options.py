"""Options that commands no longer have, and what to write instead."""

from __future__ import annotations

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
_VERSIONS = "leave it out: the answer has all versions, and `dispatch-cli diff A B` compares two"
REMOVED: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("--against", ("extract",), "write `dispatch-cli crossref PATH... --against STATE`"),
    ("--all", ("register", "table"), "write --full"),
    ("--all-findings", ("check-invariants", "crossref"), "write --full"),
    ("--autocast", ("coverage",), "write --context autocast"),
    ("--cache-dir", _SOURCES, "set the variable DISPATCH_CLI_CACHE_DIR to the directory"),
    ("--codegen-backends", _SOURCES, "write codegen-backends in [tool.dispatch-cli.extract] of pyproject.toml"),
    ("--csv-exact", _SHEETS, "set the variable DISPATCH_CLI_CSV=exact"),
    ("--derivatives", _SOURCES, "give derivatives.yaml as a FILE beside native_functions.yaml"),
    ("--device", ("resolve",), "write --argument device=DEVICE"),
    ("--dtype", ("resolve",), "write --argument dtype=DTYPE"),
    ("--exit-zero", ("check-invariants",), "write --fail-on none"),
    ("--fallbacks", ("register",), "write --view fallbacks"),
    ("--filter", ("coverage",), "write --op or --served-by; JSON and CSV have every row, and `explore` has a filter"),
    ("--fresh", ("explore",), "leave it out: every start begins anew"),
    ("--from", ("history",), _VERSIONS),
    ("--generator", ("resolve",), "write --argument generator=DEVICE"),
    ("--import", ("extract",), "write `dispatch-cli crossref PATH... --against live --import MODULE`"),
    ("--in-order", ("register",), "write --view order"),
    ("--layout", ("resolve",), "write --argument layout=LAYOUT"),
    ("--live", ("crossref",), "write --against live"),
    ("--missing", ("coverage",), "write --served-by nothing; `served` in JSON is false where autograd is broken, too"),
    ("--no-cache", _SOURCES, "set the variable DISPATCH_CLI_CACHE_DIR=none"),
    ("--no-config", ("check-invariants", "extract"), "write --config none"),
    ("--no-vmap", ("capture",), _VMAP),
    ("--output", ("schema",), "write `dispatch-cli schema REPORT`, and -o FILE for a file"),
    ("--python", ("extract",), "write `dispatch-cli crossref PATH... --against live --python PATH`"),
    ("--recorder", ("trace",), "start `dispatch-cli trace --save RECORDING PROGRAM` in the place of the program"),
    ("--rules-only", ("guards",), "remove `kernel` from what --record writes"),
    ("--sort", ("coverage",), "leave it out: JSON and CSV have rows to sort"),
    ("--stop-after", ("resolve",), "leave it out: --format json has the steps in order"),
    (
        "--strict",
        tuple(source for source in _SOURCES if source not in _STRICT),
        "use it with `extract` or `check-invariants`",
    ),
    ("--summary", ("check-invariants",), "write --view summary"),
    ("--theme", ("explore",), "set the variable TEXTUAL_THEME"),
    ("--timeout", ("extract", "capture", "crossref"), "set the variable DISPATCH_CLI_TIMEOUT to the seconds"),
    ("--timestamp", ("page",), "leave it out: the file has a date"),
    ("--to", ("history",), _VERSIONS),
    ("--view", ("crossref",), "leave it out: what only one side has is a finding"),
    ("--vmap", ("capture",), _VMAP),
    ("--vmap", ("coverage",), "write --context vmap"),
)
"""Each option, the commands that had it, and what to do instead."""


def what_to_write(command: str | None, option: str) -> str | None:
    """A sentence about an option that a command had; None for any other."""
    for name, commands, instead in REMOVED:
        if name == option and command in commands:
            return f"There is no option {name} any more: {instead}."
    return None
