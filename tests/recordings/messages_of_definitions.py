"""Texts about operators that are defined or registered otherwise than PyTorch wants them."""

import torch
from message_case import prints
from torch.library import custom_op


def _clone(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


@prints("not explained", "does not support autocast")
def autocast_of_a_device_without():
    custom_op("casts::f", mutates_args=())(_clone).register_autocast("meta", torch.half)


@prints("not explained", "Expected the return from backward", "returned an incorrect number of gradients", "returned a gradient different than None")
def backward_of_too_many():
    f = custom_op("gradients::f", mutates_args=())(_clone)
    f.register_autograd(lambda ctx, g: (g, g))
    f(torch.ones(2, requires_grad=True)).sum().backward()


@prints("not explained", "are required to have a `device: torch.device` argument")
def kernel_of_a_device_without_a_tensor():
    @custom_op("factories::f", mutates_args=(), device_types="cpu")
    def f(n: int) -> torch.Tensor:
        return torch.ones(n)


@prints("not explained", "mutates_args must either be a sequence")
def mutation_that_is_a_text():
    custom_op("texts::f", mutates_args="x")(_clone)


@prints("bad-registration", "infer_schema(func):")
def argument_of_an_unknown_type():
    @custom_op("types::f", mutates_args=())
    def f(x: object) -> torch.Tensor:
        return torch.ones(2)


@prints("bad-registration", "infer_schema(func):")
def mutation_of_no_argument():
    custom_op("mutated::f", mutates_args=("z",))(_clone)


@prints("not explained", "expected `func` to have name", "expected `func` to have type annotations", "Expected `func`")
def old_custom_op_of_another_name():
    torch._custom_ops.custom_op("olddefinitions::g")(_clone)


@prints("not explained", "custom_op only supports functional operators")
def old_custom_op_that_mutates():
    torch._custom_ops.custom_op("olddefinitions::h", "(Tensor(a!) x) -> Tensor")


@prints("not explained", "is a reserved namespace")
def old_custom_op_in_a_reserved_namespace():
    torch._custom_ops.custom_op("aten::g", "(Tensor x) -> Tensor")


@prints("not explained", "already has a")
def old_kernel_twice():
    torch._custom_ops.custom_op("olddefinitions::k", "(Tensor x) -> Tensor")
    for _ in range(2):
        torch._custom_ops.impl("olddefinitions::k")(_clone)


@prints("not explained", "got unexpected type for op")
def fake_of_a_number():
    torch.library.register_fake(3, _clone)


@prints("not explained", "tagged with torch.Tag.out must")
def out_operator_without_a_mutation():
    torch.library.define("tags::f", "(Tensor x) -> Tensor", tags=(torch.Tag.out,))


@prints("not explained", "tagged with torch.Tag.inplace requires")
def in_place_operator_without_a_mutation():
    torch.library.define("tags::g_", "(Tensor x) -> Tensor", tags=(torch.Tag.inplace,))


@prints("not explained", "tagged with torch.Tag.out")
def formula_of_an_out_operator():
    torch.library.define("tags::h", "(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", tags=(torch.Tag.out,))
    torch.library.register_autograd("tags::h", _clone)


@prints("not explained", "register_vmap with kwarg-only Tensor args")
def batching_rule_of_keyword_tensors():
    torch.library.define("keywordrules::f", "(*, Tensor x) -> Tensor")
    torch.library.register_vmap("keywordrules::f", _clone)


@prints("not explained", "can't have an overload name beginning with '__'")
def overload_with_underscores():
    torch.ops.aten.add.__nothing__


@prints("not explained", "Invalid attribute")
def operator_with_underscores():
    torch.ops.aten.__origin__


@prints("not explained", "does not implement a gen_schema")
def schema_of_a_higher_order_operator():
    class Bare(torch._ops.HigherOrderOperator):
        def __init__(self):
            super().__init__("bare")

        def __call__(self, *args):
            return super().__call__(*args)

    Bare().gen_schema()


@prints("not explained", "fallback does")
def two_conjugates_changed():
    torch.library.define("bits::f", "(Tensor(a!) x, Tensor(b!) y) -> ()")
    torch.library.impl("bits::f", "CPU")(lambda x, y: None)
    x, y = (torch.ones(2, dtype=torch.cfloat).conj() for _ in range(2))
    torch.ops.bits.f(x, y)


@prints("not explained", "mismatched tensor metadata")
def fake_of_another_size_compiled():
    f = custom_op("sizes::f", mutates_args=())(_clone)
    f.register_fake(lambda x: x.new_empty(3))
    torch.library.opcheck(f, (torch.ones(2),))


@prints("no-stub", "overrideable")
def convolution_of_another_backend():
    torch.ops.aten.convolution_overrideable(
        torch.ones(1, 1, 4, 4), torch.ones(1, 1, 2, 2), None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1
    )


@prints("not explained", "haven't registered a fake class")
def object_of_an_unknown_class():
    from torch._library.fake_class_registry import _find_fake_class_for_script_object

    class Thing:
        def _type(self):
            return self

        def qualified_name(self):
            return "__torch__.torch.classes.mylib.Thing"

    _find_fake_class_for_script_object(Thing())


@prints("not explained", "is not registered. Please use register_fake_class")
def fake_class_that_is_not_registered():
    from torch._library.fake_class_registry import global_fake_class_registry

    getattr(global_fake_class_registry, "get_impl")("mylib::Thing")


@prints("not explained", "PrivateUse1HooksInterface", "generator to the PrivateUse1")
def generator_of_a_backend_without_hooks():
    torch.Generator(device="privateuseone")


@prints("no-batching-rule", "does not support vmap over dims of size 0", operator="empties::f")
def loop_over_nothing():
    torch.library.define("empties::f", "(Tensor x) -> Tensor")
    torch.library.impl("empties::f", "CPU")(lambda x: x.clone())
    torch.func.vmap(torch.ops.empties.f)(torch.ones(0, 3))


@prints("no-batching-rule", "operations with no returns", operator="returnless::f")
def loop_without_a_result():
    torch.library.define("returnless::f", "(Tensor x) -> ()")
    torch.library.impl("returnless::f", "CPU")(lambda x: None)
    torch.func.vmap(torch.ops.returnless.f)(torch.ones(2, 3))


@prints("inference-tensor", "Setting requires_grad=True on inference tensor")
def parameter_of_inference_mode():
    with torch.inference_mode():
        layer = torch.nn.Linear(2, 2)
    layer.requires_grad_()


@prints("not explained", "To use autograd.Function with vmap")
def rule_of_a_function_itself():
    torch.autograd.Function.vmap(None, (), 1)


@prints("not explained", "same randomness with a batched tensor input")
def same_random_numbers_of_a_batch():
    torch.func.vmap(torch.bernoulli, randomness="same")(torch.ones(2, 3) / 2)


@prints("fake-mixed", "doesn't match mode")
def modes_of_two_inputs():
    from torch._guards import detect_fake_mode
    from torch._subclasses.fake_tensor import FakeTensorMode

    detect_fake_mode([FakeTensorMode().from_tensor(torch.ones(2)) for _ in range(2)])


@prints("bad-registration", "Invalid dispatch key")
def kernel_asked_at_no_key():
    torch.library.get_kernel("aten::add.Tensor", "CPUTensorId")


@prints("meta-data", "Cannot inplace into non-meta tensor", "is not on the expected device", "meta")
def meta_into_real():
    torch.ones(2).copy_(torch.ones(2, device="meta"))
