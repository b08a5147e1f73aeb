import os
import sys
from pathlib import Path
from typing import List, Optional

import torch

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{here}/more/")
assert Path(__file__).resolve().parent / "more" == Path(os.path.join(here, "more")).resolve()
from guard import guarded


@guarded
def fill(x: torch.Tensor, value: float = 1.0, twice: bool = False) -> None:
    return None


@guarded
def count(size: int, others: List[torch.Tensor], mask: Optional[torch.Tensor] = None) -> int:
    return 1


@guarded
def fill(x: torch.Tensor) -> torch.Tensor:
    return x
