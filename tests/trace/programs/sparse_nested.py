"""Sparse tensors in two layouts, nested tensors, and jagged ones, with gradients."""

import warnings

import torch

warnings.simplefilter("ignore")


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
    print(" ".join(f"{function().sum().item():.2f}" for function in (sparse, sparse_gradients, nested, jagged)))


if __name__ == "__main__":
    main()
