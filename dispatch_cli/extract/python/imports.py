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
    source_text,
)
from dispatch_cli.model.condition import Atom, Condition


class Imports:
    """Binds what imports name."""

    def __init__(self, run: PythonRun) -> None:
        self._run = run

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

    def condition(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> Condition | None:
        """The condition that an import succeeds; None where it is assumed."""
        index, file = self._run.index, scope.file
        if isinstance(node, ast.Import):
            unsure = (name.name for name in node.names if not names.certain(name.name))
            missing = next((name for name in unsure if index.absolute(name, file) is None), None)
            return None if missing is None else Atom(f"import {missing}")
        base = node.module or ""
        if node.level:
            path = index.relative(file, node.level, base)
            if path is not None and (base or all(self._has(path, name.name, node.level, file) for name in node.names)):
                return None
            if not base and all(index.relative(file, node.level, name.name) for name in node.names):
                return None
        elif names.certain(base):
            known = all(names.is_torch_api(f"{base}.{name.name}") for name in node.names)
            private = base.startswith("torch") and any(part.startswith("_") for part in base.split("."))
            if known or not (private or base == "torch.library"):
                return None
        elif index.absolute(base, file) is not None:
            return None
        return Atom(source_text(node))

    def _has(self, path: str, name: str, level: int, file: str) -> bool:
        """True if a package has a name: a module of it, or a name that its text has."""
        return self._run.index.relative(file, level, name) is not None or self._run.index.mentions(path, name)
