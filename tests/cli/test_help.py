"""Help, and the commands that answer from documentation: checks and rules."""

from __future__ import annotations

import json
import re

import click
import pytest

from dispatch_cli.checks.all_checks import CHECKS
from dispatch_cli.cli import cli
from dispatch_cli.cli.help import GROUPS
from tests.cli.support import call, process

CONTEXT = click.Context(cli)
COMMANDS = cli.list_commands(CONTEXT)
LINES = 24
LONGER = {"trace": 40}
"""Commands whose own options do not fit on a screen."""
MOST_OPTIONS = 60
"""Options of all commands together; one that several commands share counts once."""


def options_of(command: str) -> list[click.Option]:
    group = cli.get_command(CONTEXT, command)
    assert group is not None
    return [param for param in group.params if isinstance(param, click.Option)]


def names_of(command: str) -> set[str]:
    return {name for option in options_of(command) for name in (*option.opts, *option.secondary_opts)}


def named_in(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", text))


def test_the_commands_are_in_sections() -> None:
    lines = call("--help").out.splitlines()
    heads = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert heads[1] == "Start here:" and len(heads) == 7
    listed = [line.split()[0] for line in lines if re.match(r"  [a-z]", line)]
    assert [name for name in listed if name in COMMANDS] == COMMANDS
    assert COMMANDS[:3] == ["register", "table", "check-invariants"]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_own_options_of_a_command_are_on_one_screen(command: str) -> None:
    result = process(command, "--help", COLUMNS="80")
    assert result.code == 0
    lines = result.out.splitlines()
    assert len(lines) <= LONGER.get(command, LINES), result.out
    assert all(len(line) <= 80 for line in lines)


def test_all_options_fit_in_the_head() -> None:
    assert len({max(option.opts, key=len) for command in COMMANDS for option in options_of(command)}) <= MOST_OPTIONS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_can_be_found(command: str) -> None:
    """The help of a command names each option; ``help`` says what it is."""
    short, whole = call(command, "--help").out, call("help", command).out
    groups = [group for group in GROUPS if re.search(rf"^  {group} ", short, re.M)]
    explained = named_in(whole + "".join(call("help", group).out for group in groups))
    for option in options_of(command):
        assert {*option.opts} & named_in(short), option.name
        assert {*option.opts} <= explained, option.name


def test_the_whole_documentation_is_there_in_every_format() -> None:
    documents = json.loads(call("checks", "all", "--format", "json").out)["checks"]
    markdown = call("checks", "all", "--format", "markdown").out
    assert [document["documentation"] for document in documents] == [check.documentation.strip() for check in CHECKS]
    for check in CHECKS:
        assert f"## {check.id} ({check.code})\n" in markdown
        assert check.documentation.strip() in markdown


def test_every_format_has_the_rules_that_are_asked_for() -> None:
    document = json.loads(call("rules", "6", "10", "--format", "json").out)
    assert (document["schema_version"], document["report"], document["universe"]) == (4, "rules", "torch-2.15")
    assert [(rule["rule_number"], rule["rule"], rule["alias"]) for rule in document["rules"]] == [
        (6, "math", "CompositeImplicitAutograd"),
        (10, "missing", None),
    ]
    slots = [(rule["rule_number"], example["slot"]) for rule in document["rules"] for example in rule["examples"]]
    assert [(number, slot["key"], slot["kernel"], slot["rule_number"]) for number, slot in slots] == [
        (6, "AutogradCPU", "op_math", 6),
        (6, "AutogradOther", "ambiguous_autogradother", 6),
        (10, "CUDA", None, 10),
    ]
