"""The fields of kernels, of Python functions and of fake implementations in declarations."""

from __future__ import annotations

from dispatch_cli.declarations.formats.format_types import (
    AT,
    BOOLEAN,
    BOOLEANS,
    ONE_KEY,
    TEXT,
    TEXTS,
    WHEN,
    Field,
    Record,
    Type,
    choice,
    list_of,
    record,
    some,
    text_or,
)
from dispatch_cli.declarations.tree import Mapping, Scalar
from dispatch_cli.model.kernel import RedispatchKind, WrapKind

FALLTHROUGH = "fallthrough"
CATCH_ALL = "CatchAll"
"""The word for a registration without a dispatch key."""
GOES_ON = (*BOOLEANS, *(kind.value for kind in RedispatchKind if kind.value not in (*BOOLEANS, "to", "exclude")))
"""Words that the field `redispatches` of a kernel may be, beside a mapping."""
A_KERNEL = text_or("a kernel name", "kernel")
KERNELS = some(A_KERNEL, "kernels")
MEMBERS = some(text_or("a kernel name", "library_kernel"), "kernels")
FAKES = some(text_or("the name of a Python function", "fake_impl"), "fake implementations")
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
_BODY = Field("body", record("function_body"), "What its source says.", default="not known")
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
    f"{', '.join(GOES_ON)}, or a mapping with 'to' or 'exclude'",
    (Scalar, Mapping),
    {"anyOf": [{"enum": [True, False, *GOES_ON[len(BOOLEANS) :]]}, {"$ref": "#/$defs/redispatches"}]},
    GOES_ON,
)
_KERNEL_FIELDS = (
    Field(
        "kernel",
        TEXT,
        "The kernel's name. Kernels with the same name are the same function.",
        excludes=("fallthrough",),
    ),
    Field("debug", TEXT, "The kernel's debug string, which dumps show.", default="its name"),
    Field(
        "signature",
        TEXT,
        "The inferred signature, such as `(Tensor a, Scalar b) -> Tensor`. It must match the operator's schema.",
        default="none",
    ),
    Field("fallthrough", BOOLEAN, "The kernel is a fallthrough; then it has no name.", default="false"),
    Field("boxed", BOOLEAN, "The kernel can be called boxed.", default="true"),
    Field(
        "unboxed",
        BOOLEAN,
        "The kernel can be called unboxed.",
        default="true when it has a signature and is not a Python kernel",
    ),
    Field("python", BOOLEAN, "The kernel is a Python function.", default="false"),
    Field(
        "redispatches",
        GOES_ON_TYPE,
        "What the kernel does next in a call. `false`: it computes the result, and no other kernel of the operator "
        "runs. `true` or `below-key`: it redispatches with the keys below its own. `below-autograd`: it redispatches "
        "with the keys below all autograd keys. `unwrapped`: it unwraps the tensors of the innermost functorch "
        "transform and calls the operator again below it. `other-operators`: it calls other operators. `raises`: it "
        "raises an error. A mapping names keys. The value applies to every kernel with this name.",
        default="assumed from the kernel's dispatch key, and the answer says so",
        excludes=("fallthrough",),
    ),
    Field("wraps", record("wraps"), "The user's Python function that the kernel wraps."),
    _BODY,
    AT,
    WHEN,
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
        _BODY,
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
_KERNEL_ONE_OF = ("kernel", "debug", "fallthrough")
KERNEL = Record(
    "kernel",
    "a kernel",
    "A kernel, when more than its name is given. `fallthrough` instead of a name is short for `{fallthrough: true}`; "
    "in quotes, as in JSON, it is a name.",
    _KERNEL_FIELDS,
    _KERNEL_ONE_OF,
)
LIBRARY_KERNEL = Record(
    "library_kernel",
    "a kernel",
    "A kernel in the `impl` of a library.",
    (
        *_KERNEL_FIELDS,
        Field(
            "dispatch_key",
            ONE_KEY,
            "The key at which it is registered, in a block without a key.",
            default=f"the block's, else {CATCH_ALL}",
        ),
    ),
    _KERNEL_ONE_OF,
)
FAKE_IMPL = Record(
    "fake_impl",
    "a fake implementation",
    "A fake implementation, as registered by `torch.library.register_fake`, when more than the function's name is "
    "given. `FakeTensorMode` runs it, and PyTorch also registers it as a Python kernel at `Meta`. It is refused "
    "where PyTorch refuses it.",
    (
        Field("kernel", TEXT, "The name of the Python function.", excludes=("missing",)),
        Field(
            "missing",
            BOOLEAN,
            "The user has registered no function. `torch.library.custom_op` then registers its own, which raises an "
            "error.",
            default="false",
        ),
        Field("debug", TEXT, "The debug string of the kernel at `Meta`.", default="its name"),
        Field("source", TEXT, "Where PyTorch says it was registered, as `FILE:LINE`.", default="not known"),
        Field(
            "allow_override",
            BOOLEAN,
            "Whether it may replace an earlier fake implementation or kernel at `Meta`; otherwise PyTorch refuses it.",
            default="true; false before PyTorch's `register_fake` had this parameter",
        ),
        _BODY,
        AT,
    ),
    ("kernel", "missing"),
)
