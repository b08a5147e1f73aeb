"""The fields of operators and of registration blocks in declarations."""

from __future__ import annotations

from collections.abc import Mapping as AnyMapping

from dispatch_cli.declarations.format_types import (
    BOOLEAN,
    KEYS,
    NAME,
    ONE_KEY,
    TEXT,
    Field,
    Record,
    choice,
    either,
    list_of,
    map_of,
    record,
    text_or,
)
from dispatch_cli.declarations.kernel_format import (
    A_FUNCTION,
    A_KERNEL,
    CATCH_ALL,
    FAKES,
    KERNELS,
    MEMBERS,
    SOME_FUNCTIONS,
)

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
    "schema": ("func",),
}
"""What PyTorch calls something that has another name here: the fields that it may be, for hints."""
CUSTOM_OP, TRITON_OP = "custom_op", "triton_op"
MAKERS = (CUSTOM_OP, TRITON_OP)
"""The fields with the schema of an operator that ``torch.library`` makes."""
ONLY_CUSTOM = ("mutates_args", "kernel")
"""The fields that only such an operator has."""
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
    "The alias analysis kind. `default` is a legacy definition that does not say; a dump shows "
    "`CONSERVATIVE (default)` for it.",
    default="FROM_SCHEMA",
)
_TAGS = Field("tags", list_of(TEXT, "texts"), "The operator's tags, such as `pt2_compliant_tag`.")
_DEBUG = Field("debug", TEXT, "What a dump shows as the definition's `debug:`.", default="registered at FILE:LINE")
FAKE_TENSOR_MODE = Record(
    "fake_tensor_mode",
    "what FakeTensorMode has for an operator",
    "What PyTorch's Python code has for an operator, beside kernels and fake implementations, when `FakeTensorMode` is "
    "called with it. `capture` notes it of PyTorch's operators; others seldom have it.",
    (
        Field("decomposition", TEXT, "The function that decomposes it (`torch._decomp.decomposition_table`)."),
        Field(
            "no_decomposition",
            BOOLEAN,
            "The mode does not decompose it, not even by a kernel at `CompositeImplicitAutograd`: there is a Python "
            "meta function (`torch._decomp.meta_table`), or its C++ kernel at `Meta` takes symbolic sizes.",
            default="false",
        ),
        Field("prim_meta", TEXT, "The function that computes the result of a primitive (`prim_meta_impl`)."),
        Field("implementation", TEXT, "The mode's own function for it (`register_op_impl`)."),
        Field(
            "raises", TEXT, "The exception that this function raises in a mode without a `ShapeEnv`.", default="none"
        ),
        Field(
            "meta_refuses",
            list_of(TEXT, "texts"),
            "The arguments for which the Python meta function raises `NotImplementedError` when they are given; the "
            "operator's real kernel runs on zeros then.",
            default="none",
        ),
        Field(
            "mixes",
            TEXT,
            "The device type whose tensors may be in a call beside those of another device, such as `cpu`.",
            default="none: all tensors have to be on one device",
        ),
        Field(
            "zero_dim_counts",
            BOOLEAN,
            "CPU tensors without dimensions have to be on that device, too.",
            default="false: they may be beside tensors of any device",
        ),
    ),
)
OPERATOR = Record(
    "operator",
    "an operator",
    "An operator with everything registered for it, in the order it is registered. It needs `func`; or `custom_op` or "
    "`triton_op` when Python's `torch.library` makes it; or `name` when it is only implemented here and defined "
    "elsewhere.",
    (
        Field("func", TEXT, "The schema with its namespace: `mylib::add(Tensor a, Tensor b) -> Tensor`."),
        Field(
            "custom_op",
            TEXT,
            "The schema of an operator that `torch.library.custom_op` makes. Everything that this registers is there: "
            "kernels at Meta and Autograd; at ADInplaceOrView where it writes to an argument or returns a view; at "
            "BackendSelect where it has no tensors. Debug texts and tags are those of the PyTorch that the universe is "
            "of.",
        ),
        Field(
            "triton_op", TEXT, "The same for `torch.library.triton_op`; its function is the fake implementation, too."
        ),
        Field("name", TEXT, "The name alone, `mylib::add.out`, of an operator that is not defined here."),
        Field(
            "mutates_args",
            either(TEXT, list_of(TEXT, "texts")),
            "Of `custom_op`: the arguments that it writes to, where the schema does not say; `unknown` is all tensors.",
        ),
        Field(
            "kernel",
            A_FUNCTION,
            "Of `custom_op` and `triton_op`: the function for all device types. A `triton_op` needs it.",
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
        Field(
            "dispatch",
            map_of(KEYS, KERNELS, "dispatch keys to kernels"),
            f"What is registered at which key. Several keys are separated by commas; `{CATCH_ALL}` registers without "
            "a key. A list registers one kernel after the other; the last one is active.",
        ),
        Field(
            "fake",
            FAKES,
            "Its fake implementation (`torch.library.register_fake`): what runs for the tensors of `FakeTensorMode`, "
            "and at `Meta`. It is registered before or after the kernels in `dispatch`, as the two fields are written.",
        ),
        Field(
            "fake_tensor_mode",
            record("fake_tensor_mode"),
            "What PyTorch's Python code has for the operator when `FakeTensorMode` is called with it.",
        ),
        Field(
            "backward",
            A_FUNCTION,
            "Its derivative (`register_autograd`). A `custom_op` has a kernel at Autograd without it, too.",
        ),
        Field("setup_context", A_FUNCTION, "The function that saves what `backward` needs."),
        Field("vmap", SOME_FUNCTIONS, "Its batching rule (`register_vmap`)."),
        Field(
            "autocast",
            map_of(NAME, TEXT, "device types to dtypes"),
            "What autocast casts its tensors to, by device type (`register_autocast`): `{cuda: float16}`.",
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
    "A definition in a library, where the schema alone does not say enough.",
    (
        Field("func", TEXT, "The schema; it may leave out the block's namespace.", required=True),
        _DEBUG,
        _ALIAS_ANALYSIS,
        _TAGS,
    ),
)
LIBRARY = Record(
    "library",
    "a library",
    "A registration block as C++ has it: `TORCH_LIBRARY`, `TORCH_LIBRARY_FRAGMENT` or `TORCH_LIBRARY_IMPL`. What it "
    "holds is registered in the order it is written.",
    (
        Field("kind", choice("DEF", "FRAGMENT", "IMPL"), "Which of the three.", required=True),
        Field("namespace", TEXT, "The namespace; `_` for a block of fallbacks.", required=True),
        Field("dispatch_key", ONE_KEY, f"The key of all in the block, or `{CATCH_ALL}` for none; kind IMPL only."),
        Field(
            "define",
            list_of(text_or("a schema", "definition"), "schemas"),
            "The operators it defines; kinds DEF and FRAGMENT only.",
        ),
        Field(
            "impl",
            map_of(NAME, MEMBERS, "operator names to kernels"),
            "The kernels it registers, by operator name; the name may leave out the block's namespace.",
        ),
        Field(
            "fake",
            map_of(NAME, FAKES, "operator names to fake implementations"),
            "The fake implementations it registers (`torch.library.register_fake`), by operator name; the name may "
            "leave out the block's namespace.",
        ),
        Field("fallback", A_KERNEL, "The backend fallback of the block's key; namespace `_` only."),
    ),
)
