"""Bodies of functions that are registered: parameters, writes to them, and results that share their storage.

Only what the text makes certain is read. A name that is bound once stands for the tensor whose view it is; a name that
is bound to anything else, and a nested function, say nothing.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

import dispatch_cli.extract.python.names as names
from dispatch_cli.extract.python.evaluation.values import FunctionValue, Value, default_nodes, source_text
from dispatch_cli.extract.python.run import PythonRun
from dispatch_cli.model.sources.function_body import ArgumentUse, FunctionBody

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

MAX_USES = 20
"""Writes and results of one function that are kept."""
_VIEWS = frozenset(
    {"view", "view_as", "expand", "expand_as", "squeeze", "unsqueeze", "transpose", "t", "permute", "narrow"}
    | {"select", "detach", "diagonal", "unflatten", "movedim", "swapaxes", "unbind", "chunk", "split"}
)
"""Methods whose results share the storage of their tensor."""
_MAYBE_VIEWS = frozenset(
    {"contiguous", "reshape", "reshape_as", "flatten", "ravel", "to", "type_as", "type", "float", "half"}
    | {"bfloat16", "double", "int", "long", "bool", "cpu", "cuda"}
)
"""Methods whose results do for some tensors."""
_VIEW_ATTRIBUTES = frozenset({"data", "T", "mT", "H", "mH"})
_KEEPS_DATA = frozenset({"requires_grad_", "detach_", "share_memory_", "rename_"})
"""Methods with the name of one that writes, which write no data."""
_FACTORIES = frozenset(f"{name}{ending}" for name in ("empty", "zeros", "ones", "full") for ending in ("", "_like"))
"""Functions of torch that return one new tensor."""
_NEW = frozenset({"new_empty", "new_zeros", "new_ones", "new_full"})
"""Methods of tensors that do."""
_OF_TENSOR = (_VIEWS | _MAYBE_VIEWS | {"clone"}) - {"unbind", "chunk", "split", "type"}
"""Methods whose result is one tensor."""
_Views = dict[str, tuple[str, ast.expr | None, bool]]
"""The argument whose storage a name shares, the expression that the name is bound to, and whether it always does."""


def body_of(function: Value, run: PythonRun) -> FunctionBody | None:
    """The body of a function of the project; None for anything else, and where a decorator may replace it."""
    if not isinstance(function, FunctionValue) or not is_as_written(function):
        return None
    node, file = function.node, function.scope.file
    run.spend(names.function_facts(node).size if not isinstance(node, ast.Lambda) else 1)
    parameters = _parameters(node)[1 if function.bound else 0 :]
    bound = Counter(names.bound_names(node))
    given = {text.rstrip("=") for text in parameters if text[0] not in "*/"}
    arguments = given - set(bound)
    nodes = list(names.own_nodes(node))
    views = _views(nodes, given, bound)
    writes = [
        ArgumentUse(argument, f"{source_text(inner)}{' = …' * isinstance(inner, ast.Subscript)}", run.span(file, inner))
        for inner in nodes
        for written in _written(inner)
        for argument, _, sure in _viewed(written, views)
        if sure
    ]
    # an element of a list's copy may be another one by now
    changed = {source_text(it.value) for it in nodes if isinstance(it, ast.Subscript) and isinstance(it.ctx, ast.Store)}
    results, always = [inner.value for inner in nodes if isinstance(inner, ast.Return)], True
    if isinstance(node, ast.Lambda):
        results = [node.body]
    else:
        always = len(results) == 1 and _ends_with_return(node.body)
    returns = [
        ArgumentUse(argument, source_text(value), run.span(file, part), not (sure and always))
        for result in results
        for part in _parts(result)
        if not isinstance(part, ast.Subscript) or source_text(part.value) not in changed - given
        for argument, value, sure in _viewed(part, views)
    ]
    returns += [
        ArgumentUse(name, source_text(result), run.span(file, result), not always)
        for result in filter(None, results)
        for name, count in Counter(part.id for part in _parts(result) if isinstance(part, ast.Name)).items()
        if count > 1 and name in bound and name not in given
    ]
    values = _values_of_all(results, nodes, arguments)
    if any(isinstance(inner, ast.Yield | ast.YieldFrom) for inner in nodes):
        returns, values = [], None
    return FunctionBody(parameters, tuple(writes[:MAX_USES]), tuple(returns[:MAX_USES]), values)


def is_as_written(function: Value) -> bool:
    """True for a function of the project that no unknown decorator replaces; PyTorch's pass all arguments on."""
    if not isinstance(function, FunctionValue):
        return False
    decorators = () if isinstance(function.node, ast.Lambda) else function.node.decorator_list
    return not function.may_be_replaced or all(source_text(decorator).startswith("torch.") for decorator in decorators)


def _parameters(node: Function) -> tuple[str, ...]:
    given, defaults = node.args, default_nodes(node.args)

    def names(parameters: list[ast.arg]) -> list[str]:
        return [f"{part.arg}=" if part.arg in defaults else part.arg for part in parameters]

    result = [*names(given.posonlyargs), *(["/"] if given.posonlyargs else []), *names(given.args)]
    if given.vararg is not None:
        result.append(f"*{given.vararg.arg}")
    elif given.kwonlyargs:
        result.append("*")
    return (*result, *names(given.kwonlyargs), *([f"**{given.kwarg.arg}"] if given.kwarg is not None else []))


def _views(nodes: list[ast.AST], given: set[str], bound: Counter[str]) -> _Views:
    """The parameters, and the names that are bound once, to one of these or to a view of it."""
    views: _Views = {name: (name, None, True) for name in given if not bound[name]}
    for node in nodes:
        match node:
            case ast.Assign([ast.Name(name)], value) | ast.For(ast.Name(name), ast.Name() as value):
                own: _Views = {name: (name, None, True)} if name in given else views
                for argument, _, sure in _viewed(value, own) if bound[name] == 1 else ():
                    views[name] = (argument, None if isinstance(node, ast.For) else value, sure)
    return views


def _viewed(node: ast.expr, views: _Views) -> Iterator[tuple[str, ast.expr, bool]]:
    """The argument whose storage a value shares, an expression for the value, and whether it always does."""
    for name, sure in _storage(node):
        if name in views:
            argument, value, always = views[name]
            yield argument, value if value is not None and isinstance(node, ast.Name) else node, sure and always


def _written(node: ast.AST) -> list[ast.expr]:
    """The tensors that a statement or call writes to."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        targets = [node.target]
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        targets = [node.value]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        own = _root(node.func) == "torch"
        if _is_in_place(node.func.attr):
            targets = [*_parts(node.args[0])] if own and node.args else [node.func.value]
        targets += [part for keyword in node.keywords if own and keyword.arg == "out" for part in _parts(keyword.value)]
    return targets


def _root(node: ast.expr) -> str:
    """The name that a dotted name begins with."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_in_place(method: str) -> bool:
    return method.endswith("_") and not method.endswith("__") and method not in _KEEPS_DATA


def _parts(value: ast.expr | None) -> list[ast.expr]:
    """The values of a tuple or list that is written out, or the one value."""
    if isinstance(value, ast.Tuple | ast.List):
        return value.elts
    return [] if value is None else [value]


def _storage(node: ast.expr) -> Iterator[tuple[str, bool]]:
    """The name of the tensor whose storage a value shares, and whether it always does."""
    sure = True
    while not isinstance(node, ast.Name):
        match node:
            case ast.Attribute(value, attribute) if attribute in _VIEW_ATTRIBUTES:
                node = value
            case ast.Subscript(value, index) if not isinstance(index, ast.List) and all(map(_is_plain, _parts(index))):
                node = value
            case ast.Call(ast.Attribute(value, method)) if method in _VIEWS or _is_in_place(method):
                node = value
            case ast.Call(ast.Attribute(value, method)) if method in _MAYBE_VIEWS:
                node, sure = value, False
            case _:
                return
    yield node.id, sure


def _is_plain(index: ast.expr) -> bool:
    """True if indexing with it gives a view: an integer, a slice, None or ``...``."""
    if isinstance(index, ast.UnaryOp):
        index = index.operand
    return isinstance(index, ast.Slice) or (isinstance(index, ast.Constant) and not isinstance(index.value, bool | str))


def _ends_with_return(body: list[ast.stmt]) -> bool:
    last = body[-1]
    return _ends_with_return(last.body) if isinstance(last, ast.With) else isinstance(last, ast.Return)


def _is_computed(node: ast.expr | None, arguments: set[str]) -> bool:
    """True for one value: a parameter, arithmetic of one, or a new tensor."""
    match node:
        case ast.Call(ast.Attribute(ast.Name("torch"), name)):
            return name in _FACTORIES
        case ast.Call(ast.Attribute(owner, name)):
            return name in _NEW or ((name in _OF_TENSOR or _is_in_place(name)) and _is_computed(owner, arguments))
        case ast.Name(name):
            return name in arguments
        case ast.UnaryOp(ast.USub(), operand):
            return _is_computed(operand, arguments)
        case ast.BinOp(left, _, right):
            return _is_computed(left, arguments) or _is_computed(right, arguments)
        case _:
            return False


def _values_of_all(results: list[ast.expr | None], nodes: list[ast.AST], arguments: set[str]) -> tuple[int, int] | None:
    """The fewest values of all results, and the most up to the last that is not None; None where that is not known."""
    counts = [count for result in results if (count := _values(result, arguments)) is not None]
    if counts and len(counts) == len(results):
        return min(all_of for all_of, _ in counts), max(last for _, last in counts)
    if any(result is not None and source_text(result) != "None" for result in results):
        return None
    acts = any(isinstance(inner, ast.Assign | ast.AugAssign | ast.Return) for inner in nodes)  # no placeholder
    return (0, 0) if acts and not any(isinstance(inner, ast.Raise | ast.Assert) for inner in nodes) else None


def _values(node: ast.expr | None, arguments: set[str]) -> tuple[int, int] | None:
    """The number of values, and of those up to the last that is not None; None where it is not written out."""
    if _is_computed(node, arguments):
        return 1, 1
    if not isinstance(node, ast.Tuple) or any(isinstance(element, ast.Starred) for element in node.elts):
        return None
    given = [place for place, element in enumerate(node.elts, 1) if source_text(element) != "None"]
    return len(node.elts), given[-1] if given else 0
