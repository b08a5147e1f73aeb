"""Texts of calls: devices, dtypes, gradients, operators that are not found."""

import torch
from message_case import prints
from torch.library import custom_op
from torch.utils._python_dispatch import TorchDispatchMode


def _one():
    return torch.ones(2)


@prints("not-defined", "object has no attribute", operator="mylib::nothing")
def operator_that_is_not_there():
    torch.ops.mylib.nothing(_one())


@prints("not-defined", "does not exist", "Could not find the operator", operator="mylib::nothing")
def fake_of_an_operator_that_is_not_there():
    torch.library.register_fake("mylib::nothing", _one)


@prints("not-defined", "Could not find the operator", operator="mylib::nothing")
def check_of_an_operator_that_is_not_there():
    torch._custom_op.impl.get_op("mylib::nothing")


@prints("not-defined", "Could not find schema for", operator="mylib::nothing")
def schema_that_is_not_there():
    torch._C._dispatch_call_boxed(torch._C._dispatch_find_schema_or_throw("mylib::nothing", ""))


@prints("not-defined", "did you forget to def() the operator", operator="kernels::only")
def schema_of_a_kernel_alone():
    _double.kept = torch.library.Library("kernels", "IMPL")
    _double.kept.impl("only", _double, "CPU")
    torch._C._dispatch_find_schema_or_throw("kernels::only", "")


def _double(x):
    return x * 2


@prints("not explained", "has no overload name", operator="aten::add")
def overload_that_is_not_there():
    torch.ops.aten.add.Nothing(_one(), _one())


@prints("no-library-file", "Could not load this library")
def library_that_is_not_there():
    torch.ops.load_library("/nowhere/libmine.so")


@prints("wrong-arguments", "Expected a value of type", operator="aten::relu")
def argument_of_another_type():
    torch.ops.aten.relu.default("x")


@prints("wrong-arguments", "is missing value for argument", operator="aten::relu")
def argument_that_is_missing():
    torch.ops.aten.relu.default()


@prints("wrong-arguments", "expected at most", operator="aten::relu")
def arguments_too_many():
    torch.ops.aten.relu.default(_one(), 1, 2)


@prints("wrong-arguments", "Unknown keyword argument", "got an unexpected keyword", operator="aten::add")
def keyword_that_is_not_there():
    torch.ops.aten.add.Tensor(_one(), _one(), colour=1)


@prints("not explained", "does not have a kernel registered for", operator="zeros_of")
def custom_op_of_another_device():
    @custom_op("mydevices::zeros_of", mutates_args=(), device_types="cuda")
    def zeros_of(n: int, device: torch.device) -> torch.Tensor:
        return torch.zeros(n, device=device)

    zeros_of(2, torch.device("cpu"))


@prints("not explained", "there is no cpu impl registered", operator="olddevices::f")
def old_custom_op_of_another_device():
    torch._custom_ops.custom_op("olddevices::f", "(Tensor x) -> Tensor")
    torch.ops.olddevices.f(_one())


@prints("no-dtype", "not implemented for")
def dtype_without_code():
    torch.histc(torch.ones(4, dtype=torch.int8), 4)


@prints("no-dtype", "not implemented for")
def half_without_code():
    torch.ones(2, 2, dtype=torch.half).cholesky()


@prints("no-dtype", "not implemented for")
def integers_without_code():
    torch.ones(2, dtype=torch.int).logcumsumexp(0)


@prints("not-built", "Torch not compiled with CUDA enabled")
def device_that_was_not_built():
    _one().cuda()


@prints("not-built", "PyTorch is not linked with support for")
def device_that_is_not_linked():
    torch.ops.aten._to_copy(_one(), device="xpu")


@prints("mixed-devices", "is not on the expected device")
def two_devices():
    torch.add(_one(), torch.ones(2, device="meta"))


@prints("mixed-devices", "Expected all tensors to be on the same device")
def two_fake_devices():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        _one() + torch.empty(2, device="cuda")


@prints("no-derivative", "no autograd formula was registered", operator="formula::f")
def backward_without_a_formula():
    @custom_op("formula::f", mutates_args=())
    def f(x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    f(torch.ones(2, requires_grad=True)).sum().backward()


@prints("no-derivative", "derivative for", operator="aten::heaviside")
def backward_without_a_derivative():
    torch.heaviside(torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)).sum().backward()


@prints("no-derivative", "derivative for", operator="aten::_ctc_loss_backward")
def second_derivative_that_is_missing():
    x = torch.rand(4, 1, 3, requires_grad=True).log_softmax(2)
    loss = torch.nn.functional.ctc_loss(x, torch.tensor([[1]]), [4], [1])
    (g,) = torch.autograd.grad(loss, x, create_graph=True)
    g.sum().backward()


@prints("no-derivative", "Trying to use forward AD with")
def forward_mode_without_a_derivative():
    torch.func.jvp(lambda x: torch.linalg.lstsq(x, x).solution.sum(), (torch.eye(2),), (torch.eye(2),))
    torch.func.jvp(
        lambda x: torch.ops.aten._ctc_loss(x, x, [1], [1])[0], (torch.ones(2, 1, 2),), (torch.ones(2, 1, 2),)
    )


@prints("no-derivative", "Trying to use forward AD with")
def forward_mode_of_an_out_function():
    import torch.autograd.forward_ad as fwAD

    with fwAD.dual_level():
        torch.add(fwAD.make_dual(_one(), _one()), 1, out=torch.empty(2))


@prints("inference-tensor", "Inference tensors cannot be saved for backward")
def inference_tensor_that_is_saved():
    with torch.inference_mode():
        x = _one()
    (x * torch.ones(2, requires_grad=True)).sum()


@prints("inference-tensor", "Inplace update to inference tensor outside InferenceMode")
def inference_tensor_in_place():
    with torch.inference_mode():
        x = _one()
    x.add_(1)


@prints("inference-tensor", "Inference tensors do not track version counter")
def version_of_an_inference_tensor():
    with torch.inference_mode():
        x = _one()
    x._version


@prints("inference-tensor", "Setting requires_grad=True on inference tensor")
def gradient_of_an_inference_tensor():
    with torch.inference_mode():
        x = _one()
    x.requires_grad_()


@prints("not explained", "does not have a version counter")
def version_set_of_an_inference_tensor():
    with torch.inference_mode():
        x = _one()
    torch._C._autograd._unsafe_set_version_counter(*((x,), (1,)) if torch.__version__ >= "2.6" else (x, 1))


@prints("no-names", "is not yet supported with named tensors", operator="aten::nonzero")
def named_tensor():
    torch.zeros(2, 2, names=("a", "b")).nonzero()


@prints("not explained", "fallthrough_kernel() should never be called")
def fallthrough_as_a_function():
    torch.library.fallthrough_kernel()


@prints("no-subclass", "all __torch_dispatch__ handlers returned NotImplemented", "no implementation found for")
def mode_that_handles_nothing():
    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return NotImplemented

    with Mode():
        _one().sin()


@prints("no-subclass", "all __torch_function__ handlers returned NotImplemented", "no implementation found for")
def class_that_handles_nothing():
    class Thing:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    torch.add(_one(), Thing())


@prints("not explained", "object has no attribute")
def higher_order_operator_that_is_not_there():
    torch.ops.higher_order.nothing


@prints("not explained", "A view was created in inference mode")
def view_of_inference_mode_in_place():
    x = torch.ones(2, requires_grad=True).clone()
    with torch.inference_mode():
        y = x.view(2)
    y.add_(1)


@prints("not-defined", "but it does not exist! Ensure that it is registered via torch::class_")
def class_that_is_not_registered():
    torch.classes.mylib.Nothing()


@prints("no-device-module", "device type at start of device string")
def device_that_there_is_not():
    torch.ones(2, device="gpu")


@prints("no-device-module", "Invalid device string")
def device_with_a_wrong_number():
    torch.ones(2, device="cuda:x")


@prints("no-device-module", "No module named 'torch.privateuseone'")
def backend_without_a_module():
    torch.empty(2, device="privateuseone")


@prints("no-kernel", "Could not run", operator="aten::_thnn_fused_lstm_cell")
def operator_of_another_device():
    torch.ops.aten._thnn_fused_lstm_cell(torch.ones(1, 4), torch.ones(1, 4), torch.ones(1, 1))


@prints("no-derivative", "is not differentiable with respect to argument")
def argument_without_a_derivative():
    weight = torch.ones(2, requires_grad=True)
    torch.ops.aten.nll_loss_forward(torch.ones(2, 2), torch.tensor([0, 1]), weight, 1, -100)


@prints("no-tensors", "There were no tensor arguments to this function", operator="takesnone::f")
def operator_that_takes_no_tensor():
    operator_that_takes_no_tensor.kept = torch.library.Library("takesnone", "DEF")
    operator_that_takes_no_tensor.kept.define("f(int n) -> Tensor")
    operator_that_takes_no_tensor.kept.impl("f", lambda n: torch.zeros(n), "CPU")
    torch.ops.takesnone.f(3)


@prints("no-kernel", "with arguments from the 'CUDA' backend", operator="aten::empty_strided")
def tensor_of_a_device_that_was_not_built():
    torch.ops.aten.empty_strided.default([2], [1], device=torch.device("cuda"))


@prints("no-kernel", "with arguments from the 'MPS' backend", operator="aten::empty.memory_format")
def tensor_of_a_device_of_another_system():
    torch.empty(2, device="mps")


@prints("not explained", "Autograd not implemented for")
def higher_order_operator_without_a_gradient():
    from torch._higher_order_ops.utils import autograd_not_implemented

    class Half(torch._ops.HigherOrderOperator):
        def __init__(self):
            super().__init__("half_without_gradient")

        def __call__(self, x):
            return super().__call__(x)

    half = Half()
    half.py_impl(torch._C.DispatchKey.CompositeExplicitAutograd)(lambda x: x / 2)
    half.py_impl(torch._C.DispatchKey.Autograd)(autograd_not_implemented(half, deferred_error=False))
    half(torch.ones(2, requires_grad=True))
