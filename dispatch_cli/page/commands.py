"""Command lines that print what the page shows, as texts for a shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

from dispatch_cli.engine.state import State
from dispatch_cli.render.printed import safe


def quoted(text: str) -> str:
    """One word for a shell.

    What cannot be seen is spelled in bytes: bash gives the same text back, whatever its locale.
    """
    if safe(text) == text:
        return shlex.quote(text)
    spelled = re.sub(r"[^\w ]", lambda match: "".join(map(r"\x{:02x}".format, _bytes(match[0]))), text, flags=re.ASCII)
    return f"$'{spelled}'"


def _bytes(sign: str) -> bytes:
    return sign.encode("utf-8", "surrogateescape" if "\udc80" <= sign <= "\udcff" else "surrogatepass")


def words_text(words: Iterable[str]) -> str:
    """Words of a command line."""
    return " ".join(map(quoted, words))


def command_lines(
    source: tuple[str, ...], universe: str, backend: str, diff: tuple[str, ...] | None
) -> dict[str, list[str]]:
    """For each view the text before and after the operator, or the backend, that it is about.

    source: the arguments that load the state. universe: as `keys` takes it. backend: the name at PrivateUse1. diff: the
    arguments of `diff`; None where it cannot compare the state.
    """
    named = () if backend == "privateuseone" else ("--privateuse1", backend)
    findings = ("check-invariants", "--severity", "info", *source)
    lines: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
        "rows": (("table", *source, "--op"), ("--view", "rows")),
        "grid": (("table", *source, "--op"), ("--view", "grid")),
        "explain": (("explain",), source),
        "register": (("register", *source, "--op"), ()),
        "findings": (findings, ()),
        "all-findings": ((*findings, "--full"), ()),
        "operator-findings": ((*findings, "--op"), ()),
        "coverage": (("coverage",), source),
        "overview": (("coverage", *source), ()),
        "changes": (("table", *source) if diff is None else ("diff", *diff), ()),
        "higher-order": (("table", *source), ()),
        "fallbacks": (("register", *source, "--view", "fallbacks"), ()),
        "keys": (("keys", "--universe", universe, *named), ()),
        "about": (("page", *source), ()),
        "support": (("support", *source), ()),
        "call": (("resolve",), source),
    }
    return {view: [words_text(("dispatch-cli", *before)), words_text(after)] for view, (before, after) in lines.items()}


def operator_words(state: State) -> dict[str, list[str]]:
    """Operators as `--op` takes them, and as other commands do, by name; those whose name is both are left out."""
    names = state.dispatcher.names()
    overloaded = {name[: name.index(".", name.index("::"))] for name in names if "." in name.partition("::")[2]}
    whole = {name: name for name in names} | {
        name: f"higher_order::{name}" for name in sorted(state.higher_order_names)
    }
    words = {
        name: [quoted(re.sub(r"[\[*?]", r"[\g<0>]", word) + ".default" * (name in overloaded)), quoted(word)]
        for name, word in whole.items()
    }
    return {name: pair for name, pair in words.items() if pair != [name, name]}
