"""The fields of kernels, of Python functions and of fake implementations in declarations."""

from __future__ import annotations

from dispatch_cli.declarations.format_types import (
    BOOLEAN,
    BOOLEANS,
    ONE_KEY,
    TEXT,
    TEXTS,
    Field,
    Record,
    Type,
    choice,
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
"""What the field `redispatches` of a kernel may be, beside a mapping."""
A_KERNEL = text_or("a kernel name", "kernel")
KERNELS = some(A_KERNEL, "kernels")
MEMBERS = some(text_or("a kernel name", "library_kernel"), "kernels")
FAKES = some(text_or("the name of a Python function", "fake_impl"), "fake implementations")
A_FUNCTION = text_or("the name of a Python function", "python_function")
SOME_FUNCTIONS = some(A_FUNCTION, "Python functions")
_AT = Field("at", TEXT, "Where it is defined, as `FILE:LINE`.", default="not known")
REDISPATCHES = Record(
    "redispatches",
    "a way to go on",
    "How a kernel goes on, where it names keys: one of the two fields.",
    (
        Field("to", TEXT, "The runtime key that it redispatches at; no other key is in the set."),
        Field(
            "exclude",
            TEXTS,
            "It calls the operator anew with these keys excluded on the thread: runtime keys, and alias keys for all "
            "that they cover, separated by commas or in a list.",
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
    Field("kernel", TEXT, "The kernel's name. Kernels of one name are one function."),
    Field("debug", TEXT, "What a dump shows for the kernel.", default="its name"),
    Field(
        "signature",
        TEXT,
        "The inferred signature, such as `(Tensor a, Scalar b) -> Tensor`. It is held against the operator's schema.",
        default="none",
    ),
    Field("fallthrough", BOOLEAN, "The kernel falls through; it has no name then.", default="false"),
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
        "How the kernel goes on with a call. `false`: it computes the result; no other kernel of the operator runs. "
        "`true` or `below-key`: it redispatches with the keys below its own. `below-autograd`: with those below all "
        "autograd keys. `unwrapped`: it takes off the wrappers of the innermost functorch transform and calls the "
        "operator anew below it. `other-operators`: it calls other operators. `raises`: it raises an error. A mapping "
        "names keys. What is said here holds for every kernel of this name.",
        default="assumed by the kernel's place, and the answer says so",
    ),
    Field("wraps", record("wraps"), "The user's Python function that PyTorch made the kernel of."),
)
PYTHON_FUNCTION = Record(
    "python_function",
    "a Python function",
    "A user's Python function that `torch.library` makes a kernel of, where its name alone does not say enough.",
    (
        Field("kernel", TEXT, "Its name.", required=True),
        _AT,
        Field(
            "redispatches",
            GOES_ON_TYPE,
            "How it goes on with a call, as for a kernel.",
            default="the function of a device type computes; a batching rule is assumed to call the operator again",
        ),
    ),
)
WRAPS = Record(
    "wraps",
    "what a kernel is made of",
    "What PyTorch made a kernel of. A capture says so of what `torch.library` registered.",
    (
        Field(
            "by",
            choice(*(kind.value for kind in WrapKind)),
            "What PyTorch put around the function: `function` is nothing (`torch.library.impl`), `kernel` is of "
            "`register_kernel` and `custom_op`, `autograd` of `register_autograd`, `vmap` of `register_vmap`, "
            "`autocast` of `register_autocast`; `version-counters` and `backend-select` are what `custom_op` registers "
            "for operators that write, or that have no tensors.",
            required=True,
        ),
        Field("kernel", TEXT, "The name of the function.", default="there is none: an operator without a backward"),
        _AT,
        Field("setup_context", TEXT, "Of `autograd`: the function that saves what the backward needs."),
        Field("dtype", TEXT, "Of `autocast`: what tensors are cast to."),
    ),
)
_KERNEL_ONE_OF = ("kernel", "debug", "fallthrough")
KERNEL = Record(
    "kernel",
    "a kernel",
    "A kernel, where its name alone does not say enough. The word `fallthrough` in place of a name is short for "
    "`{fallthrough: true}`.",
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
            "The key it is registered at, in a block that has none.",
            default=f"the block's, else {CATCH_ALL}",
        ),
    ),
    _KERNEL_ONE_OF,
)
FAKE_IMPL = Record(
    "fake_impl",
    "a fake implementation",
    "A fake implementation, as `torch.library.register_fake` registers one, where the function's name alone does not "
    "say enough. `FakeTensorMode` runs it, and PyTorch registers it as a Python kernel at `Meta` too. It is refused "
    "where PyTorch refuses it.",
    (
        Field("kernel", TEXT, "The name of the Python function."),
        Field(
            "missing",
            BOOLEAN,
            "There is no function: `torch.library.custom_op` registers one of its own, which raises an error, until "
            "the user registers one.",
            default="false",
        ),
        Field("debug", TEXT, "What a dump shows for the kernel at `Meta`.", default="its name"),
        Field("source", TEXT, "Where PyTorch says that it is registered, as `FILE:LINE`.", default="not known"),
        Field(
            "allow_override",
            BOOLEAN,
            "Whether it may replace an earlier fake implementation or kernel at `Meta`; otherwise PyTorch refuses it.",
            default="true; false before PyTorch's `register_fake` had this parameter",
        ),
    ),
    ("kernel", "missing"),
)
