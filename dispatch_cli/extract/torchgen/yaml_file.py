"""Reading a YAML file of torchgen as a tree of nodes with places."""

from __future__ import annotations

from dispatch_cli.declarations import yaml_reader
from dispatch_cli.declarations.problems import Problems
from dispatch_cli.declarations.source import Source, SourceError
from dispatch_cli.declarations.tree import Mapping, Node, Sequence, kind_of
from dispatch_cli.extract.sources import Sources
from dispatch_cli.model.budget import Budget, OverBudget
from dispatch_cli.model.problem import Problem
from dispatch_cli.model.span import Span


class YamlFile:
    """The tree of a file. root: None where there is none, and *problems* say why."""

    def __init__(self, sources: Sources, name: str) -> None:
        self.name = name
        self.root: Node | None = None
        self.problems: tuple[Problem, ...] = ()
        try:
            text = sources.read(name).removeprefix("\ufeff")
            source = Source(name, text, Budget(len(text)))
            source.budget.spend(text.count("\n"))
        except SourceError as error:
            span = Span(name, error.line, error.column)
            self.problems = (Problem(error.code, error.message, span, hint=error.hint),)
            return
        except OverBudget as error:
            self.problems = (Problem("too-large", error.message, Span(name, 1, 1), hint=error.hint),)
            return
        problems = Problems(source)
        self.root = yaml_reader.parse(problems)
        self.problems = problems.problems

    def fields(self) -> Mapping | None:
        """The mapping that the file is; None where it is something else, which is a problem then."""
        if isinstance(self.root, Mapping):
            return self.root
        self._expected("a mapping")
        return None

    def entries(self) -> tuple[Node, ...]:
        """The entries of the list that the file is; none where it is something else, which is a problem then."""
        if isinstance(self.root, Sequence):
            return self.root.items
        self._expected("a list")
        return ()

    def _expected(self, what: str) -> None:
        if self.root is not None and not self.problems:
            span = Span(self.name, self.root.line, self.root.column)
            self.problems = (Problem("wrong-type", f"{what} is expected here, not {kind_of(self.root)}", span),)
        elif not self.problems:
            self.problems = (Problem("empty", f"the file is empty; {what} is expected", Span(self.name, 1, 1)),)
