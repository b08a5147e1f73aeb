"""The Python side of one operator. What is expected was seen in live PyTorch 2.13.0, act by act."""

from __future__ import annotations

import pytest

from dispatch_cli import universes
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.dispatcher.refusal import Refused
from dispatch_cli.engine.python.operator import Choice, Handles, PythonOperator
from dispatch_cli.model.declarations import PythonKernel
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema import parse_schema

NAME = OperatorName("zz::f")


@pytest.fixture
def dispatcher() -> Dispatcher:
    found = Dispatcher(universes.load("torch-2.15"))
    found.define(parse_schema("zz::f(Tensor x) -> Tensor"), "here")
    return found


def chosen(choice: Choice) -> tuple[Handles, str | None, str | None]:
    return choice.handles, choice.key, choice.kernel


def test_a_cpp_registration_leaves_a_stale_choice(dispatcher: Dispatcher) -> None:
    """CompositeImplicitAutograd first, CPU later: under the Python dispatcher calls go on to the math kernel."""
    dispatcher.implement(NAME, "CompositeImplicitAutograd", Kernel("math"))
    operator = PythonOperator(dispatcher, NAME)
    math = (Handles.CPP_KERNEL, "CompositeImplicitAutograd", None)
    assert chosen(operator.dispatch("AutogradCPU")) == math
    cpu = dispatcher.implement(NAME, "CPU", Kernel("cpu"))
    assert chosen(operator.dispatch("AutogradCPU")) == math
    assert operator.is_stale("AutogradCPU")
    assert operator.resolve_key("AutogradCPU") == "AutogradCPU"
    dispatcher.drop(cpu)
    assert not operator.is_stale("AutogradCPU")
    assert list(operator.cache) == ["AutogradCPU"]


def test_a_python_kernel_empties_the_cache(dispatcher: Dispatcher) -> None:
    dispatcher.implement(NAME, "CompositeExplicitAutograd", Kernel("default"))
    operator = PythonOperator(dispatcher, NAME)
    operator.dispatch("CPU")
    operator.py_impl("CompositeImplicitAutograd", "py_math")
    assert dict(operator.cache) == {}
    assert chosen(operator.dispatch("CPU")) == (Handles.CPP_KERNEL, "CompositeExplicitAutograd", None)
    operator.py_impl("CPU", "py_cpu")
    assert chosen(operator.dispatch("CPU")) == (Handles.PYTHON_KERNEL, "CPU", "py_cpu")
    operator.py_impl_mode("Mode", "rule")
    assert dict(operator.cache) == {}


def test_one_key_is_forgotten(dispatcher: Dispatcher) -> None:
    operator = PythonOperator(dispatcher, NAME, [PythonKernel(NAME, "CPU", "py_cpu")])
    operator.dispatch("CPU")
    operator.dispatch("Functionalize")
    operator.uncache("CPU")
    operator.uncache("CUDA")
    assert list(operator.cache) == ["Functionalize"]
    assert dict(operator.kernels) == {"CPU": "py_cpu"}


def test_modes(dispatcher: Dispatcher) -> None:
    operator = PythonOperator(dispatcher, NAME)
    assert chosen(operator.dispatch("Python")) == (Handles.CPP_KERNEL, "Python", None)
    operator.py_impl_mode("Mode", "rule")
    assert chosen(operator.dispatch("Python")) == (Handles.MODE_IMPLS, None, None)
    assert dict(operator.modes) == {"Mode": "rule"}


def test_predispatch_is_never_remembered(dispatcher: Dispatcher) -> None:
    operator = PythonOperator(dispatcher, NAME)
    assert operator.dispatch("PreDispatch", pre_dispatch_modes=1).handles is Handles.PRE_DISPATCH_MODE
    assert operator.dispatch("PreDispatch", 1, python_excluded=True).handles is Handles.CPP_KERNEL
    assert chosen(operator.dispatch("PreDispatch")) == (Handles.CPP_KERNEL, "PreDispatch", None)
    assert dict(operator.cache) == {}


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda one: one.py_impl("CPU", "y"), "Trying to override a python impl for DispatchKey.CPU on operator zz::f"),
        (lambda one: one.py_impl("Python", "y"), "Please register a mode for the DispatchKey.Python key instead."),
        (lambda one: one.py_impl("Nope", "y"), "could not parse dispatch key: Nope"),
        (lambda one: one.py_impl_mode("Mode", "y"), "<class 'Mode'> already registered in python_key_table"),
        (lambda one: one.resolve_key("HPU"), "could not find kernel for zz.f.default at dispatch key DispatchKey.HPU"),
        (lambda one: one.dispatch("AutogradOther"), "ambiguous autogradother kernel"),
    ],
)
def test_what_is_refused(dispatcher: Dispatcher, act: object, message: str) -> None:
    dispatcher.implement(NAME, "CompositeImplicitAutogradNestedTensor", Kernel("nested"))
    operator = PythonOperator(dispatcher, NAME)
    operator.py_impl("CPU", "x")
    operator.py_impl_mode("Mode", "x")
    if "ambiguous" in message:
        operator.py_impl("CompositeImplicitAutograd", "x")
        operator.py_impl("SparseCPU", "x")
    with pytest.raises(Refused) as caught:
        act(operator)  # type: ignore[operator]
    assert str(caught.value) == message
