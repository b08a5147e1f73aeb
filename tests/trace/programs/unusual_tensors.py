"""Tensors with the lazy bits conj and neg, zero, quantized, meta, sparse, nested and jagged ones, with gradients."""

import warnings

import torch

warnings.simplefilter("ignore")


def complex_numbers() -> torch.Tensor:
    x = torch.randn(3, 3, dtype=torch.complex64, requires_grad=True)
    y = x.conj() @ x.mH + x.conj().imag.neg() * 2
    y = torch.view_as_real(y.conj().resolve_conj()).sum()
    y.backward()
    flipped = torch._neg_view(torch.ones(3))
    flipped.add_(x.grad.conj().imag[0])
    copied = torch.empty(3, dtype=torch.complex64)
    copied.copy_(x.detach()[0].conj())
    return y.detach() + flipped.sum() + copied.real.sum()


def zero_tensors() -> torch.Tensor:
    zero = torch._efficientzerotensor(3)
    return (zero + torch.ones(3)).sum() + (zero * 2).sum()


def quantized() -> torch.Tensor:
    x = torch.linspace(-1, 1, 8).reshape(2, 4)
    small = torch.quantize_per_tensor(x, 0.1, 10, torch.quint8)
    channels = torch.quantize_per_channel(x, torch.tensor([0.1, 0.2]), torch.tensor([0, 0]), 0, torch.qint8)
    pieces = small.view(4, 2).clone().relu()
    with_gradient = torch.fake_quantize_per_tensor_affine(x.requires_grad_(), 0.1, 0, -128, 127)
    with_gradient.sum().backward()
    return pieces.dequantize().sum() + channels.dequantize().sum() + small.int_repr().sum() + x.grad.sum()


def meta() -> torch.Tensor:
    with torch.device("meta"):
        net = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.Flatten(), torch.nn.Linear(8, 2))
    result = net(torch.empty(3, 1, 4, 4, device="meta"))
    result.sum().backward()
    with torch.no_grad():
        for parameter in net.to_empty(device="cpu").parameters():
            parameter.fill_(0.5)
    return net(torch.ones(1, 1, 4, 4)).detach().sum()


def sparse() -> torch.Tensor:
    indices = torch.tensor([[0, 1, 2, 2], [1, 0, 2, 2]])
    matrix = torch.sparse_coo_tensor(indices, torch.arange(4.0), (3, 3))
    x = torch.ones(3, 2, requires_grad=True)
    product = torch.sparse.mm(matrix.coalesce(), x)
    product.sum().backward()
    total = matrix + matrix * 2
    rows = total.coalesce().to_sparse_csr()
    return rows @ torch.ones(3) + torch.sparse.sum(total).to_dense() + x.grad.sum() + matrix.to_dense().relu().sum()


def sparse_gradients() -> torch.Tensor:
    table = torch.nn.Embedding(6, 2, sparse=True)
    optimizer = torch.optim.SparseAdam(list(table.parameters()), lr=0.1)
    table(torch.tensor([1, 1, 4])).pow(2).sum().backward()
    optimizer.step()
    return table.weight.detach().sum()


def nested() -> torch.Tensor:
    parts = [torch.randn(2, 4), torch.randn(3, 4)]
    batch = torch.nested.nested_tensor(parts, requires_grad=True)
    layer = torch.nn.Linear(4, 4)
    hidden = torch.nn.functional.gelu(layer(batch))
    padded = torch.nested.to_padded_tensor(hidden, 0.0)
    padded.sum().backward()
    return padded.detach().sum() + sum(tensor.sum() for tensor in batch.grad.unbind())


def jagged() -> torch.Tensor:
    batch = torch.nested.nested_tensor([torch.randn(2, 4), torch.randn(3, 4)], layout=torch.jagged)
    layer = torch.nn.Linear(4, 2)
    hidden = layer(batch).sin() * 2
    loss = hidden.values().sum()
    loss.backward()
    return loss.detach() + layer.weight.grad.sum()


def main() -> None:
    torch.manual_seed(0)
    kinds = (complex_numbers, zero_tensors, quantized, meta, sparse, sparse_gradients, nested, jagged)
    print(" ".join(f"{function().sum().item():.2f}" for function in kinds))


if __name__ == "__main__":
    main()
