"""Names that imports bind, and whether the imports are assumed to succeed."""

from __future__ import annotations

import ast

import dispatch_cli.extract.python.names as names
from dispatch_cli.extract.python.run import PythonRun
from dispatch_cli.extract.python.values import (
    MAX_NAME,
    MAX_TEXT,
    Dotted,
    ImportedName,
    ModuleValue,
    Opaque,
    Scope,
    Value,
)
from dispatch_cli.model.condition import Condition


class Imports:
    """Binds what imports name."""

    def __init__(self, run: PythonRun) -> None:
        self._run = run

    # imports

    def import_names(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        """Bind what an import names."""
        home = scope
        if isinstance(node, ast.Import):
            for name in node.names:
                if name.asname:
                    home.names[name.asname] = self.imported(name.name, scope)
                else:
                    top = name.name.partition(".")[0]
                    home.names[top] = self.imported(top, scope)
            return
        for name in node.names:
            if name.name == "*":
                self._star(node, scope)
                continue
            set_value = self._run.values(scope.file).get(name.asname or name.name)
            home.names[name.asname or name.name] = (
                set_value[0] if set_value else ImportedName(node, scope.file, name.name)
            )

    def imported(self, name: str, scope: Scope) -> Value:
        if names.is_torch_api(name):
            return Dotted(name)
        if len(name) > MAX_NAME:
            return Opaque(None, name[:MAX_TEXT])
        file = self._run.index.absolute(name, scope.file)
        if file and name != "torch":
            return ModuleValue(file)
        self._run.modules.add(name)
        return Dotted(name)

    def _star(self, node: ast.ImportFrom, scope: Scope) -> None:
        base = node.module or ""
        file = (
            self._run.index.relative(scope.file, node.level, base)
            if node.level
            else self._run.index.absolute(base, scope.file)
        )
        if file is not None and not names.is_torch_api(base) and file not in scope.stars:
            scope.stars.append(file)

    def importable(self, name: str, scope: Scope) -> bool:
        """True if the import of a module is assumed to succeed."""
        return names.certain(name) or self._run.index.absolute(name, scope.file) is not None

    def import_condition(self, node: ast.ImportFrom, scope: Scope) -> Condition | None:
        """The condition that ``from … import`` succeeds; None where it is assumed."""
        return names.import_condition(node, scope.file, self._run.index)
