"""Registering and asking through the bindings; every expected text is what PyTorch 2.13 says."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli import bindings as module
from dispatch_cli import universes
from dispatch_cli.api import load_state
from dispatch_cli.bindings import Bindings

WHERE = "(Error occurred while processing {} block at /dev/null:0)"
MISMATCH = (
    "Inferred operator schema for a C++ kernel function doesn't match the expected function schema.\n"
    "  operator: ns::op\n"
    "  expected schema: ns::op(Tensor x, Tensor y) -> Tensor\n"
    "    registered at /dev/null:0\n"
    "  inferred schema: (Tensor _0) -> Tensor _0\n"
    "    default_def_schema_t_t\n"
    "  reason: The number of arguments is different. 2 vs 1."
)


@pytest.fixture
def bindings() -> Bindings:
    return Bindings(universes.load("torch-2.15"))


def invariants_hold(bindings: Bindings, name: str) -> bool:
    """True if ``_dispatch_check_invariants`` passes."""
    try:
        bindings._dispatch_check_invariants(name)
    except RuntimeError:
        return False
    return True


def fragment(bindings: Bindings, namespace: str = "ns") -> Any:
    return bindings._dispatch_library("FRAGMENT", namespace, "")


def test_each_way_of_registering_dumps_as_pytorchs(bindings: Bindings) -> None:
    library = fragment(bindings)
    assert library.def_("op(Tensor x) -> Tensor", alias="PURE_FUNCTION") is library
    assert library.impl_t_t("op").impl_t_t("op", "CPU", debug="") is library
    assert library.impl("op", bindings.DispatchKey.QuantizedHIP, print) is None
    library.impl("op", "XLA", print)
    assert bindings._dispatch_dump("ns::op") == (
        "name: ns::op\n"
        "schema: ns::op(Tensor x) -> Tensor\n"
        "debug: registered at /dev/null:0\n"
        "alias analysis kind: PURE_FUNCTION\n"
        "CPU: registered at /dev/null:0 :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]\n"
        "XLA: registered at /dev/null:0 :: (none) [ boxed ]\n"
        "QuantizedHIP: registered at /dev/null:0 :: (none) [ boxed ]\n"
        "CompositeImplicitAutograd[alias]: impl_t_t :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]\n"
    )


def test_each_way_of_defining_dumps_as_pytorchs(bindings: Bindings) -> None:
    library = fragment(bindings)
    library.def_legacy("legacy(Tensor x) -> Tensor")
    library.def_name_t_t("inferred.overload", "CPU", "mine")
    library.def_name_t_t("given(Tensor x) -> Tensor")
    library.def_schema_t_t("both(Tensor x) -> Tensor", alias="CONSERVATIVE")
    assert library.define("python.overload(Tensor x) -> Tensor", tags=[bindings.Tag.core]) == "python"
    dumps = {name: bindings._dispatch_dump(name) for name in bindings._dispatch_get_all_op_names()}
    debug, flags = "debug: registered at /dev/null:0\n", "(Tensor _0) -> Tensor _0 [ boxed unboxed ]\n"
    conservative = f"{debug}alias analysis kind: CONSERVATIVE"
    from_schema = f"{debug}alias analysis kind: FROM_SCHEMA\n"
    composite = "CompositeImplicitAutograd[alias]: default_def"
    assert dumps == {
        "ns::legacy": f"name: ns::legacy\nschema: ns::legacy(Tensor x) -> Tensor\n{conservative} (default)\n",
        "ns::inferred.overload": (
            "name: ns::inferred.overload\nschema: ns::inferred.overload(Tensor _0) -> Tensor _0\n"
            f"{conservative}\nCPU: mine :: {flags}"
        ),
        "ns::given": (
            f"name: ns::given\nschema: ns::given(Tensor x) -> Tensor\n{from_schema}{composite}_name_t_t :: {flags}"
        ),
        "ns::both": (
            f"name: ns::both\nschema: ns::both(Tensor x) -> Tensor\n{conservative}\n{composite}_schema_t_t :: {flags}"
        ),
        "ns::python.overload": (
            f"name: ns::python.overload\nschema: ns::python.overload(Tensor x) -> Tensor\n{from_schema}"
        ),
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("FOO", "ns", ""), "could not parse FOO"),
        (("FOO", "ns", "nope"), "could not parse dispatch key: nope"),
        (("DEF", "_", ""), "bad optional access"),
        (
            ("FRAGMENT", "_", ""),
            "TORCH_LIBRARY_FRAGMENT: cannot define TORCH_LIBRARY_FRAGMENT with the wildcard namespace _ (every "
            "TORCH_LIBRARY_FRAGMENT defines operators for a distinct namespace!) Did you mean to use "
            f"TORCH_LIBRARY_IMPL instead?  {WHERE.format('TORCH_LIBRARY_FRAGMENT')}",
        ),
        (
            ("DEF", "ns", "CPU"),
            '!dispatch_key_.has_value() INTERNAL ASSERT FAILED at "aten/src/ATen/core/library.cpp", '
            f"please report a bug to PyTorch. {WHERE.format('TORCH_LIBRARY')}",
        ),
    ],
)
def test_libraries_that_can_not_be(bindings: Bindings, arguments: tuple[str, str, str], message: str) -> None:
    with pytest.raises(RuntimeError) as refused:
        bindings._dispatch_library(*arguments)
    assert (type(refused.value), str(refused.value)) == (RuntimeError, message)
    # and the namespace is still free
    assert bindings._dispatch_library("DEF", "ns", "") is not None


def test_a_namespace_has_one_definition_library(bindings: Bindings) -> None:
    first = bindings._dispatch_library("DEF", "ns", "", "a.cpp", 7)
    for key in ("", "CPU"):
        with pytest.raises(RuntimeError) as refused:
            bindings._dispatch_library("DEF", "ns", key)
        assert str(refused.value).startswith("Only a single TORCH_LIBRARY can be used to register the namespace ns; ")
        assert str(refused.value).endswith(
            "Previous registration of TORCH_LIBRARY was registered at a.cpp:7; "
            "latest registration was registered at /dev/null:0"
        )
    first.def_("op(Tensor x) -> Tensor")
    assert bindings._dispatch_get_all_op_names() == ["ns::op"]
    del first
    assert bindings._dispatch_get_all_op_names() == []
    bindings._dispatch_library("DEF", "ns", "")


@pytest.mark.parametrize(
    ("method", "arguments", "message"),
    [
        ("def_", ("op",), "Tried to parse a function schema but only the operator name was given"),
        ("def_", ("op(Tensor x) -> Tensor", "BAD"), "could not parse BAD"),
        ("impl_t_t", ("op", "nope"), "could not parse dispatch key: nope"),
        ("impl", ("op", "", print), "could not parse dispatch key: "),
        (
            "impl_t_t",
            ("yy::op",),
            'impl("yy::op", ...): Explicitly provided namespace (yy) in operator name does not match namespace of '
            "enclosing TORCH_LIBRARY_FRAGMENT block (ns).  Move this definition to the TORCH_LIBRARY_FRAGMENT block "
            "corresponding to this namespace (and consider deleting the namespace from your schema string.)  "
            + WHERE.format("TORCH_LIBRARY_FRAGMENT"),
        ),
        (
            "fallback",
            ("CPU", print),
            "fallback(...): Cannot define an operator inside of a TORCH_LIBRARY_FRAGMENT block.  Did you mean to call "
            f"this function inside a TORCH_LIBRARY_IMPL block?  {WHERE.format('TORCH_LIBRARY_FRAGMENT')}",
        ),
    ],
)
def test_refused_registrations_leave_nothing(
    bindings: Bindings, method: str, arguments: tuple[object, ...], message: str
) -> None:
    library = fragment(bindings)
    with pytest.raises(RuntimeError) as refused:
        getattr(library, method)(*arguments)
    assert (type(refused.value), str(refused.value)) == (RuntimeError, message)
    assert bindings._dispatch_get_all_op_names() == []


def test_a_definition_outlives_the_refusal_of_its_own_kernel(bindings: Bindings) -> None:
    library = fragment(bindings)
    with pytest.raises(RuntimeError) as refused:
        library.def_schema_t_t("op(Tensor x, Tensor y) -> Tensor")
    assert str(refused.value) == MISMATCH
    assert bindings._dispatch_dump("ns::op").endswith("alias analysis kind: FROM_SCHEMA\n")
    library.reset()
    assert not bindings._dispatch_has_kernel("ns::op")


def test_fallbacks(bindings: Bindings) -> None:
    library = bindings._dispatch_library("IMPL", "_", "")
    for key in ("", "Undefined"):
        with pytest.raises(RuntimeError, match=r"^dispatch_key.has_value\(\) INTERNAL ASSERT FAILED"):
            library.fallback_fallthrough(key)
    library.fallback_fallthrough("XLA")
    library.fallback("MPS", print)
    for method, arguments in (("fallback_fallthrough", ("XLA",)), ("fallback", ("XLA", print))):
        with pytest.raises(RuntimeError) as refused:
            getattr(library, method)(*arguments)
        assert str(refused.value) == (
            "Tried to register multiple backend fallbacks for the same dispatch key XLA; previous registration "
            "registered at /dev/null:0, new registration registered at /dev/null:0"
        )
    operator = fragment(bindings)
    operator.def_("op(Tensor x) -> Tensor")
    table = bindings._dispatch_dump_table("ns::op").splitlines()
    assert "XLA: fallthrough registered at /dev/null:0 [backend fallback]" in table
    assert "MPS: registered at /dev/null:0 [backend fallback]" in table
    keys = ("XLA", "MPS", "CPU", "AutogradCPU", "AutogradFunctionality", "Dense", "Autograd", "Undefined")
    fallbacks = {key: bindings._dispatch_has_backend_fallback(key) for key in keys}
    # a functionality's name looks at its first backend
    with_fallback = {"XLA", "MPS", "AutogradCPU", "AutogradFunctionality"}
    assert fallbacks == {key: key in with_fallback for key in keys}
    library.reset()
    assert not bindings._dispatch_has_backend_fallback("XLA")


def test_questions_about_kernels(bindings: Bindings) -> None:
    library = fragment(bindings)
    library.def_("op(Tensor x) -> Tensor").impl_t_t("op", "CPU").impl_t_t("op", "Autograd")
    has = bindings._dispatch_has_kernel_for_dispatch_key
    keys = ("CPU", "CUDA", "Autograd", "AutogradCPU", "Undefined", bindings.DispatchKey.StartOfDenseBackends)
    assert [has("ns::op", key) for key in keys] == [True, False, True, False, False, False]
    computed = bindings._dispatch_has_computed_kernel_for_dispatch_key
    assert [computed("ns::op", key) for key in ("CPU", "CUDA", "AutogradCPU", "Undefined", "Dense", "Quantized")] == [
        True,
        False,
        True,
        False,
        True,
        False,
    ]
    anywhere = bindings._dispatch_has_kernel_for_any_dispatch_key
    sets = (bindings._dispatch_keyset_full(), bindings.DispatchKeySet("CUDA"), bindings.DispatchKeySet("Undefined"))
    assert [anywhere("ns::op", keyset) for keyset in sets] == [True, False, False]
    assert bindings._dispatch_kernel_for_dispatch_key_is_fallthrough("ns::op", "CPU") is False
    assert bindings._dispatch_get_registrations_for_dispatch_key("CPU") == ["ns::op"]
    assert bindings._dispatch_get_registrations_for_dispatch_key("Undefined") == []
    assert bindings._dispatch_get_registrations_for_dispatch_key() == ["ns::op"]
    assert bindings._dispatch_pystub("ns::op", "") is None
    handle = bindings._dispatch_find_schema_or_throw("ns::op", "")
    assert (str(handle.schema()), handle.debug()) == ("ns::op(Tensor x) -> Tensor", "registered at /dev/null:0")
    bindings._dispatch_check_all_invariants()


@pytest.mark.parametrize(
    ("question", "arguments", "message"),
    [
        ("_dispatch_has_kernel_for_dispatch_key", ("ns::no", "CPU"), "operator ns::no does not exist"),
        ("_dispatch_has_kernel_for_dispatch_key", ("ns::op", "nope"), "could not parse dispatch key: nope"),
        ("_dispatch_has_computed_kernel_for_dispatch_key", ("ns::no", "nope"), "operator ns::no does not exist"),
        (
            "_dispatch_has_computed_kernel_for_dispatch_key",
            ("ns::op", "Autograd"),
            "Alias keys do not have runtime kernel registrations.",
        ),
        ("_dispatch_kernel_for_dispatch_key_is_fallthrough", ("ns::op", "CUDA"), "no kernel for CUDA on ns::op"),
        ("_dispatch_get_registrations_for_dispatch_key", ("nope",), "could not parse dispatch key: nope"),
        ("_dispatch_print_registrations_for_dispatch_key", ("nope",), "could not parse dispatch key: nope"),
        ("_dispatch_find_schema_or_throw", ("ns::no", "x"), "Could not find schema for ns::no.x"),
        (
            "_dispatch_find_schema_or_throw",
            ("ns::op", ""),
            "Could not find schema for ns::op. but we found an implementation; did you forget to def() the operator?",
        ),
    ],
)
def test_questions_without_an_answer(
    bindings: Bindings, question: str, arguments: tuple[str, ...], message: str
) -> None:
    library = fragment(bindings)
    library.impl_t_t("op", "CPU")
    with pytest.raises(RuntimeError) as refused:
        getattr(bindings, question)(*arguments)
    assert (type(refused.value), str(refused.value)) == (RuntimeError, message)


def test_dangling_implementations(bindings: Bindings) -> None:
    library = fragment(bindings)
    library.def_("fine(Tensor x) -> Tensor").impl_t_t("fine", "CPU").impl_t_t("op", "CPU")
    assert bindings._dispatch_find_dangling_impls() == [
        "name: ns::op\nschema: (none)\nCPU: impl_t_t :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]\n"
    ]


def test_printed_registrations(bindings: Bindings, capfd: pytest.CaptureFixture[str]) -> None:
    library = fragment(bindings)
    library.impl_t_t("a", "CPU").impl_t_t("b.c", "CPU").impl_t_t("d", "CUDA")
    bindings._dispatch_print_registrations_for_dispatch_key("CPU")
    assert capfd.readouterr().out == "ns::a\nns::b.c\n"


def test_the_text_of_a_stale_table(bindings: Bindings) -> None:
    library = fragment(bindings)
    library.def_name_t_t("op").impl_t_t("op", "QuantizedCPU")
    with pytest.raises(RuntimeError) as refused:
        bindings._dispatch_check_invariants("ns::op")
    assert str(refused.value) == (
        "expected_k._equalsBoxedAndUnboxed(dispatchTable_[idx]) INTERNAL ASSERT FAILED at "
        '"aten/src/ATen/core/dispatch/OperatorEntry.cpp", please report a bug to PyTorch. '
        f"Canonical state\n~~~~~~~~~~~\n{bindings._dispatch_dump('ns::op')}\n\n"
        f"Computed table:\n~~~~~~~~~~~\n{bindings._dispatch_dump_table('ns::op')}"
    )
    with pytest.raises(RuntimeError, match="ns::op"):
        bindings._dispatch_check_all_invariants()
    bindings._dispatch_check_invariants("ns::none")


@pytest.mark.parametrize(
    ("autograd", "composite", "holds"),
    [
        ("impl_t_t", "impl_t_t", True),
        ("impl", "impl", True),
        ("impl_t_t", "impl", False),
        ("def_name_t_t", "impl_t_t", False),
    ],
)
def test_kernels_are_compared_by_function(bindings: Bindings, autograd: str, composite: str, holds: bool) -> None:
    """A nested-tensor kernel gives AutogradNestedTensor back to the autograd kernel; the composite one stays live.

    PyTorch sees that when the two are different functions. All kernels of one way of registering are one function.
    """
    library = fragment(bindings)
    ways = {
        "impl": lambda key: library.impl("op", key, lambda: None),
        "impl_t_t": lambda key: library.impl_t_t("op", key),
        "def_name_t_t": lambda key: library.def_name_t_t("op", key),
        "def_schema_t_t": lambda key: library.def_schema_t_t("op(Tensor x) -> Tensor", key),
    }
    ways[autograd]("Autograd")
    ways[composite]("CompositeImplicitAutograd")
    assert invariants_hold(bindings, "ns::op")
    library.impl_t_t("op", "NestedTensorCPU")
    assert invariants_hold(bindings, "ns::op") == holds


def test_registrations_go_with_their_object_at_once(bindings: Bindings) -> None:
    gc.disable()
    try:
        library = fragment(bindings)
        library.def_("op(Tensor x) -> Tensor").impl_t_t("op", "CPU")
        with pytest.raises(RuntimeError, match="multiple times"):
            library.def_("op(Tensor x) -> Tensor")
        bound = library.impl_t_t
        del library
        assert bindings._dispatch_has_kernel("ns::op")
        del bound
        assert not bindings._dispatch_has_kernel("ns::op")
    finally:
        gc.enable()


def test_wrong_types_are_type_errors(bindings: Bindings) -> None:
    key = bindings.DispatchKey.CPU
    calls: list[Any] = [
        lambda: bindings._dispatch_dump(3),  # type: ignore[arg-type]
        lambda: bindings._dispatch_key_name(49),  # type: ignore[arg-type]
        lambda: bindings._parse_dispatch_key(3),  # type: ignore[arg-type]
        lambda: bindings._dispatch_library("IMPL", "ns", key),
        lambda: bindings._dispatch_get_registrations_for_dispatch_key(key),
        lambda: bindings._dispatch_has_computed_kernel_for_dispatch_key("ns::op", key),
        lambda: bindings._dispatch_keyset_to_string(key),
    ]
    for call in calls:
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda c: c._dispatch_pystub(3, ""),
            "_dispatch_pystub(): incompatible function arguments. The following argument types are supported:\n"
            "    1. (arg0: str, arg1: str) -> tuple[str, str] | None\n\nInvoked with: 3, ''",
        ),
        (
            lambda c: c._dispatch_key_name("CPU", 2, x=None),
            "_dispatch_key_name(): incompatible function arguments. The following argument types are supported:\n"
            "    1. (arg0: c10::DispatchKey) -> str\n\nInvoked with: 'CPU', 2; kwargs: x=None",
        ),
        (
            lambda c: c.DispatchKeySet(None),
            "__init__(): incompatible constructor arguments. The following argument types are supported:\n"
            "    1. torch._C.DispatchKeySet(arg0: torch._C.DispatchKey)\n\nInvoked with: None",
        ),
        (
            lambda c: c._dispatch_library("IMPL", "ns", "", linenum=-1),
            "_dispatch_library(): incompatible function arguments. The following argument types are supported:\n"
            "    1. (kind: str, name: str, dispatch: str, file: str = '/dev/null', linenum: typing.SupportsInt | "
            "typing.SupportsIndex = 0) -> torch._C._DispatchModule\n\n"
            "Invoked with: 'IMPL', 'ns', ''; kwargs: linenum=-1",
        ),
    ],
)
def test_arguments_are_refused_as_by_pybind(bindings: Bindings, call: Any, text: str) -> None:
    with pytest.raises(TypeError) as refused:
        call(bindings)
    assert str(refused.value) == text


def test_arguments_are_converted_as_by_pybind(bindings: Bindings) -> None:
    library = fragment(bindings)
    library.impl_t_t(b"op", b"CPU")
    assert bindings._dispatch_dump(bytearray(b"ns::op")) == bindings._dispatch_dump("ns::op\0more") != ""
    with pytest.raises(RuntimeError, match=r"^basic_string: construction from null is not valid$"):
        bindings._dispatch_dump(None)
    bindings._set_only_lift_cpu_tensors(2.5)
    assert bindings._only_lift_cpu_tensors() is True
    bindings._set_only_lift_cpu_tensors(None)
    assert bindings._only_lift_cpu_tensors() is False
    beyond = bindings.DispatchKeySet.from_raw_repr(1 << 63)
    assert beyond.raw_repr() == 1 << 63
    with pytest.raises(RuntimeError, match=r"^next_functionality_ <= iterator::end_iter_mask_val INTERNAL ASSERT"):
        str(beyond)


WARNING = (
    "Warning only once for all operators,  other operators may also be overridden.\n"
    "  Overriding a previously registered kernel for the same operator and the same dispatch key\n"
    "  operator: {}\n    {}\n  dispatch key: {}\n  previous kernel: first\n       new kernel: {}"
)


def test_overrides_are_warned_of_as_by_pytorch(capsys: pytest.CaptureFixture[str]) -> None:
    def overriding(define: bool, key: str) -> str:
        library = fragment(Bindings(universes.load("torch-2.13")))
        if define:
            library.def_("op(Tensor x) -> Tensor")
        library.impl_t_t("op", key, "first").impl_t_t("op", key, "second").impl_t_t("op", key, "third")
        return capsys.readouterr().err

    schema, debug = "ns::op(Tensor x) -> Tensor", "registered at /dev/null:0"
    assert overriding(True, "CPU") == f"Warning: {WARNING.format(schema, debug, 'CPU', 'second')}\n"
    assert overriding(True, "") == f"Warning: {WARNING.format(schema, debug, '(catch all)', 'second')}\n"
    assert overriding(False, "CPU") == f"Warning: {WARNING.format('ns::op', 'no debug info', 'CPU', 'second')}\n"


def test_a_python_kernel_that_overrides_is_warned_of_in_python() -> None:
    library = fragment(Bindings(universes.load("torch-2.13")))
    library.impl_t_t("op", "CPU", "first")
    with pytest.warns(UserWarning) as warned:
        library.impl("op", "CPU", print)
    assert str(warned[0].message) == WARNING.format("ns::op", "no debug info", "CPU", "registered at /dev/null:0")
    assert warned[0].filename == __file__


def test_a_block_of_all_namespaces_takes_no_kernels(bindings: Bindings) -> None:
    library = bindings._dispatch_library("IMPL", "_", "")
    with pytest.raises(RuntimeError) as refused:
        library.impl_t_t(" zz::qq")
    assert str(refused.value) == (
        'impl(" zz::qq", ...): Explicitly provided namespace (zz) in operator name does not match namespace of '
        "enclosing TORCH_LIBRARY_IMPL block (std::nullopt).  Move this definition to the TORCH_LIBRARY_IMPL block "
        "corresponding to this namespace (and consider deleting the namespace from your schema string.)  "
        + WHERE.format("TORCH_LIBRARY_IMPL")
    )
    with pytest.raises(RuntimeError, match="can only have a fallback"):  # PyTorch crashes
        library.impl_t_t("qq")
    assert bindings._dispatch_get_all_op_names() == []


def test_the_python_module_of_an_operator() -> None:
    state = load_state([str(Path(__file__).with_name("python_module.yaml"))])
    bindings = Bindings(state.dispatcher.universe, state.dispatcher)
    assert bindings._dispatch_pystub("mylib::f", "") == ("mylib.ops", "")
    assert bindings._dispatch_pystub("mylib::g", "out") == ("mylib.others", "//mylib:others")
    assert bindings._dispatch_pystub("mylib::h", "") is None


def test_the_module_itself_is_a_set_of_bindings() -> None:
    library = module._dispatch_library("FRAGMENT", "of_the_module", "")
    library.impl_t_t("op", "CPU")
    assert module._dispatch_has_kernel("of_the_module::op")
    assert module.default().universe.name == universes.default_name()
    assert "_dispatch_dump" in dir(module)
    with pytest.raises(AttributeError, match="has no attribute '_dispatch_nonsense'"):
        _ = module._dispatch_nonsense


def test_importing_loads_no_universe_and_ending_is_quiet() -> None:
    program = (
        "import gc\n"
        "from dispatch_cli import bindings as C\n"
        "assert C.default.cache_info().currsize == 0\n"
        "library = C._dispatch_library('FRAGMENT', 'ns', '')\n"
        "library.impl_t_t('op', 'CPU')\n"
        "guard = C._AutoDispatchBelowAutograd()\n"
        "guard.__enter__()\n"
        "cycle = [library]\n"
        "cycle.append(cycle)\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


UNKNOWN_TYPE = (
    "\nunknown type specifier. Common valid schema types include Tensor, SymInt, int, float, bool, Scalar; for a full "
    "list, please see https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/README.md#func :\n"
)


@pytest.mark.parametrize(
    ("text", "exception", "message"),
    [
        ("f(Tensr x) -> Tensor", RuntimeError, f"{UNKNOWN_TYPE}f(Tensr x) -> Tensor\n  ~~~~~ <--- HERE\n"),
        ("f", RuntimeError, "Tried to parse a function schema but only the operator name was given"),
        ("f(int x=9223372036854775808) -> ()", IndexError, "stoll"),
        ("f(é x) -> ()", UnicodeDecodeError, "can't decode byte 0xc3 in position 34: invalid continuation byte"),
    ],
)
def test_schemas_are_refused_as_by_pytorch(
    bindings: Bindings, text: str, exception: type[Exception], message: str
) -> None:
    """The texts are those of live PyTorch 2.13; `tests.model.schema.test_live_schemas` has many more."""
    library = fragment(bindings)
    for define in (library.def_, library.define, library.def_schema_t_t):
        with pytest.raises(exception) as caught:
            define(text)
        assert str(caught.value).endswith(message)
        assert type(caught.value) is exception


def test_legacy_definitions_take_type_variables(bindings: Bindings) -> None:
    library = fragment(bindings)
    assert library.def_legacy("f(t x) -> t") is library
