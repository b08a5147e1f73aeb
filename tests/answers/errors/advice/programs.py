"""Texts about programs that are traced, scripted, wrapped or trained in another way than they were written for."""

import warnings

import torch
from torch.utils.checkpoint import checkpoint

from tests.answers.errors.advice.trial import tries, untried

GPU = "needs a GPU"


@tries("backward-call", "Let it require one before the forward", "or leave it out if it is frozen")
def gradient_of_a_frozen_parameter(advice):
    layer = torch.nn.Linear(2, 2)
    layer.bias.requires_grad_(advice.startswith("Let"))
    parameters = [p for p in layer.parameters() if p.requires_grad or "leave" not in advice]
    assert torch.autograd.grad(layer(torch.ones(2)).sum(), parameters)[0].sum() == 4


@tries("backward-call", "pass `use_reentrant=False`", unchanged=("ignore it where nothing is trained",))
def checkpoint_of_inputs_without_gradients(advice):
    warnings.simplefilter("always")
    layer = torch.nn.Linear(2, 2)
    y = checkpoint(layer, torch.ones(2), use_reentrant=not advice)
    if advice:
        y.sum().backward()
        assert layer.weight.grad.sum() == 4


untried("backward-call", "Call `model.train()` before that forward", GPU)


class Chosen(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.flag = True

    def forward(self, x, flag=None, y=None):
        if self.flag if y is not None else flag is None and x.sum() > 0:
            return x + 1
        return x


class Whole(torch.fx.Tracer):
    def is_leaf_module(self, m, module_qualified_name):
        return isinstance(m, Chosen)


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


class Kept(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2))

    def forward(self, x):
        return x * self.weight


class Assigns(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.y = None

    def forward(self, x):
        self.y = x + 1
        return self.y * 2


@tries("changed-in-place", "`strict=False` may do", until="2.8")
def exported_module_that_assigns_an_attribute(advice):
    torch.export.export(Assigns(), (torch.ones(2),), strict=not advice)


untried("no-dtype", "Quantize the model as before", "needs an older PyTorch")
