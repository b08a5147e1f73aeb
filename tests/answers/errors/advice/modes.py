"""Texts about higher-order operators, modes and tensor subclasses."""

from contextlib import ExitStack

import torch

from tests.answers.errors.advice.slots import ONE, define
from tests.answers.errors.advice.trial import tries


def half():
    """A higher-order operator."""

    class Half(torch._ops.HigherOrderOperator):
        def __init__(self):
            super().__init__("half")

        def __call__(self, x):
            return super().__call__(x)

    op = Half()
    op.py_impl(torch._C.DispatchKey.CompositeExplicitAutograd)(lambda x: x / 2)
    return op


class Refusing(torch.Tensor):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


class Handling(torch.Tensor):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        plain = [torch.ones(2) if isinstance(arg, Handling) else arg for arg in args]
        return func(*plain, **(kwargs or {}))


@tries(
    "no-subclass",
    "or plain ones: `x.as_subclass(torch.Tensor)`",
    "of the class; return",
    "Pass tensors of one subclass only",
)
def subclass_that_handles_nothing(advice):
    x = torch.Tensor._make_wrapper_subclass(Handling if "of the class" in advice or "one" in advice else Refusing, (2,))
    (torch.ones(2) if "plain" in advice else x).sin()


class Thing:
    handles = False

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return 3 if cls.handles else NotImplemented


@tries("no-subclass", "or plain ones: `x.as_subclass(torch.Tensor)`", "of the class; return NotImplemented only")
def class_that_handles_nothing(advice):
    Thing.handles = "of the class" in advice
    torch.add(ONE, ONE if "plain" in advice else Thing())


def group(backend):
    """The process group of one process."""
    import os

    import torch.distributed as dist

    os.environ.update(MASTER_ADDR="localhost", MASTER_PORT="0", RANK="0", WORLD_SIZE="1")
    dist.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1)


def mesh():
    from torch.distributed.device_mesh import init_device_mesh

    group("gloo")
    return init_device_mesh("cpu", (1,))


@tries(
    "no-sharding",
    "Convert the ordinary tensor, `distribute_tensor(x, mesh, [Replicate()])`",
    "or the DTensor, `x.full_tensor()`",
    "implicit_replication()`",
    since="2.5",
)
def plain_beside_distributed(advice):
    from torch.distributed.tensor import Replicate, distribute_tensor

    where = mesh()
    x, y = distribute_tensor(ONE, where, [Replicate()]), torch.ones(2, 2)
    if "distribute" in advice:
        y = distribute_tensor(y, where, [Replicate()])
    elif "full" in advice:
        x = x.full_tensor()
    with torch.distributed.tensor.experimental.implicit_replication() if "implicit" in advice else ExitStack():
        assert (x + y).sum() == 8


@tries(
    "no-sharding",
    "`y = f(x.full_tensor())`, and wrap the result",
    "torch.distributed.tensor.experimental.register_sharding",
    since="2.5",
)
def operator_without_a_strategy(advice):
    from torch.distributed.tensor import DTensor, Replicate, distribute_tensor
    from torch.distributed.tensor.experimental import register_sharding

    op = define("t::f", "(Tensor x) -> Tensor", CPU=lambda x: x + 1)
    torch.library.register_fake("t::f", torch.empty_like)
    where = mesh()
    x = distribute_tensor(ONE, where, [Replicate()])
    if "register_sharding" in advice:

        @register_sharding(op.default)
        def strategy(x):
            return [([Replicate()], [Replicate()])]

    y = DTensor.from_local(op(x.full_tensor()), where, [Replicate()]) if "full_tensor" in advice else op(x)
    assert y.sum().to_local() == 8
