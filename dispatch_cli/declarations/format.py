"""The format of declaration files, as one table.

What a field is called, what it takes and what it means is said here and nowhere else: reading, the JSON Schema and the
reference FORMAT.md all come from this table.
"""

from __future__ import annotations

from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field
from typing import Any

from dispatch_cli.declarations.tree import Mapping, Node, Scalar, Sequence
from dispatch_cli.model.call import EndKind
from dispatch_cli.model.higher_order import AUTOGRAD_NOT_IMPLEMENTED, ERROR_PLACES, RAISES, TRANSFORMS
from dispatch_cli.model.kernel import RedispatchKind, WrapKind
from dispatch_cli.model.rule import Rule
from dispatch_cli.model.settings import Severity

VERSION = "1"
"""The version of the format, as the field `dispatch` has it."""

CATCH_ALL = "CatchAll"
"""The word for a registration without a dispatch key."""

FALLTHROUGH = "fallthrough"
NO_FALLBACKS = "none"
NOT_IMPLEMENTED = "NotImplemented"
BOOLEANS = ("true", "false")
GOES_ON = (*BOOLEANS, *(kind.value for kind in RedispatchKind if kind.value not in (*BOOLEANS, "to", "exclude")))
"""What the field `redispatches` of a kernel may be, beside a mapping."""
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
ALIAS_ANALYSIS = ("FROM_SCHEMA", "CONSERVATIVE", "PURE_FUNCTION", "default")


@dataclass(frozen=True, slots=True)
class Type:
    """What a value may be.

    words: for messages and the reference. shapes: the nodes it may be. json: its JSON Schema.
    choices: the only texts it may be; plain: those without quotes. filled: a list must not be empty.
    """

    words: str
    shapes: tuple[type[Node], ...]
    json: AnyMapping[str, Any]
    choices: tuple[str, ...] = ()
    plain: bool = False
    filled: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """One field. default: what holds when it is left out, in words."""

    name: str
    type: Type
    doc: str
    required: bool = False
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """A mapping with known fields.

    words: what it is, for messages (``an operator``). one_of: of these fields at least one must be there.
    """

    name: str
    words: str
    doc: str
    fields: tuple[Field, ...]
    one_of: tuple[str, ...] = ()
    by_name: AnyMapping[str, Field] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", {entry.name: entry for entry in self.fields})


def _choice(*texts: str) -> Type:
    words = texts[0] if len(texts) == 1 else f"one of {', '.join(texts)}"
    return Type(words, (Scalar,), {"enum": list(texts)}, texts)


def _list_of(item: Type, words: str, filled: bool = False) -> Type:
    least = {"minItems": 1} if filled else {}
    return Type(f"a list of {words}", (Sequence,), {"type": "array", "items": item.json, **least}, filled=filled)


def _map_of(names: AnyMapping[str, Any], value: Type, words: str) -> Type:
    schema = {"type": "object", "propertyNames": names, "additionalProperties": value.json}
    return Type(f"a mapping of {words}", (Mapping,), schema)


def _either(*types: Type) -> Type:
    shapes = tuple(shape for each in types for shape in each.shapes)
    schema = {"anyOf": [each.json for each in types]}
    return Type(" or ".join(each.words for each in types), shapes, schema, filled=any(each.filled for each in types))


def _record(name: str, words: str) -> Type:
    return Type(words, (Mapping,), {"$ref": f"#/$defs/{name}"})


_NAME = {"type": "string", "minLength": 1}
_KEY = {"$ref": "#/$defs/dispatch_key"}
_KEYS = {"$ref": "#/$defs/dispatch_keys"}
TEXT = Type("a text", (Scalar,), _NAME)
_BARE_NAME = Type("a text", (Scalar,), {**_NAME, "not": {"pattern": "::"}})
BOOLEAN = Type("true or false", (Scalar,), {"type": "boolean"}, BOOLEANS, plain=True)
_ONE_KEY = Type("a dispatch key", (Scalar,), _KEY)
_KERNEL = _either(Type("a kernel name", (Scalar,), _NAME), _record("kernel", "a mapping"))
_KERNELS = _either(_KERNEL, _list_of(_KERNEL, "kernels", filled=True))
_MEMBER = _either(Type("a kernel name", (Scalar,), _NAME), _record("library_kernel", "a mapping"))
_MEMBERS = _either(_MEMBER, _list_of(_MEMBER, "kernels", filled=True))
_FAKE = _either(Type("the name of a Python function", (Scalar,), _NAME), _record("fake_impl", "a mapping"))
_FAKES = _either(_FAKE, _list_of(_FAKE, "fake implementations", filled=True))
_FUNCTION = _either(Type("the name of a Python function", (Scalar,), _NAME), _record("python_function", "a mapping"))
_FUNCTIONS = _either(_FUNCTION, _list_of(_FUNCTION, "Python functions", filled=True))
_FALLBACKS = _map_of(_KEYS, _KERNEL, "dispatch keys to kernels")
_RULE = _either(Type("a kernel name", (Scalar,), _NAME), _record("higher_order_impl", "a mapping"))
_RULES = _map_of(_NAME, _RULE, "names to implementations")
_ALIAS_ANALYSIS = Field(
    "alias_analysis",
    _choice(*ALIAS_ANALYSIS),
    "The alias analysis kind. `default` is a legacy definition that does not say; a dump shows "
    "`CONSERVATIVE (default)` for it.",
    default="FROM_SCHEMA",
)
_TAGS = Field("tags", _list_of(TEXT, "texts"), "The operator's tags, such as `pt2_compliant_tag`.")
_DEBUG = Field("debug", TEXT, "What a dump shows as the definition's `debug:`.", default="registered at FILE:LINE")

_TEXTS = _either(TEXT, _list_of(TEXT, "texts", filled=True))
REDISPATCHES = Record(
    "redispatches",
    "a way to go on",
    "How a kernel goes on, where it names keys: one of the two fields.",
    (
        Field("to", TEXT, "The runtime key that it redispatches at; no other key is in the set."),
        Field(
            "exclude",
            _TEXTS,
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
    Field("wraps", _record("wraps", "a mapping"), "The user's Python function that PyTorch made the kernel of."),
)
PYTHON_FUNCTION = Record(
    "python_function",
    "a Python function",
    "A user's Python function that `torch.library` makes a kernel of, where its name alone does not say enough.",
    (
        Field("kernel", TEXT, "Its name.", required=True),
        Field("at", TEXT, "Where it is defined, as `FILE:LINE`.", default="not known"),
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
            _choice(*(kind.value for kind in WrapKind)),
            "What PyTorch put around the function: `function` is nothing (`torch.library.impl`), `kernel` is of "
            "`register_kernel` and `custom_op`, `autograd` of `register_autograd`, `vmap` of `register_vmap`, "
            "`autocast` of `register_autocast`; `version-counters` and `backend-select` are what `custom_op` registers "
            "for operators that write, or that have no tensors.",
            required=True,
        ),
        Field("kernel", TEXT, "The name of the function.", default="there is none: an operator without a backward"),
        Field("at", TEXT, "Where it is defined, as `FILE:LINE`.", default="not known"),
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
            _ONE_KEY,
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
            _either(TEXT, _list_of(TEXT, "texts")),
            "Of `custom_op`: the arguments that it writes to, where the schema does not say; `unknown` is all tensors.",
        ),
        Field(
            "kernel",
            _FUNCTION,
            "Of `custom_op` and `triton_op`: the function for all device types. A `triton_op` needs it.",
        ),
        Field(
            "kernels",
            _map_of(_NAME, _FUNCTIONS, "device types to Python functions"),
            "Functions by device type (`register_kernel`); several device types are separated by commas: "
            '`{cpu: f_cpu, "cuda, xpu": f_gpu}`. A `custom_op` without a function (`device_types=()`) has '
            "`kernels: {}`.",
        ),
        _DEBUG,
        _ALIAS_ANALYSIS,
        _TAGS,
        Field(
            "dispatch",
            _map_of(_KEYS, _KERNELS, "dispatch keys to kernels"),
            f"What is registered at which key. Several keys are separated by commas; `{CATCH_ALL}` registers without "
            "a key. A list registers one kernel after the other; the last one is active.",
        ),
        Field(
            "fake",
            _FAKES,
            "Its fake implementation (`torch.library.register_fake`): what runs for the tensors of `FakeTensorMode`, "
            "and at `Meta`. It is registered before or after the kernels in `dispatch`, as the two fields are written.",
        ),
        Field(
            "fake_tensor_mode",
            _record("fake_tensor_mode", "a mapping"),
            "What PyTorch's Python code has for the operator when `FakeTensorMode` is called with it.",
        ),
        Field(
            "backward",
            _FUNCTION,
            "Its derivative (`register_autograd`). A `custom_op` has a kernel at Autograd without it, too.",
        ),
        Field("setup_context", _FUNCTION, "The function that saves what `backward` needs."),
        Field("vmap", _FUNCTIONS, "Its batching rule (`register_vmap`)."),
        Field(
            "autocast",
            _map_of(_NAME, TEXT, "device types to dtypes"),
            "What autocast casts its tensors to, by device type (`register_autocast`): `{cuda: float16}`.",
        ),
        Field(
            "python_dispatch",
            _map_of(_KEYS, TEXT, "dispatch keys to kernel names"),
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
        Field("kind", _choice("DEF", "FRAGMENT", "IMPL"), "Which of the three.", required=True),
        Field("namespace", TEXT, "The namespace; `_` for a block of fallbacks.", required=True),
        Field("dispatch_key", _ONE_KEY, f"The key of all in the block, or `{CATCH_ALL}` for none; kind IMPL only."),
        Field(
            "define",
            _list_of(_either(Type("a schema", (Scalar,), _NAME), _record("definition", "a mapping")), "schemas"),
            "The operators it defines; kinds DEF and FRAGMENT only.",
        ),
        Field(
            "impl",
            _map_of(_NAME, _MEMBERS, "operator names to kernels"),
            "The kernels it registers, by operator name; the name may leave out the block's namespace.",
        ),
        Field(
            "fake",
            _map_of(_NAME, _FAKES, "operator names to fake implementations"),
            "The fake implementations it registers (`torch.library.register_fake`), by operator name; the name may "
            "leave out the block's namespace.",
        ),
        Field("fallback", _KERNEL, "The backend fallback of the block's key; namespace `_` only."),
    ),
)
HIGHER_ORDER_OPERATOR = Record(
    "higher_order_operator",
    "a higher-order operator",
    "An operator that has Python implementations only, registered in the order they are written. Keys that fall "
    "through by default are those of the universe; an implementation at such a key makes it one that does not.",
    (
        Field("name", _BARE_NAME, "Its name, without a namespace.", required=True),
        Field(
            "add",
            BOOLEAN,
            "The implementations are added to the operator of this name that is declared before, or that the state "
            "has; otherwise this operator takes the other one's place.",
            default="false",
        ),
        Field(
            "dispatch",
            _map_of(_KEYS, _RULE, "dispatch keys to implementations"),
            "Its implementations by dispatch key (`py_impl`); several keys are separated by commas. The word "
            "`fallthrough` makes the key one that falls through.",
        ),
        Field(
            "autograd",
            _RULE,
            "Its derivative (`py_autograd_impl`), registered at Autograd: where no gradient is needed the operator is "
            "called again below autograd, otherwise the implementation runs.",
        ),
        Field("modes", _RULES, "Its implementations by mode type, such as `FakeTensorMode`."),
        Field("subclasses", _RULES, "Its implementations by tensor subclass."),
        Field(
            "transforms",
            _map_of({"enum": list(TRANSFORMS)}, _RULE, "functorch transforms to implementations"),
            f"Its implementations by functorch transform (`TransformType`): {', '.join(TRANSFORMS)}.",
        ),
        Field(
            "functionalize",
            _RULE,
            "Its implementation for functionalization (`py_functionalize_impl`), registered at the dispatch key "
            "Functionalize, for FunctionalTensorMode, and at the transform Functionalize.",
        ),
        Field("side_effect", BOOLEAN, "It has a side effect: graphs must not drop its calls.", default="false"),
        Field("mutates", BOOLEAN, "It writes to its arguments; its `gen_schema` says so.", default="false"),
    ),
)
HIGHER_ORDER_RULE = Record(
    "higher_order_impl",
    "an implementation",
    "An implementation of a higher-order operator, where the kernel's name alone does not say how a call goes on. The "
    "word `fallthrough` in place of a name is short for `{fallthrough: true}`.",
    (
        Field("kernel", TEXT, "The name of its Python function."),
        Field("fallthrough", BOOLEAN, "The dispatch key falls through; there is no kernel then.", default="false"),
        Field(
            "redispatches",
            Type("true, false or raises", (Scalar,), {"enum": [True, False, RAISES]}, (*BOOLEANS, RAISES)),
            "Whether it calls the operator again: below autograd at an autograd key, without its own key at another "
            "one, without its mode in a mode, with the transform taken off in a transform. `raises`: it raises an "
            "error, wherever it runs.",
            default=f"not known; PyTorch's helper `{AUTOGRAD_NOT_IMPLEMENTED}` does",
        ),
        Field(
            "error",
            _either(TEXT, _map_of({"enum": [*ERROR_PLACES.values()]}, TEXT, "places to texts")),
            "What it raises, such as `ValueError: the text`: of an implementation with `redispatches: raises`, or by "
            f"its place of one for functionalization ({', '.join(ERROR_PLACES.values())}), which raises at the places "
            "that are named.",
        ),
        Field("returns", _choice(NOT_IMPLEMENTED), "It returns NotImplemented: the next one is asked."),
        Field(
            "deferred_error",
            BOOLEAN,
            f"Of `{AUTOGRAD_NOT_IMPLEMENTED}`: whether a call that needs a gradient fails only in the backward pass.",
            default="not known",
        ),
    ),
    ("kernel", "fallthrough"),
)
MODE = Record(
    "mode",
    "a mode type",
    "A type of `TorchDispatchMode`.",
    (
        Field(
            "supports_higher_order_operators",
            BOOLEAN,
            "Its `__torch_dispatch__` handles the higher-order operators that have no implementation for it.",
            default="false",
        ),
    ),
)
A_RULE = _choice(*(rule.value for rule in Rule))
_RULES_NAMED = _either(A_RULE, _list_of(A_RULE, "them", filled=True))
RESOLVES = Record(
    "resolves",
    "the end of a call",
    "How a call must end.",
    (
        Field("end", _choice(*(end.value for end in EndKind)), "What ends it."),
        Field("kernel", _TEXTS, "The last kernel, as a glob over what a dump shows; of a list, any."),
        Field("key", TEXT, "The dispatch key of the last kernel."),
        Field("error", _TEXTS, "The text of PyTorch's error, as a glob over its first line; of a list, any."),
    ),
    ("end", "kernel", "key", "error"),
)
GUARD = Record(
    "guard",
    "a guard",
    "What must hold of the computed tables: for every operator that matches `op`, at every `key`. One with `backend` "
    "asks whether a backend has the operators; one with `resolves` asks where a call ends. Both go without `key`. Of a "
    "higher-order operator `mode`, `subclass` and `transform` stand beside `key` or in its place: there `rule` is "
    "`kernel` where it has an implementation, and `missing` where it has none.",
    (
        Field(
            "op",
            _TEXTS,
            "The operators, as a glob over their names, or a list of globs. Higher-order operators are meant by their "
            "name, or by a glob that begins with `higher_order::`.",
            required=True,
        ),
        Field(
            "key",
            _TEXTS,
            "The runtime keys: names, globs, alias keys (all runtime keys that they cover), separated by commas or in "
            "a list.",
        ),
        Field("mode", _TEXTS, "The mode types of a higher-order operator, by name; of a list, all."),
        Field("subclass", _TEXTS, "The tensor subclasses of a higher-order operator, by name; of a list, all."),
        Field("transform", _TEXTS, "The functorch transforms of a higher-order operator, by name; of a list, all."),
        Field("rule", _RULES_NAMED, "The rule that must fill the slots; of a list, any."),
        Field("not", _RULES_NAMED, "The rule that must not fill them; of a list, none."),
        Field("kernel", _TEXTS, "The kernel that must be in them, as a glob over what a dump shows; of a list, any."),
        Field("not_kernel", _TEXTS, "The kernel that must not be in them, as a glob; of a list, none."),
        Field("fallthrough", BOOLEAN, "Whether the kernel in them falls through."),
        Field("same_as", TEXT, "A runtime key whose slot must hold the same function."),
        Field(
            "backend",
            TEXT,
            "A backend key, such as `PrivateUse1`, that must have the operators: by kernels of its own, or by "
            "composite ones. The backend fallback does not count.",
        ),
        Field("tensors", _list_of(TEXT, "tensors"), "The tensors of the call that `resolves` is about: `cuda sparse`."),
        Field("contexts", _list_of(TEXT, "contexts"), "Its contexts, in order: `autocast cuda`, `inference_mode`."),
        Field("device", TEXT, "Its device argument, for a factory: `cuda`."),
        Field("layout", TEXT, "Its layout argument, for a factory: `sparse`."),
        Field("dtype", TEXT, "Its dtype argument, for a factory: `qint8`."),
        Field(
            "generator",
            TEXT,
            "The device of its generator: `cpu`, or `cpu boxed` in a boxed call, where its key does not count.",
        ),
        Field(
            "resolves", _either(TEXT, _record("resolves", "a mapping")), "Where the call must end; a text is a kernel."
        ),
        Field("reason", TEXT, "Why it must hold; a report shows it."),
    ),
    ("rule", "not", "kernel", "not_kernel", "fallthrough", "same_as", "backend", "resolves"),
)
SUPPRESSION = Record(
    "suppression",
    "a suppression",
    "Findings that are meant to be so. Beside the line in question a comment does the same: "
    "`# dispatch-cli: ignore[stale-live-table] REASON`, at the end of the line or above it; where an operator or a "
    "library begins it speaks of the whole of it.",
    (
        Field("checks", _TEXTS, "The checks, by id, code or prefix.", required=True),
        Field("op", TEXT, "The operators, as a glob over their names.", default="all, and none"),
        Field("key", TEXT, "The dispatch keys, as a glob.", default="all, and none"),
        Field("reason", TEXT, "Why the findings are meant to be so.", required=True),
    ),
)
A_SEVERITY = _choice(*(severity.value for severity in Severity))
CHECK = Record(
    "check",
    "a section of settings",
    "Settings of check-invariants. Those of `pyproject.toml` come before them, and the command line comes first.",
    (
        Field("select", _TEXTS, "The checks to run, by id, code or prefix; `all`, `default`.", default="`default`"),
        Field("ignore", _either(TEXT, _list_of(TEXT, "texts")), "Checks to leave out of those."),
        Field(
            "severity",
            _map_of(_NAME, A_SEVERITY, "checks to severities"),
            "How bad the findings of a check are; it is named by id, code or prefix.",
        ),
        Field("fail_on", A_SEVERITY, "The mildest severity that makes a run fail.", default="warning"),
    ),
)
OPERATORS = Field(
    "operators",
    _list_of(_record("operator", "operators"), "operators"),
    "Operators, each with its registrations: the short form.",
)
HIGHER_ORDER_OPERATORS = Field(
    "higher_order_operators",
    _list_of(_record("higher_order_operator", "higher-order operators"), "higher-order operators"),
    "Higher-order operators.",
)
IMPORTED = Record(
    "imported",
    "what modules registered",
    "What modules registered that a capture imported after PyTorch. A kernel that such a module registers for an "
    "operator of PyTorch's is here, and the operator is not.",
    (
        Field("modules", _list_of(TEXT, "texts"), "Their names, in the order of import."),
        OPERATORS,
        Field("fallbacks", _FALLBACKS, "Backend fallbacks by dispatch key."),
        HIGHER_ORDER_OPERATORS,
    ),
)
FILE = Record(
    "file",
    "a declaration file",
    "A declaration file. Its sections take effect in the order they are written.",
    (
        Field(
            "dispatch",
            Type(f"the format version {VERSION}", (Scalar,), {"const": int(VERSION)}, (VERSION,), plain=True),
            "The version of this format.",
            required=True,
        ),
        Field(
            "universe",
            _either(TEXT, Type("a universe", (Mapping,), {"type": "object"})),
            "The layout of dispatch keys: the name of an embedded universe, the path of a universe file, relative "
            "to this file, or what such a file holds. All files of a run must agree.",
            default="the newest embedded one",
        ),
        Field(
            "extends",
            _either(TEXT, _list_of(TEXT, "states and files")),
            "What comes before: embedded states by name, and declaration files by path, relative to this file; in "
            "order. A file that is reached twice is loaded once.",
        ),
        Field(
            "core_fallbacks",
            BOOLEAN,
            "Whether the backend fallbacks that PyTorch itself registers are there.",
            default="true",
        ),
        Field(
            "snapshot",
            BOOLEAN,
            "The file is a snapshot of a running dispatcher, as `capture` writes it: its operators' live tables are in "
            "order whatever the order here; keys may be named that PyTorch's parser does not know, and schemas are as "
            "PyTorch prints them, of which its parser refuses some.",
            default="false",
        ),
        Field(
            "pytorch",
            BOOLEAN,
            "Of a snapshot: PyTorch itself registered what it holds, but for what is in `imported`. check-invariants "
            "does not report it then. Otherwise it says that it is not known who registered it.",
            default="false",
        ),
        Field(
            "imported",
            _record("imported", "a mapping"),
            "Of a snapshot: what modules registered that were imported after PyTorch. It is checked like declarations "
            "that extend the rest of the snapshot.",
        ),
        Field("notes", _list_of(TEXT, "texts"), "What readers of the file should know; nothing is computed from it."),
        OPERATORS,
        Field(
            "libraries",
            _list_of(_record("library", "libraries"), "libraries"),
            "Registration blocks in the order of static initialisers: the long form.",
        ),
        Field(
            "fallbacks",
            _either(_choice(NO_FALLBACKS), _FALLBACKS),
            f"Backend fallbacks by dispatch key. `{NO_FALLBACKS}` is short for `core_fallbacks: false`.",
        ),
        HIGHER_ORDER_OPERATORS,
        Field(
            "modes",
            _map_of(_NAME, _record("mode", "a mapping"), "names to mode types"),
            "What calls have to know about types of modes, by name.",
        ),
        Field("guards", _list_of(_record("guard", "guards"), "guards"), "What must hold; see check-invariants."),
        Field(
            "suppress",
            _list_of(_record("suppression", "suppressions"), "suppressions"),
            "Findings of check-invariants that are meant to be so.",
        ),
        Field("check", _record("check", "a mapping"), "Settings of check-invariants."),
    ),
)
RECORDS = (
    FILE,
    IMPORTED,
    OPERATOR,
    KERNEL,
    PYTHON_FUNCTION,
    WRAPS,
    FAKE_IMPL,
    FAKE_TENSOR_MODE,
    LIBRARY,
    DEFINITION,
    LIBRARY_KERNEL,
    REDISPATCHES,
    HIGHER_ORDER_OPERATOR,
    HIGHER_ORDER_RULE,
    MODE,
    GUARD,
    RESOLVES,
    SUPPRESSION,
    CHECK,
)
"""Every mapping of the format, in the order of the reference."""
