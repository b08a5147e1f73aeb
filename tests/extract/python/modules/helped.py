import torch

from . import helpers
from .helpers import *
from .helpers import Mode, Registrar, operator
from .helpers import inferred as by_annotations


@operator("plus(Tensor x, Tensor y) -> Tensor", "CPU", "CUDA", fake=lambda x, y: x)
def plus(x, y):
    return x


@operator("minus(Tensor x, Tensor y) -> Tensor")
def minus(x, y):
    return x


Registrar("m").add("sin", plus).add("cos", plus, {"Meta": 1, "CPU": 0})


@by_annotations
def _scale(
    x: torch.Tensor, by: float = 2.0, mode: str = Mode.FAST.value, other: Optional[torch.Tensor] = None
) -> torch.Tensor:
    return x


@by_annotations(mutates=["x"])
def fill(x: torch.Tensor, value: int) -> None:
    return None


for position, (name, key) in enumerate(helpers.TABLE.items()):
    helpers.library().define(f"table{position}_{name}(Tensor x) -> Tensor")
    helpers.library().impl(f"table{position}_{name}", plus, key)
for name in NAMES:
    helpers.library().define(name + "(Tensor x) -> Tensor")


def register_all(names):
    if not names:
        return
    for name in names:
        if name == "stop":
            break
        if name.startswith("_"):
            continue
        helpers.library().define(f"all_{name}(Tensor x) -> Tensor")


register_all([])
register_all(["a", "_b", "c", "stop", "d"])

try:
    import a_module_that_nobody_has
except ImportError:
    helpers.library().define("without(Tensor x) -> Tensor")
else:
    helpers.library().define("with(Tensor x) -> Tensor")
if torch.library is not None and hasattr(torch.library, "custom_op"):
    helpers.library().define("known(Tensor x) -> Tensor")
