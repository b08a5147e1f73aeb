"""The fields of operators and of registration blocks in declarations."""

from __future__ import annotations

from collections.abc import Mapping as AnyMapping

from dispatch_cli.declarations.formats.format_types import (
    AT,
    BOOLEAN,
    KEYS,
    NAME,
    ONE_KEY,
    TEXT,
    WHEN,
    Field,
    Record,
    Type,
    choice,
    either,
    list_of,
    map_of,
    record,
    text_or,
)
from dispatch_cli.declarations.formats.kernel_format import (
    A_FUNCTION,
    A_KERNEL,
    CATCH_ALL,
    FAKES,
    KERNELS,
    MEMBERS,
    SOME_FUNCTIONS,
)
from dispatch_cli.declarations.tree import Scalar

PYTORCHS_WORDS: AnyMapping[str, tuple[str, ...]] = {
    "abstract_impl": ("fake",),
    "autograd": ("backward",),
    "batching_rule": ("vmap",),
    "define": ("func",),
    "device_types": ("kernels",),
    "impl": ("kernels", "dispatch"),
    "impl_abstract": ("fake",),
    "meta": ("fake",),
    "mutable_args": ("mutates_args",),
    "py_impl": ("python_dispatch",),
    "register_autocast": ("autocast",),
    "register_autograd": ("backward",),
    "register_fake": ("fake",),
    "register_kernel": ("kernels",),
    "register_vmap": ("vmap",),
}
"""Fields that a name of PyTorch's may mean where the name is another one here, for hints."""
CUSTOM_OP, TRITON_OP = "custom_op", "triton_op"
MAKERS = (CUSTOM_OP, TRITON_OP)
"""The fields with the schema of an operator that ``torch.library`` makes."""
_DEFINING = ("func", "schema")
FUNCTIONS = {
    "kernels": "register_kernel",
    "backward": "register_autograd",
    "vmap": "register_vmap",
    "autocast": "register_autocast",
}
"""The functions of ``torch.library`` that register what the fields of an operator say."""
ALIAS_ANALYSIS = ("FROM_SCHEMA", "CONSERVATIVE", "PURE_FUNCTION", "default")
_ALIAS_ANALYSIS = Field(
    "alias_analysis",
    choice(*ALIAS_ANALYSIS),
    "The alias analysis kind. `default` is that of legacy definitions without one; dumps show `CONSERVATIVE "
    "(default)`.",
    default="FROM_SCHEMA",
    needs=_DEFINING,
    excludes=MAKERS,
)
_TAGS = Field(
    "tags",
    list_of(TEXT, "strings"),
    "The operator's tags, such as `pt2_compliant_tag`.",
    needs=(*_DEFINING, *MAKERS),
)
_DEBUG = Field(
    "debug",
    TEXT,
    "The debug string of the definition, which dumps show after `debug:`.",
    default="registered at FILE:LINE",
    needs=_DEFINING,
    excludes=MAKERS,
)
_PYTHON_MODULE = Field(
    "python_module",
    TEXT,
    "The Python module with its fake implementation (`m.set_python_module`), which PyTorch names in errors where "
    "there is none yet.",
    default="not said",
    needs=_DEFINING,
    excludes=MAKERS,
)
_PYTHON_MODULE_CONTEXT = Field(
    "python_module_context",
    TEXT,
    "With `python_module`: what else `m.set_python_module` says, such as a build target.",
    needs=("python_module",),
)
UNKNOWN = "unknown"
_SCHEMA = Field(
    "schema",
    Type(f"{UNKNOWN} (a known schema is given with func)", (Scalar,), {"const": UNKNOWN}, (UNKNOWN,)),
    f"`{UNKNOWN}`: the operator is defined here, but its schema is not known. What depends on the schema is not "
    "checked.",
    default="known, or the operator is defined elsewhere",
    excludes=("func",),
)
_REASON = Field(
    "reason", TEXT, f"With `schema: {UNKNOWN}`: why it is not known.", default="not said", needs=("schema",)
)
_REFUSED = Field(
    "refused",
    TEXT,
    f"With `schema: {UNKNOWN}`: why PyTorch refuses the Python function of which it infers the schema.",
    default="it does not",
    needs=("schema", *MAKERS),
)
FAKE_TENSOR_MODE = Record(
    "fake_tensor_mode",
    "a FakeTensorMode entry",
    "What `FakeTensorMode` uses for an operator besides kernels and fake implementations. `capture` records it for "
    "PyTorch's operators; other operators rarely need it.",
    (
        Field("decomposition", TEXT, "The function that decomposes it (`torch._decomp.decomposition_table`)."),
        Field(
            "no_decomposition",
            BOOLEAN,
            "The mode does not decompose it, not even by a kernel at `CompositeImplicitAutograd`, because it has a "
            "Python meta function (`torch._decomp.meta_table`), or a C++ kernel at `Meta` that takes symbolic sizes.",
            default="false",
        ),
        Field(
            "side_effects",
            BOOLEAN,
            "Calls of it are kept when their results are not used (`torch.fx.node.has_side_effect`).",
            default="false",
        ),
        Field("prim_meta", TEXT, "The function that computes the result of a `prims` operator (`prim_meta_impl`)."),
        Field("implementation", TEXT, "The mode's own function for it (`register_op_impl`)."),
        Field(
            "raises", TEXT, "The exception that this function raises in a mode without a `ShapeEnv`.", default="none"
        ),
        Field(
            "meta_refuses",
            list_of(TEXT, "strings"),
            "Arguments for which the Python meta function raises `NotImplementedError`. The operator's real kernel "
            "then runs on tensors of zeros.",
            default="none",
        ),
        Field(
            "mixes",
            TEXT,
            "A device type, such as `cpu`, whose tensors may be mixed with those of another device in a call.",
            default="none: all tensors must be on one device",
        ),
        Field(
            "zero_dim_counts",
            BOOLEAN,
            "Zero-dimensional CPU tensors must be on that device too.",
            default="false: they may be mixed with tensors of any device",
        ),
    ),
)
OPERATOR = Record(
    "operator",
    "an operator",
    "An operator with all its registrations, in order. It needs one of these fields: `func`, a schema; `custom_op` "
    "or `triton_op` for an operator made with `torch.library`; or `name` for an operator that is defined elsewhere.",
    (
        AT,
        WHEN,
        Field("func", TEXT, "The schema with its namespace: `mylib::add(Tensor a, Tensor b) -> Tensor`."),
        Field(
            "custom_op",
            TEXT,
            "The schema of an operator made with `torch.library.custom_op`. It has every kernel that `custom_op` "
            "registers: at Meta and Autograd; at ADInplaceOrView if it writes to an argument or returns a view; at "
            "BackendSelect if it has no tensor arguments. Debug strings and tags are those of the universe's PyTorch "
            "version.",
            excludes=("func",),
        ),
        Field(
            "triton_op",
            TEXT,
            "The same for `torch.library.triton_op`; its function is also the fake implementation.",
            excludes=("func", "custom_op"),
        ),
        Field(
            "name",
            TEXT,
            "Only the name, such as `mylib::add.out`, of an operator that is defined elsewhere, or whose schema is not "
            "known.",
            excludes=("func", *MAKERS),
        ),
        _SCHEMA,
        _REASON,
        Field(
            "mutates_args",
            either(TEXT, list_of(TEXT, "strings")),
            "For `custom_op`: the arguments that it writes to, if the schema does not say so; `unknown` means all "
            "tensors.",
            needs=MAKERS,
        ),
        _REFUSED,
        Field(
            "kernel",
            A_FUNCTION,
            "For `custom_op` and `triton_op`: the function for all device types. A `triton_op` needs it.",
            needs=MAKERS,
        ),
        Field(
            "kernels",
            map_of(NAME, SOME_FUNCTIONS, "device types to Python functions"),
            "Functions by device type (`register_kernel`); several device types are separated by commas: "
            '`{cpu: f_cpu, "cuda, xpu": f_gpu}`. A `custom_op` without a function (`device_types=()`) has '
            "`kernels: {}`.",
        ),
        _DEBUG,
        _ALIAS_ANALYSIS,
        _TAGS,
        _PYTHON_MODULE,
        _PYTHON_MODULE_CONTEXT,
        Field(
            "dispatch",
            map_of(KEYS, KERNELS, "dispatch keys to kernels"),
            f"Kernels by dispatch key. Several keys are separated by commas; `{CATCH_ALL}` registers without a key. A "
            "list registers one kernel after the other; the last one is active.",
        ),
        Field(
            "fake",
            FAKES,
            "Its fake implementation (`torch.library.register_fake`), which runs for fake tensors and at `Meta`. It "
            "is registered before the kernels in `dispatch` or after them, in the order of the two fields.",
        ),
        Field(
            "fake_tensor_mode",
            record("fake_tensor_mode"),
            "What `FakeTensorMode` uses for the operator besides kernels and fake implementations.",
        ),
        Field(
            "backward",
            A_FUNCTION,
            "Its backward function (`register_autograd`). A `custom_op` has a kernel at Autograd even without one.",
        ),
        Field("setup_context", A_FUNCTION, "The function that saves values for `backward`.", needs=("backward",)),
        Field("vmap", SOME_FUNCTIONS, "Its batching rule (`register_vmap`)."),
        Field(
            "autocast",
            map_of(NAME, TEXT, "device types to dtypes"),
            "The dtype to which autocast casts its tensors, by device type (`register_autocast`): `{cuda: float16}`.",
        ),
        Field(
            "python_dispatch",
            map_of(KEYS, TEXT, "dispatch keys to kernel names"),
            "Kernels of the Python dispatcher (`py_impl`) by dispatch key.",
        ),
    ),
    ("func", "custom_op", "triton_op", "name"),
)
DEFINITION = Record(
    "definition",
    "a definition",
    "A definition in a library, when more than the schema is given.",
    (
        AT,
        WHEN,
        Field("func", TEXT, "The schema; it may leave out the block's namespace."),
        Field(
            "name",
            TEXT,
            f"In the place of `func`, with `schema: {UNKNOWN}`: the name of an operator whose schema is not known.",
            needs=("schema",),
            excludes=("func",),
        ),
        _SCHEMA,
        _REASON,
        _REFUSED,
        _DEBUG,
        _ALIAS_ANALYSIS,
        _TAGS,
        _PYTHON_MODULE,
        _PYTHON_MODULE_CONTEXT,
    ),
    ("func", "name"),
)
LIBRARY = Record(
    "library",
    "a library",
    "A registration block as in C++: `TORCH_LIBRARY`, `TORCH_LIBRARY_FRAGMENT` or `TORCH_LIBRARY_IMPL`. Its content "
    "is registered in the order in which it is written.",
    (
        AT,
        WHEN,
        Field(
            "kind",
            choice("DEF", "FRAGMENT", "IMPL"),
            "Which of the three macros: `DEF` is `TORCH_LIBRARY`.",
            required=True,
        ),
        Field("namespace", TEXT, "The namespace; `_` for a block of fallbacks.", required=True),
        Field(
            "dispatch_key",
            ONE_KEY,
            f"The dispatch key of everything in the block, or `{CATCH_ALL}` for none; only for kind IMPL.",
        ),
        Field(
            "define",
            list_of(text_or("a schema", "definition"), "schemas"),
            "The operators that it defines; only for kinds DEF and FRAGMENT.",
        ),
        Field(
            "impl",
            map_of(NAME, MEMBERS, "operator names to kernels"),
            "The kernels that it registers, by operator name; the name may leave out the block's namespace.",
        ),
        Field(
            "fake",
            map_of(NAME, FAKES, "operator names to fake implementations"),
            "The fake implementations that it registers (`torch.library.register_fake`), by operator name; the name "
            "may leave out the block's namespace.",
        ),
        Field("fallback", A_KERNEL, "The backend fallback for the block's key; only in namespace `_`."),
    ),
)
