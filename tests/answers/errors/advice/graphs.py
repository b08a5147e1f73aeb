"""Texts about tensors in a graph: copies, hooks, gradients that are set, checkpoints, optimizers and scalers."""

import copy

import torch
from torch.utils.checkpoint import checkpoint

from tests.answers.errors.advice.gradients import training
from tests.answers.errors.advice.trial import tries, untried

GPU = "needs a GPU"


@tries("tensor-history", "`x.detach().cpu().numpy()`")
def array_of_a_computed_tensor(advice):
    x = training(1.0) * 2
    assert (x.detach().cpu() if advice else x).numpy() == 2


@tries("tensor-history", "`x.resolve_conj().resolve_neg().numpy()`")
def array_of_conjugates(advice):
    x = torch.tensor([1j]).conj()
    assert (x.resolve_conj().resolve_neg() if advice else x).numpy() == -1j


@tries("tensor-history", "`x.to_dense().numpy()`")
def array_of_a_sparse_tensor(advice):
    x = torch.eye(2).to_sparse()
    assert (x.to_dense() if advice else x).numpy().sum() == 2


@tries("tensor-history", "numpy does not have")
def array_of_bfloat16(advice):
    x = torch.ones(2, dtype=torch.bfloat16)
    assert (x.float() if advice else x).numpy().sum() == 2


@tries("tensor-history", "Cut the history off before: `x.detach()`")
def copy_of_a_computed_tensor(advice):
    x = training(1.0) * 2
    assert copy.deepcopy(x.detach() if advice else x) == 2


@tries("tensor-history", "use torch.nn.utils.parametrizations.weight_norm", "set that to None before")
def copy_of_a_module(advice):
    layer = torch.nn.Linear(2, 2)
    if "weight_norm" in advice:
        torch.nn.utils.parametrizations.weight_norm(layer)
    elif not advice:
        torch.nn.utils.weight_norm(layer)
    layer.last = None if advice else layer(torch.ones(2))
    assert copy.deepcopy(layer)(torch.ones(2)).shape == (2,)


@tries("tensor-history", "`x = x.detach()`", "set the flag on its parameters")
def flag_of_a_computed_tensor(advice):
    layer = torch.nn.Linear(2, 2)
    y = layer(torch.ones(2))
    if "layer" in advice or "parameters" in advice:
        layer.requires_grad_(False)
        y = layer(torch.ones(2))
    elif advice:
        y = y.detach()
    assert not y.requires_grad_(False).requires_grad


@tries("tensor-history", "Call `x.requires_grad_()` before", "leave the hook out where `x.requires_grad` is False")
def hook_without_a_gradient(advice):
    x = torch.ones(2)
    if "before" in advice:
        x.requires_grad_()
    if "leave" not in advice or x.requires_grad:
        x.register_hook(lambda g: None)


@tries("tensor-history", "Return None, or a gradient as the one it got", "a tuple, with one for each")
def hook_of_a_module(advice):
    layer = torch.nn.Linear(2, 2)
    layer.register_full_backward_hook(
        lambda module, inputs, outputs: None if "None" in advice else inputs if advice else inputs[0]
    )
    layer(training(1.0, 2.0).reshape(1, 2)).sum().backward()


untried("tensor-history", "`with torch.no_grad(): x.set_(y)`", "needs an older version")


@tries("tensor-history", "`module.weight = nn.Parameter(y)`", "`torch.utils.swap_tensors(x, y)`")
def data_of_another_layout(advice):
    layer, y = torch.nn.Linear(2, 2, bias=False), torch.eye(2).to_sparse()
    if "module" in advice:
        layer.weight = torch.nn.Parameter(y)
    elif advice:
        torch.utils.swap_tensors(layer.weight, torch.nn.Parameter(y))
    else:
        layer.weight.data = y
    assert layer.weight.layout is torch.sparse_coo


untried("tensor-history", "Move a module by", GPU)


@tries("tensor-history", "`x.grad = g.to(x.device, x.dtype)`")
def gradient_of_another_dtype(advice):
    x, g = training(1.0), torch.ones(1, dtype=torch.double)
    x.grad = g.to(x.device, x.dtype) if advice else g


@tries("tensor-history", "Keep what is no tensor as an attribute: `ctx.n = n`")
def number_saved_for_backward(advice):
    class Times(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, n):
            if advice:
                ctx.n = n
            else:
                ctx.save_for_backward(x, n)
            return x * n

        @staticmethod
        def backward(ctx, g):
            return g * ctx.n, None

    x = training(1.0)
    Times.apply(x, 3).backward()
    assert x.grad == 3


@tries("tensor-history", "Make it one, `nn.Parameter(x)`", "`with torch.no_grad(): p.copy_(x)`")
def tensor_in_place_of_a_parameter(advice):
    layer, x = torch.nn.Linear(2, 2), torch.eye(2)
    if "copy_" in advice:
        with torch.no_grad():
            layer.weight.copy_(x)
    else:
        layer.weight = torch.nn.Parameter(x) if advice else x
    assert layer.weight.sum() == 2


@tries("tensor-history", "Use inputs of torch.double")
def gradcheck_of_float32(advice):
    x = torch.ones(2, dtype=torch.double if advice else torch.float, requires_grad=True)
    torch.autograd.gradcheck(torch.sin, x)


@tries("tensor-history", "`(x + 1e-12).sqrt()`")
def root_of_zero(advice):
    x = training(0.0)
    with torch.autograd.detect_anomaly():
        ((x + 1e-12 if advice else x).sqrt() * 0).backward()


class Twice(torch.autograd.Function):
    reads = 2

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        for _ in range(Twice.reads):
            (_,) = ctx.saved_tensors
        return g * 2


@tries("checkpoint", "Let the function do the same both times", "pass `use_reentrant=True`, which compares nothing")
def checkpoint_of_a_function_that_counts(advice):
    calls = []

    def f(x):
        calls.append(x)
        return x.sin().cos() if advice.startswith("Let") or len(calls) == 1 else x.sin()

    checkpoint(f, training(1.0), use_reentrant="True" in advice).backward()


@tries("checkpoint", "Read `ctx.saved_tensors` once in a backward", "Or pass `use_reentrant=True`.")
def saved_tensors_read_twice(advice):
    Twice.reads = 1 if "once" in advice else 2
    x = training(1.0)
    checkpoint(Twice.apply, x, use_reentrant="True" in advice).backward()
    assert x.grad == 2


@tries("checkpoint", "Pass `use_reentrant=False`.")
def gradient_through_a_checkpoint(advice):
    x = training(0.0)
    (g,) = torch.autograd.grad(checkpoint(torch.sin, x, use_reentrant=not advice), x)
    assert g == 1


untried("checkpoint", "With activation checkpointing pass", "needs several processes")
untried("checkpoint", "Pass `find_unused_parameters=True`", "needs several processes")


@tries("optimizer", "Pass a leaf", "Create it on its device")
def optimizer_of_a_computed_tensor(advice):
    x = training(1.0) * 2
    if "leaf" in advice:
        x = x.detach().requires_grad_()
    elif advice:
        x = torch.zeros(1, device="cpu", requires_grad=True)
    torch.optim.SGD([x], lr=0.1)


@tries("optimizer", "Use torch.optim.SparseAdam or SGD", "create the embedding with `sparse=False`")
def sparse_gradients(advice):
    layer = torch.nn.Embedding(3, 2, sparse="False" not in advice)
    make = torch.optim.SparseAdam if "SparseAdam" in advice else torch.optim.Adam
    optimizer = make(layer.parameters())
    layer(torch.tensor([1])).sum().backward()
    optimizer.step()


@tries("optimizer", "Leave `capturable=True` out")
def capturable_on_the_cpu(advice):
    x = training(1.0)
    optimizer = torch.optim.Adam([x], capturable=not advice)
    x.backward()
    optimizer.step()


@tries("optimizer", "Leave `fused=True` out", until="2.4")
def fused_on_meta(advice):
    torch.optim.Adam([torch.ones(1, device="meta", requires_grad=True)], fused=not advice)


@tries("no-dtype", "Keep the parameters in float32", "`GradScaler(enabled=False)`")
def scaler_of_half_gradients(advice):
    layer = torch.nn.Linear(2, 1).to(torch.float if "float32" in advice else torch.bfloat16 if advice else torch.half)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", enabled="False" not in advice)
    with torch.autocast("cpu", dtype=torch.float16, enabled="float32" in advice):
        y = layer(torch.ones(1, 2, dtype=layer.weight.dtype))
    scaler.scale(y.sum()).backward()
    scaler.step(optimizer)


@tries("no-dtype", "`torch.finfo(x.dtype).min`, in place of -1e9")
def mask_filled_beyond_half(advice):
    x = torch.ones(2, dtype=torch.half)
    x.masked_fill(torch.tensor([True, False]), torch.finfo(x.dtype).min if advice else -1e9)


@tries("mixed-dtypes", "Convert the mask, to bool or to the dtype of the query")
def attention_mask_of_another_dtype(advice):
    x, mask = torch.ones(1, 1, 2, 4), torch.zeros(2, 2, dtype=torch.double)
    torch.nn.functional.scaled_dot_product_attention(x, x, x, attn_mask=mask.to(x.dtype) if advice else mask)


@tries("no-strides", "Call `x = x.coalesce()` before", "or read `x._indices()`")
def indices_that_repeat(advice):
    x = torch.sparse_coo_tensor([[0, 0]], [1.0, 1.0], (2,))
    if "_indices" in advice:
        assert x._indices().shape == (1, 2)
    else:
        assert (x.coalesce() if advice else x).indices().shape == (1, 1)


@tries("no-strides", "Call it for each part, `[f(a) for a in x.unbind()]`", "on `x.values()`")
def view_of_a_jagged_tensor(advice):
    x = torch.nested.nested_tensor([torch.ones(3, 2), torch.ones(2, 2)], layout=torch.jagged)
    if "part" in advice:
        assert [a.view(-1).sum() for a in x.unbind()] == [6, 4]
    else:
        assert (x.values() if advice else x).view(10).sum() == 10


@tries("no-strides", "or on a dense tensor", since="2.13")
def view_of_a_padded_tensor(advice):
    x = torch.nested.nested_tensor([torch.ones(3, 2), torch.ones(2, 2)], layout=torch.jagged)
    assert (torch.nested.to_padded_tensor(x, 0) if advice else x).view(12).sum() == 10


@tries("no-strides", "Call `x.contiguous()` before")
def memory_of_a_transposed_tensor(advice):
    x = torch.ops.quantized.embedding_bag_byte_prepack(torch.ones(4, 4)).t().contiguous().t()
    rows = torch.ops.quantized.embedding_bag_byte_rowwise_offsets
    rows(x.contiguous() if advice else x, torch.tensor([0, 1]), torch.tensor([0]))


@tries("backward-call", "Or take torch.func.jacrev or vjp")
def gradient_of_a_vector(advice):
    (torch.func.jacrev if advice else torch.func.grad)(torch.sin)(torch.zeros(2))


@tries("under-vmap", "Choose the other one, `vmap(f, randomness='different')`", "or call the operator outside")
def same_random_numbers_of_a_batch(advice):
    torch.func.vmap(torch.bernoulli, randomness="different" if advice else "same")(torch.ones(3))
    torch.bernoulli(torch.ones(3))


@tries("under-vmap", "Use an operator that returns its result", "or choose `randomness='same'`")
def other_random_numbers_in_one_tensor(advice):
    y = torch.ones(2)
    vmap = torch.func.vmap
    vmap(lambda x: x + (torch.randn_like(y) if advice else y.normal_()), randomness="different")(torch.ones(3, 2))
    vmap(lambda x: x + y.normal_(), randomness="same")(torch.ones(3, 2))


@tries("no-dtype", "complex32 as `x.to(torch.complex64)`")
def product_of_complex32(advice):
    x = torch.ones(2, 2, dtype=torch.complex32)
    x = x.to(torch.complex64) if advice else x
    assert (x @ x).shape == (2, 2)


@tries("under-vmap", "Use `x.detach()` to read it")
def data_in_a_transform(advice):
    torch.vmap(lambda x: (x.detach() if advice else x.data) * 2)(torch.ones(2))


@tries("under-vmap", "Call `torch.func.grad(f)` there")
def backward_in_a_transform(advice):
    def f(x):
        if advice:
            return torch.func.grad(torch.sin)(x)
        (x * 2).backward()
        return x

    torch.vmap(f)(torch.zeros(2, requires_grad=not advice))


@tries("under-vmap", "Return tensors only", "get the rest by `has_aux=True`")
def number_from_a_transform(advice):
    if "aux" in advice:
        assert torch.func.vjp(lambda x: (x, torch.ones(1)), torch.ones(2), has_aux=True)[2] == 1
    else:
        torch.func.vjp(lambda x: torch.tensor(2.0) * x if advice else 2, torch.ones(2))


@tries("no-batching-rule", "take torch.no_grad() there", until="2.4")
def forward_mode_in_inference_mode(advice):
    with torch.no_grad() if advice else torch.inference_mode():
        torch.vmap(torch.func.jacfwd(torch.sin))(torch.ones(2, 2))


@tries("function-transform", "leave both decorators out")
def autocast_marks_without_ctx(advice):
    mark, unmark = (
        (decorate(device_type="cpu") if not advice else lambda f: f)
        for decorate in (torch.amp.custom_fwd, torch.amp.custom_bwd)
    )

    class Times(torch.autograd.Function):
        @staticmethod
        @mark
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        @unmark
        def backward(ctx, g):
            return g * 2

    Times.apply(training(1.0) * 1).backward()


@tries("mixed-devices", "`torch.tensor(data, device=device)`", "`torch.zeros(2, device=device)`")
def constructor_of_another_device(advice):
    if "zeros" in advice:
        torch.zeros(2, device="meta")
    else:
        (torch.tensor if advice else torch.FloatTensor)([1.0], device="meta")


@tries("mixed-devices", "Pass it as it was saved, a tensor of uint8 on the CPU")
def random_state_that_was_converted(advice):
    state = torch.get_rng_state().float()
    torch.set_rng_state(state.cpu().byte() if advice else state)


@tries("mixed-devices", "Move it to ")
def lengths_on_another_device(advice):
    lengths = torch.tensor([2, 1], device="cpu" if advice else "meta")
    torch.nn.utils.rnn.pack_padded_sequence(torch.ones(2, 2, 1), lengths)


untried("mixed-devices", "DataParallel copies a module", GPU)
untried("not-built", "Move the tensors to the GPU; if they are there", GPU)


@tries("no-dtype", "Convert them, `x.to(torch.complex64)`", "a real tensor is its own real part")
def imaginary_part_of_a_real_tensor(advice):
    x = torch.ones(2)
    if "own" in advice:
        assert x.real is not None
    else:
        assert (x.to(torch.complex64) if advice else x).imag.sum() == 0


@tries("changed-in-place", "or change a copy, `x.clone()`")
def expanded_tensor_changed(advice):
    x = torch.ones(1).expand(2)
    assert (x.clone() if advice else x).add_(1).sum() == 4


untried("backward-call", "Call `model.train()` before the forward", GPU)
untried("no-device-module", "Use `binary_cross_entropy_with_logits`", GPU)
untried("no-device-module", "Create it on the CPU, `torch.Generator('cpu')`", "needs another build")


@tries("no-device-module", "Use `x.to(y)` or `x.to(device, dtype)`")
def type_of_a_backend(advice):
    x = torch.ones(2)
    assert (x.to("cpu", torch.float) if advice else x.type("torch.mps.FloatTensor")).sum() == 2


untried("tensor-history", "Install numpy. PyTorch before 2.3", "needs another installation")


@tries("tensor-history", "Call `x.retain_grad()` before backward", "read the gradient of what it was computed from")
def gradient_of_a_computed_tensor(advice):
    x = training(1.0)
    y = x * 2
    if "retain" in advice:
        y.retain_grad()
    y.backward()
    assert ((x if "read" in advice else y).grad is None) is (not advice)


@tries("checkpoint", "Pass `use_reentrant=False`, or let an input require one")
def checkpoint_of_a_frozen_input(advice):
    layer = torch.nn.Linear(1, 1)
    y = checkpoint(layer, torch.ones(1), use_reentrant=not advice)
    assert y.requires_grad is bool(advice)


@tries("optimizer", "Check that the loss is computed from its parameters")
def scaler_without_gradients(advice):
    x, scaler = training(1.0), torch.amp.GradScaler("cpu")
    loss = scaler.scale(x * 2 if advice else torch.ones(1))
    if advice:
        loss.backward()
    scaler.step(torch.optim.SGD([x], lr=0.1))


@tries("optimizer", "Call `scaler.update()` after each step")
def scaler_that_unscales_twice(advice):
    x, scaler = training(1.0), torch.amp.GradScaler("cpu")
    optimizer = torch.optim.SGD([x], lr=0.1)
    for _ in range(2):
        scaler.scale(x * 2).backward()
        scaler.unscale_(optimizer)
        if advice:
            scaler.step(optimizer)
            scaler.update()


@tries("wrong-arguments", "Find out why the list is empty, and skip the call")
def list_without_tensors(advice):
    tensors = []
    if tensors or not advice:
        torch.stack(tensors)


untried("other-text", "Names in the condition are of C++", "a diagnosis")
untried("no-attention", "PyTorch uses another one", GPU)
untried("no-stub", "Use a dtype that it has", GPU)
untried("no-stub", "GPUs before Ampere (8.0)", GPU)
untried("mixed-devices", "Move it to {device}", GPU)
untried("gpu-error", "Compare `torch.cuda.get_arch_list()`", GPU)
untried("gpu-error", "Run it on the CPU, where the error names the value", GPU)
untried("gpu-error", "Run it with CUDA_LAUNCH_BLOCKING=1, which shows the call", GPU)
untried("gpu-error", "Check `nvidia-smi`", GPU)
untried("gpu-error", "Pass `map_location='cpu'`", GPU)
untried("gpu-error", "Start processes by", GPU)
untried("gpu-error", "Take a smaller batch, half precision", "needs all of the memory")
untried("gpu-error", "Name one that is there", GPU)
untried("gpu-error", "Update macOS", GPU)
untried("gpu-error", "The lines after the text, such as", "needs an NPU")
untried("gpu-error", "Take a smaller batch: the memory", GPU)
untried("gpu-error", "Check that no other CUDA or ROCm is found first", GPU)
untried("gpu-error", "Or leave it out: `torch.backends.cudnn.enabled = False`", GPU)
untried("gpu-error", "Leave it out for this call", "needs a fault of oneDNN")
