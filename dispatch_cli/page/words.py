"""The words of the page: those of the commands' answers, by the values that the data has."""

from __future__ import annotations

from typing import Any

from dispatch_cli.answers.coverage.wording import SERVICE_NAMES
from dispatch_cli.answers.explain.document import ROLE_TONES
from dispatch_cli.answers.explain.wording import ROLES
from dispatch_cli.answers.findings.summary_document import SEVERITY_TONES
from dispatch_cli.answers.table.grid_document import CODES, CORE_FALLBACK, FALLTHROUGH, MARKS
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.quoting import CONTROL, UNSEEN
from dispatch_cli.render.words import OF_PYTORCH, REGISTERED


def words_data() -> dict[str, Any]:
    """codes: letter, meaning and tone of a slot in a grid, by rule. unsafe: a class of a regular expression."""
    return {
        "rules": {rule.value: rule.dump_text for rule in Rule},
        "codes": {rule.value: _code(code) for rule, code in CODES.items()},
        "core_fallback": _code(CORE_FALLBACK),
        "fallthrough": _code(FALLTHROUGH),
        "marks": {mark: [meaning, tone.value] for mark, (meaning, tone) in MARKS.items()},
        "roles": {role.value: words for role, words in ROLES.items()},
        "role_tones": {role.value: tone.value for role, tone in ROLE_TONES.items()},
        "severity_tones": {severity.value: tone.value for severity, tone in SEVERITY_TONES.items()},
        "services": {service.value: words for service, words in SERVICE_NAMES.items()},
        "registered": REGISTERED.replace("(?P<", "(?<"),
        "of_pytorch": OF_PYTORCH,
        "unsafe": unsafe(),
    }


def _code(code: Any) -> list[str]:
    return [code.letter, code.meaning, code.tone.value]


def unsafe() -> str:
    """Characters that are spelled out: inside of a class of a regular expression, as JavaScript with ``u`` has it."""
    return "".join(sign if sign == "-" else f"\\u{{{ord(sign):x}}}" for sign in f"\t\n{CONTROL}{UNSEEN}")
