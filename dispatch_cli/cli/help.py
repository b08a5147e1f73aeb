"""Help: the own options of a command on one screen, shared options by groups, and ``dispatch-cli help TOPIC``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import click

_SENTENCE_END = r"(?<=\.)\s+(?=\S)"
"""Compiled when it is needed: only ``--help`` does."""


class OptionGroup(NamedTuple):
    """Options that many commands have, and what there is to say of all of them."""

    text: str
    options: tuple[str, ...]


GROUPS = {
    "input": OptionGroup(
        "What is loaded. A FILE is a file of declarations, a source, a directory, or REV:PATH: one of these at a git "
        "revision, such as main:decl.yaml (./PATH: from the working directory). An existing file with that name comes "
        "first. FILEs are applied one after the other. `privateuse1` and `base` can also stand in "
        "[tool.dispatch-cli] of pyproject.toml.",
        ("-k", "--base", "--universe", "--privateuse1", "--allow-outside", "--when", "--config"),
    ),
    "sources": OptionGroup(
        "How sources are read: C++, CUDA, Objective-C++, Python, and torchgen's YAML. The same can stand in "
        "[tool.dispatch-cli.extract] of pyproject.toml: define, undefine, include, set, exclude. So can "
        "codegen-backends: the backends that PyTorch was built for, such as CPU and CUDA; without it, kernels of "
        "native_functions.yaml for CUDA, MPS, MTIA and XPU are conditional. Give derivatives.yaml as a FILE beside "
        "native_functions.yaml. A test in Python that reads other values in another call is another condition: "
        "`probe(key) (value 2)`. check-invariants checks PyTorch's own sources (aten, c10, torch) over no state.",
        ("-D", "-U", "-I", "--set", "--exclude", "--strict"),
    ),
    "output": OptionGroup(
        "How the answer is written. text is for people; json, and csv where an answer has rows, have every row and "
        "field, and `dispatch-cli schema REPORT` prints the JSON Schema. markdown and html are for pages. raw is what "
        "PyTorch prints. sarif, github and junit are for CI.\n\nIn CSV, a ' before a value keeps spreadsheets from "
        "taking it for a formula; DISPATCH_CLI_CSV=exact leaves it out. NO_COLOR and FORCE_COLOR are honoured.",
        ("--format", "--output", "--color"),
    ),
}
"""The groups by name. A command can have fewer options of a group, and formats of its own."""


class Command(click.Command):
    """A command whose help shows its own options first, and names the shared ones by their groups."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. Input that cannot be used is `BadInput`, with the colours that were asked for."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            from dispatch_cli.model.problem import InputError

            if not isinstance(error, InputError):
                raise
            from dispatch_cli.cli.output import BadInput

            raise BadInput(error, ctx.params.get("color") or "auto") from None

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """One screen: the purpose, each own option with a sentence, the groups."""
        self.format_usage(ctx, formatter)
        with formatter.indentation():
            formatter.write_text((self.help or "").split("\n\n")[0])
        if own := [option for option in self._own_options(ctx) if "--help" not in option.opts]:
            with formatter.section("Options"):
                formatter.write_dl([_in_short(option, ctx) for option in own])
        groups = self._shared_options(formatter)
        formatter.write_text(f"`dispatch-cli help TOPIC` explains: {', '.join((ctx.info_name or '', *groups))}.")

    def format_whole_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Help with everything about the command."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        with formatter.section("Options"):
            formatter.write_dl([*_records(self._own_options(ctx), ctx)])
        self._shared_options(formatter)

    def _own_options(self, ctx: click.Context) -> list[click.Option]:
        shared = {option for options in _groups_of(self).values() for option in options}
        options = (param for param in self.get_params(ctx) if isinstance(param, click.Option))
        return [option for option in options if option not in shared]

    def _shared_options(self, formatter: click.HelpFormatter) -> list[str]:
        """Write the names of the shared options; the groups that the command has."""
        groups = _groups_of(self)
        if groups:
            with formatter.section("Shared options"):
                formatter.write_dl([(name, ", ".join(map(_label, options))) for name, options in groups.items()])
        return [*groups]


def _in_short(option: click.Option, ctx: click.Context) -> tuple[str, str]:
    """An option with the first sentence of its help, and the values of which it takes one."""
    record = option.get_help_record(ctx)
    assert record is not None, "no option is hidden"
    name, text = record
    sentence = re.split(_SENTENCE_END, text.partition("  [")[0])[0]
    if isinstance(option.type, click.Choice):
        name, _, values = name.partition(" ")
        sentence = f"{values} {sentence}".rstrip()
    return name, sentence


def _groups_of(command: click.Command) -> dict[str, list[click.Option]]:
    """The options of a command that are shared, by group."""
    by_name = {max(param.opts, key=len): param for param in command.params if isinstance(param, click.Option)}
    parts = {name: [by_name[option] for option in group.options if option in by_name] for name, group in GROUPS.items()}
    return {name: options for name, options in parts.items() if options}


def _label(option: click.Option) -> str:
    """An option in a list: its shortest name, and what it takes where that differs between commands."""
    name = min(option.opts, key=len)
    return f"{name} {'|'.join(option.type.choices)}" if name == "--format" else name  # type: ignore[attr-defined]


def _topics(ctx: click.Context) -> list[str]:
    group = ctx.find_root().command
    assert isinstance(group, click.Group)
    return [*GROUPS, *group.list_commands(ctx)]


def _complete(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[Any]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(topic) for topic in _topics(ctx) if topic.startswith(incomplete)]


@click.command("help", cls=Command)
@click.argument("topic", required=False, metavar="[COMMAND|input|sources|output]", shell_complete=_complete)
@click.pass_context
def command(ctx: click.Context, topic: str | None) -> None:
    """Say everything about a command, or explain options that commands share: input, sources, output."""
    from dispatch_cli.cli.output import write

    write([_help(ctx, topic), "\n"], None, for_people=True)


def _help(ctx: click.Context, topic: str | None) -> str:
    """The text about a topic. Errors: UsageError."""
    root = ctx.find_root()
    group = root.command
    assert isinstance(group, click.Group)
    if topic is None:
        return root.get_help()
    formatter = root.make_formatter()
    if topic in GROUPS:
        _write_group(topic, group, root, formatter)
    elif topic in group.list_commands(root):
        subcommand = group.get_command(root, topic)
        assert isinstance(subcommand, Command), "every command has this help"
        subcommand.format_whole_help(click.Context(subcommand, info_name=topic, parent=root), formatter)
    else:
        from dispatch_cli.cli.options import as_sentence
        from dispatch_cli.model.text.suggest import did_you_mean, similar

        close = did_you_mean([*map(repr, similar(topic, _topics(ctx)))])
        raise click.UsageError(f"No help about {topic[:200]!r}.{as_sentence(close)}", ctx)
    return formatter.getvalue().rstrip("\n")


def _write_group(topic: str, group: click.Group, root: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the options of a group as `check-invariants` has them, which has all of each group."""
    command = group.get_command(root, "check-invariants")
    assert command is not None
    context = click.Context(command, parent=root)
    for number, paragraph in enumerate(GROUPS[topic].text.split("\n\n")):
        if number:
            formatter.write_paragraph()
        formatter.write_text(paragraph)
    with formatter.section("Options"):
        formatter.write_dl([*_records(_groups_of(command)[topic], context)])


def _records(options: list[click.Option], context: click.Context) -> Iterator[tuple[str, str]]:
    for option in options:
        record = option.get_help_record(context)
        if record is not None:
            yield record
