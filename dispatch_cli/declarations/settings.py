"""The section ``check``: what a declaration file says about the checks of itself."""

from __future__ import annotations

from dispatch_cli.declarations.context import FileContext
from dispatch_cli.declarations.fields import read_record, text_of
from dispatch_cli.declarations.format import CHECK
from dispatch_cli.declarations.suppressions import read_selectors
from dispatch_cli.declarations.tree import Mapping, Node, Scalar, kind_of
from dispatch_cli.model.settings import CheckSettings, Selector, Severity
from dispatch_cli.model.suggest import suggestion

_SEVERITIES = {severity.value: severity for severity in Severity}


def read_settings(context: FileContext, section: Node) -> None:
    """Read the section ``check``."""
    problems = context.problems
    values = read_record(problems, section, CHECK)
    if values is None:
        return
    select, ignore = (values.get(name) for name in ("select", "ignore"))
    fail_on = text_of(problems, values.get("fail_on"))
    settings = CheckSettings(
        select=read_selectors(problems, select) if select is not None else None,
        ignore=read_selectors(problems, ignore) if ignore is not None else (),
        severities=_severities(context, values.get("severity")),
        fail_on=_SEVERITIES[fail_on] if fail_on is not None else None,
    )
    context.settings.append(settings)


def _severities(context: FileContext, node: Node | None) -> tuple[tuple[Selector, Severity], ...]:
    found: list[tuple[Selector, Severity]] = []
    for key, value in node.pairs if type(node) is Mapping else ():
        if type(value) is Scalar and value.text in _SEVERITIES:
            found.append((Selector(key.text, context.problems.span(key)), _SEVERITIES[value.text]))
            continue
        words = f"expected one of {', '.join(_SEVERITIES)}, found {kind_of(value)}"
        hint = suggestion(value.text, _SEVERITIES) if type(value) is Scalar else None
        context.problems.add("bad-value", words, value, hint)
    return tuple(found)
