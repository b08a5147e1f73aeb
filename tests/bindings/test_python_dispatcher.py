"""``PythonDispatcher``: every expected text is what ``torch/_python_dispatcher.py`` of PyTorch 2.13 prints."""

from __future__ import annotations

import pytest

from dispatch_cli import universes
from dispatch_cli.bindings import Bindings, PythonDispatcher

KEYS = [
    *("CPU", "AutogradCPU", "FPGA", "AutogradOther", "XLA", "AutogradXLA", "Lazy", "AutogradLazy"),
    *("CompositeExplicitAutograd", "Autograd", "CompositeImplicitAutograd"),
]


@pytest.fixture
def dispatcher() -> PythonDispatcher:
    return Bindings(universes.load("torch-2.15")).PythonDispatcher()


def test_registrations(dispatcher: PythonDispatcher) -> None:
    dispatcher.register(["CPU", "XLA", "Lazy", "CompositeImplicitAutograd"])
    assert dispatcher.registrations() == (
        "\nRegistered Kernels\n"
        "key             kernel\n"
        "---------------------------\n"
        "CPU             fn_CPU\n"
        "XLA             fn_XLA\n"
        "Lazy            fn_Lazy\n"
        "CompositeImplicitAutograd[alias] fn_CompositeImplicitAutograd\n"
    )
    assert dispatcher.rawRegistrations() == (
        "name: __test__::foo\n"
        "schema: __test__::foo(Tensor x) -> Tensor\n"
        "debug: registered at /dev/null:0\n"
        "alias analysis kind: FROM_SCHEMA\n"
        "CPU: fn_CPU :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]\n"
        "XLA: fn_XLA :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]\n"
        "Lazy: fn_Lazy :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]\n"
        "CompositeImplicitAutograd[alias]: fn_CompositeImplicitAutograd :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]\n"
    )


@pytest.mark.parametrize(
    ("keys", "rows"),
    [
        (
            ["CPU", "XLA", "Lazy", "CompositeExplicitAutograd", "AutogradCPU"],
            [
                "CPU             fn_CPU [kernel]",
                "XLA             fn_XLA [kernel]",
                "Lazy            fn_Lazy [kernel]",
                "FPGA            fn_CompositeExplicitAutograd [default backend kernel]",
                "AutogradOther   [backend fallback]",
                "AutogradCPU     fn_AutogradCPU [kernel]",
                "AutogradXLA     [backend fallback]",
                "AutogradLazy    [backend fallback]",
            ],
        ),
        (
            ["CPU", "FPGA", "CompositeImplicitAutograd"],
            [
                "CPU             fn_CPU [kernel]",
                "XLA             fn_CompositeImplicitAutograd [math kernel]",
                "Lazy            fn_CompositeImplicitAutograd [math kernel]",
                "FPGA            fn_FPGA [kernel]",
                "AutogradOther   ambiguous_autogradother [ambiguous autogradother]",
                "AutogradCPU     [backend fallback]",
                "AutogradXLA     fn_CompositeImplicitAutograd [math kernel]",
                "AutogradLazy    fn_CompositeImplicitAutograd [math kernel]",
            ],
        ),
    ],
)
def test_tables(dispatcher: PythonDispatcher, keys: list[str], rows: list[str]) -> None:
    dispatcher.register(keys)
    title = "\nComputed Dispatch Table\nkey             kernel\n---------------------------\n"
    assert dispatcher.dispatchTable() == title + "".join(f"{row}\n" for row in rows)
    assert f"CPU: {rows[0].split()[1]} [kernel]\n" in dispatcher.rawDispatchTable()


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (["CPU", "CPU"], "Overridden is not allowed but found duplicates in ['CPU', 'CPU']."),
        (
            ["CompositeExplicitAutograd", "CompositeImplicitAutograd"],
            "Registration to both CompositeImplicitAutograd and CompositeExplicitAutograd is not allowed.",
        ),
        (["QuantizedCPU"], f"QuantizedCPU is not supported, please select a dispatch key in {KEYS}."),
    ],
)
def test_refusals(dispatcher: PythonDispatcher, keys: list[str], message: str) -> None:
    before = dispatcher.rawRegistrations()
    with pytest.raises(RuntimeError) as refused:
        dispatcher.register(keys)
    assert str(refused.value) == message
    assert dispatcher.rawRegistrations() == before


def test_supported_keys(dispatcher: PythonDispatcher) -> None:
    assert dispatcher.keys() == KEYS


def test_the_default_dispatcher_takes_one_at_a_time() -> None:
    first = PythonDispatcher()
    with pytest.raises(RuntimeError, match="multiple times"):
        PythonDispatcher()
    del first
    assert PythonDispatcher().rawRegistrations().startswith("name: __test__::foo\n")
