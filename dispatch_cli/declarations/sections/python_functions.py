"""Python functions in declarations, what captured kernels are made of, and how kernels go on with a call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dispatch_cli.declarations.fields import (
    Values,
    items_of,
    parse_place,
    read_named,
    read_record,
    read_records,
    text_of,
)
from dispatch_cli.declarations.formats.format_types import (
    AT,
    BOOLEAN,
    BOOLEANS,
    TEXT,
    TEXTS,
    Field,
    Record,
    Type,
    choice,
    list_of,
    record,
    some,
    text_or,
)
from dispatch_cli.declarations.sections.context import FileContext
from dispatch_cli.declarations.tree import Mapping, Node, Scalar, kind_of
from dispatch_cli.model.kernel import Kernel, Redispatch, RedispatchKind, WrapKind, Wrapped
from dispatch_cli.model.span import Span
from dispatch_cli.model.text.suggest import suggestion

if TYPE_CHECKING:
    from dispatch_cli.model.sources.function_body import ArgumentUse, FunctionBody

_GOES_ON = (*BOOLEANS, *(kind.value for kind in RedispatchKind if kind.value not in (*BOOLEANS, "to", "exclude")))
"""Words that the field `redispatches` of a kernel may be, beside a mapping."""
A_FUNCTION = text_or("the name of a Python function", "python_function")
SOME_FUNCTIONS = some(A_FUNCTION, "Python functions")
_AT = Field("at", TEXT, "Where it is defined, as `FILE:LINE`.", default="not known")
ARGUMENT_USE = Record(
    "argument_use",
    "a use of an argument",
    "A place where a Python function writes to an argument, or returns it or a view of it.",
    (
        Field("argument", TEXT, "The name of the parameter.", required=True),
        Field("text", TEXT, "The expression, such as `x.add_(1)`.", required=True),
        AT,
        Field(
            "sometimes",
            BOOLEAN,
            "Not every call that returns gets there, or the result shares storage with some tensors only.",
            default="false",
        ),
    ),
)
_USES = list_of(record("argument_use"), "uses of arguments")
BODY = Record(
    "function_body",
    "the body of a function",
    "What the source of a Python function says; `extract` writes it.",
    (
        Field(
            "parameters",
            list_of(TEXT, "strings"),
            "Its parameters as Python writes them, with `=` for a default: `[x, n=, '*', out]`.",
            required=True,
        ),
        Field("writes", _USES, "Writes to its arguments, or to views of them.", default="none are known"),
        Field("returns", _USES, "Results that are its arguments, or views of them.", default="none are known"),
        Field(
            "values",
            TEXT,
            "The fewest values that a `return` statement of it has, and the most up to the last one that is not None: "
            "`2..3`. Known where all of them are written out.",
            default="not known",
        ),
    ),
)

A_BODY = Field("body", record("function_body"), "What its source says.", default="not known")
REDISPATCHES = Record(
    "redispatches",
    "a redispatch",
    "Which keys a kernel redispatches to, or excludes: one of the two fields.",
    (
        Field("to", TEXT, "The runtime key that it redispatches to, with no other key in the key set."),
        Field(
            "exclude",
            TEXTS,
            "The keys that it excludes on the thread before it calls the operator again: runtime keys, or alias keys "
            "for all runtime keys that they cover, separated by commas or as a list.",
            excludes=("to",),
        ),
    ),
    ("to", "exclude"),
)
GOES_ON_TYPE = Type(
    f"{', '.join(_GOES_ON)}, or a mapping with 'to' or 'exclude'",
    (Scalar, Mapping),
    {"anyOf": [{"enum": [True, False, *_GOES_ON[len(BOOLEANS) :]]}, {"$ref": "#/$defs/redispatches"}]},
    _GOES_ON,
)
PYTHON_FUNCTION = Record(
    "python_function",
    "a Python function",
    "A user's Python function from which `torch.library` makes a kernel, when more than its name is given.",
    (
        Field("kernel", TEXT, "Its name.", required=True),
        _AT,
        Field(
            "redispatches",
            GOES_ON_TYPE,
            "What it does next in a call, as for a kernel.",
            default="a function for a device type computes the result; a batching rule is assumed to call the operator "
            "again",
        ),
        A_BODY,
    ),
)
WRAPS = Record(
    "wraps",
    "a wrapped function",
    "The Python function that a kernel of `torch.library` wraps. Captures have it.",
    (
        Field(
            "by",
            choice(*(kind.value for kind in WrapKind)),
            "The wrapper that PyTorch put around the function. `function`: none (`torch.library.impl`). `kernel`: "
            "that of `register_kernel` and `custom_op`; `triton`: that of `triton_op`. `autograd`, `vmap`, `autocast`: "
            "that of `register_autograd`, `register_vmap`, `register_autocast`. `version-counters`, `backend-select`: "
            "what `custom_op` registers for operators that write to arguments, or that have no tensor arguments.",
            required=True,
        ),
        Field("kernel", TEXT, "The name of the function.", default="none: the operator has no backward"),
        _AT,
        Field("setup_context", TEXT, "For `autograd`: the function that saves values for the backward."),
        Field("dtype", TEXT, "For `autocast`: the dtype to which tensors are cast."),
    ),
)
_BY_WORD = {kind.value: kind for kind in RedispatchKind} | {"true": RedispatchKind.BELOW_KEY}


def read_redispatches(context: FileContext, values: Values) -> Redispatch | None:
    """The field ``redispatches``; None, noting why, when it says nothing that can be understood."""
    problems, node = context.problems, values.get("redispatches")
    if type(node) is Scalar:
        text = node.text
        if text in _GOES_ON and (node.plain or text not in BOOLEANS):
            return Redispatch(_BY_WORD[text], span=problems.span(node))
        hint = "remove the quotes" if text in _GOES_ON else suggestion(text, _GOES_ON)
        problems.add("bad-value", f"expected {GOES_ON_TYPE.words}, found {kind_of(node)}", node, hint)
    if type(node) is not Mapping or (inner := read_record(problems, node, REDISPATCHES)) is None:
        return None
    target = inner.get("to")
    if type(target) is Scalar:
        is_text = text_of(problems, target) is not None
        key = context.keys.slot(problems, target) if is_text else None
        return None if key is None else Redispatch(RedispatchKind.TO, (key,), problems.span(node))
    names: dict[str, None] = {}
    for item in inner.scalars("exclude", "a dispatch key"):
        if text_of(problems, item) is not None:
            names |= dict.fromkeys(context.keys.in_sets(problems, item))
    return Redispatch(RedispatchKind.EXCLUDE, tuple(names), problems.span(node)) if names else None


class PythonFunction(NamedTuple):
    """A user's function. place: where it is defined. redispatches: how it goes on, where that is declared."""

    name: str
    place: str | None
    redispatches: Redispatch | None
    span: Span
    body: FunctionBody | None = None

    def kernel(self, debug: str, kind: WrapKind, redispatches: Redispatch | None) -> Kernel:
        """The kernel that PyTorch makes of this function with a wrapper around it."""
        wraps = Wrapped(kind, self.name, self.place)
        return Kernel(debug, python=True, span=self.span, redispatches=redispatches, wraps=wraps, body=self.body)


def read_function(context: FileContext, node: Node | None) -> PythonFunction | None:
    """A function; None, noting why, when there is none."""
    problems = context.problems
    values = None if node is None else read_named(problems, node, PYTHON_FUNCTION)
    if values is None:
        return None
    name, place, span = values.text("kernel"), values.text("at"), None
    if place is not None and (span := parse_place(place)) is not None:
        problems.source_of(span.file)
        place = f"{span.file}:{span.line}"
    redispatches, body = read_redispatches(context, values), read_body(values)
    return PythonFunction(name, place, redispatches, span or problems.span(values.node), body) if name else None


def read_functions(context: FileContext, node: Node | None) -> list[PythonFunction]:
    """The functions of a list, or the one that is not in a list, in the order of registration."""
    functions = [read_function(context, item) for item in items_of(node)]
    return [function for function in functions if function is not None]


def read_body(values: Values) -> FunctionBody | None:
    """The field ``body`` of a function; None, noting why, where nothing is declared of it."""
    node = values.get("body")
    inner = read_record(values.problems, node, BODY)
    if node is None or inner is None or inner.get("parameters") is None:
        return None
    from dispatch_cli.model.sources.function_body import FunctionBody

    parameters = tuple(filter(None, inner.texts("parameters")))
    writes, returns = (tuple(_read_uses(inner, field)) for field in ("writes", "returns"))
    fewest, _, most = (inner.text("values") or "").partition("..")
    body = FunctionBody(parameters, writes, returns)
    try:
        body.signature  # noqa: B018  # it raises
        return body._replace(values=(int(fewest), int(most))) if fewest else body
    except ValueError:
        values.problems.add("bad-value", "Python has no such function", node, "extract writes it: extract again")
        return None


def _read_uses(body: Values, field: str) -> Iterator[ArgumentUse]:
    from dispatch_cli.model.sources.function_body import ArgumentUse

    for values in read_records(body.problems, body.get(field), ARGUMENT_USE):
        argument, text = values.text("argument"), values.text("text")
        place = values.place() or body.problems.span(values.node)
        if argument is not None and text is not None:
            yield ArgumentUse(argument, text, place, values.flag("sometimes") is True)


def read_wraps(values: Values) -> Wrapped | None:
    """The field ``wraps`` of a kernel; None where there is none, or it is not understood."""
    node = values.get("wraps")
    inner = read_record(values.problems, node, WRAPS)
    by = None if inner is None else inner.get("by")
    if inner is None or type(by) is not Scalar:
        return None
    return Wrapped(
        WrapKind(by.text),
        function=inner.text("kernel"),
        place=inner.text("at"),
        setup_context=inner.text("setup_context"),
        dtype=inner.text("dtype"),
    )
