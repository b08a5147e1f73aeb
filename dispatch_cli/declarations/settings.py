"""The section ``check``: what a declaration file says about the checks of itself."""

from __future__ import annotations

from dispatch_cli.declarations.context import FileContext
from dispatch_cli.declarations.fields import fits, read_record, text_of
from dispatch_cli.declarations.format import A_SEVERITY, CHECK
from dispatch_cli.declarations.suppressions import read_selectors
from dispatch_cli.declarations.tree import Mapping, Node, Scalar
from dispatch_cli.model.settings import CheckSettings, Selector, Severity


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
        ignore=read_selectors(problems, ignore),
        severities=_severities(context, values.get("severity")),
        fail_on=Severity(fail_on) if fail_on is not None else None,
    )
    context.settings.append(settings)


def _severities(context: FileContext, node: Node | None) -> tuple[tuple[Selector, Severity], ...]:
    found: list[tuple[Selector, Severity]] = []
    for key, value in node.pairs if type(node) is Mapping else ():
        if fits(context.problems, value, A_SEVERITY) and type(value) is Scalar:
            found.append((Selector(key.text, context.problems.span(key)), Severity(value.text)))
    return tuple(found)
