"""Texts about fake and meta tensors."""

import torch
from message_case import prints
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.library import custom_op

_MODE = FakeTensorMode()


def _custom(name, **given):
    @custom_op(name, mutates_args=(), **given)
    def f(x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    return f


@prints("no-fake", "There was no fake impl registered for", operator="fakeless::f")
def custom_op_without_a_fake():
    with FakeTensorMode():
        _custom("fakeless::f")(torch.ones(2))


@prints("no-fake", "There was no fake impl registered for", operator="fakeless2::f")
def custom_op_compiled():
    torch.compile(_custom("fakeless2::f"), fullgraph=True, backend="eager")(torch.ones(2))


@prints("data-dependent", "DynamicOutputShapeException", operator="aten::nonzero")
def size_that_depends_on_data():
    with FakeTensorMode():
        torch.ones(2).nonzero()


@prints("data-dependent", "DynamicOutputShapeException", operator="aten::masked_select")
def mask_that_selects():
    with FakeTensorMode():
        torch.masked_select(torch.ones(2), torch.ones(2) > 0)


@prints("not explained", "to run this operator with meta Tensors")
def fake_of_unknown_size_with_a_meta_tensor():
    f = _custom("sized::f")

    @f.register_fake
    def _(x):
        return x.new_empty(torch.library.get_ctx().new_dynamic_size())

    f(torch.ones(2, device="meta"))


@prints("data-dependent", "DataDependentOutputException", operator="aten::_local_scalar_dense")
def value_of_a_fake_tensor():
    with FakeTensorMode():
        torch.ones(2).sum().item()


@prints("data-dependent", "get value out of a tracing tensor", operator="aten::_local_scalar_dense")
def value_of_a_traced_tensor():
    make_fx(lambda x: x * x.sum().item())(torch.ones(2))


@prints("fake-mixed", "Please convert all Tensors to FakeTensors first", operator="aten::add.Tensor")
def fake_and_real():
    with FakeTensorMode():
        x = torch.ones(2)
    x + torch.ones(2)


@prints("fake-mixed", "Please convert all Tensors to FakeTensors first", operator="aten::mul.Tensor")
def real_in_a_mode():
    x = torch.ones(2)
    with FakeTensorMode():
        x * x


@prints("fake-mixed", "Mixing fake modes NYI")
def two_modes():
    x, y = FakeTensorMode(), FakeTensorMode()
    x.from_tensor(torch.ones(2)) + y.from_tensor(torch.ones(2))


@prints("not explained", "Cannot access data pointer", "Accessing the data pointer of FakeTensor")
def memory_of_a_fake_tensor():
    _MODE.from_tensor(torch.ones(2)).data_ptr()


@prints("fake-data", "Cannot access data pointer", "data is not allocated yet", "Cannot access storage of")
def memory_of_a_sparse_tensor():
    torch.eye(2).to_sparse().data_ptr()


@prints("fake-data", "Cannot access storage of")
def storage_of_a_sparse_tensor():
    torch.eye(2).to_sparse().untyped_storage()


@prints("not explained", "UnsupportedFakeTensorException")
def quantized_tensor_made_fake():
    _MODE.from_tensor(torch.quantize_per_tensor(torch.ones(2), 1.0, 0, torch.qint8))


@prints("meta-data", "Cannot copy out of meta tensor")
def copy_of_a_meta_tensor():
    torch.ones(2, device="meta").to("cpu")


@prints("meta-data", "Tensor.item() cannot be called on meta tensors")
def value_of_a_meta_tensor():
    torch.ones((), device="meta").item()


@prints("no-meta", "UnsupportedOperatorException", "fake impl", operator="metaless::f")
def fake_without_a_kernel():
    torch.library.define("metaless::f", "(Tensor x) -> Tensor")
    torch.library.impl("metaless::f", "CPU")(lambda x: x.clone())
    with FakeTensorMode():
        torch.ops.metaless.f(torch.ones(2))


@prints("not explained", "mismatch", operator="mismatched::f")
def fake_that_says_something_else():
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    f = _custom("mismatched::f")
    f.register_fake(lambda x: x.new_empty(3))
    with torch._functorch.config.patch(fake_tensor_propagate_real_tensors=True):
        with FakeTensorMode(shape_env=ShapeEnv()) as mode:
            f(mode.from_tensor(torch.ones(2)))
