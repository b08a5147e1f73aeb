"""Call PyTorch's own operators with fake tensors in a live PyTorch, and print what FakeTensorMode refused, as JSON.

usage: PYTHON live_fake_tensors.py < "[SEED, COUNT]"   (run with the Python that has PyTorch)

Nothing computes: a call is over where the mode has looked at its tensors.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import random
import sys
from typing import Any

torch: Any = importlib.import_module("torch")
fake_tensor: Any = importlib.import_module("torch._subclasses.fake_tensor")
Mode = fake_tensor.FakeTensorMode
FAKE = {"A": Mode(), "B": Mode()}
TENSORS = ("cpu", "cpu fake=A", "cpu fake=B", "cpu conj")
CONTEXTS = ((), ("mode=FakeTensorMode=A",), ("mode=FakeTensorMode=B",))
ALWAYS = ("add.Tensor", "mul_.Tensor", "lift_fresh", "lift_fresh_copy", "t_", "squeeze_", "sin")


class Done(BaseException):
    """The mode has looked at the tensors."""


validate = Mode.validate_and_convert_non_fake_tensors
render_call = fake_tensor.render_call
state: dict[str, Any] = {}


def looked_at(self: Any, func: Any, *rest: Any) -> Any:
    """End the call that was asked for; not one that the mode itself makes first, with the mode off."""
    validated = validate(self, func, *rest)
    if func is state["operator"] and state["mode"] in (None, self):
        raise Done
    return validated


def candidates() -> list[Any]:
    """Operators of ATen that can be called with tensors alone: every overload, the tensors without a default."""
    results = []
    for full in sorted(torch._C._dispatch_get_all_op_names()):
        namespace, _, rest = full.partition("::")
        name, _, overload = rest.partition(".")
        if namespace != "aten":
            continue
        operator = getattr(getattr(torch.ops.aten, name), overload or "default")
        needed = [argument for argument in operator._schema.arguments if not argument.has_default_value()]
        if needed and all(str(argument.type) == "Tensor" and not argument.kwarg_only for argument in needed):
            results.append((full, operator, len(needed)))
    return results


def dtype_for(operator: Any, size: int) -> Any:
    """A dtype for the tensors of an operator: complex, so that they can be conjugate, or float where it takes no other.

    The operators that take numbers compute on the tensors as they are before the mode looks at them.
    """
    if torch._C._should_allow_numbers_as_tensors(operator.name().split("::")[-1].split(".")[0]):
        try:
            operator(*[torch.ones(2, 2, dtype=torch.cfloat) for _ in range(size)])
        except NotImplementedError:
            return torch.float
    return torch.cfloat


def tensor(text: str, dtype: Any) -> Any:
    if "conj" in text:
        return torch.ones(2, 2, dtype=torch.cfloat).conj()
    base = torch.ones(2, 2, dtype=dtype)
    return FAKE[text[-1]].from_tensor(base) if "fake" in text else base


def call(operator: Any, texts: list[str], contexts: tuple[str, ...]) -> Any:
    """The mode's error, or None where it has none; what operators say of sizes and layouts is no matter here."""
    dtype = dtype_for(operator, len(texts))
    tensors = [tensor(text, dtype) for text in texts]
    mode = FAKE[contexts[0][-1]] if contexts else None
    state.update(operator=operator, mode=mode)
    with mode or contextlib.nullcontext():
        try:
            operator(*tensors)
        except Done:
            return None
        except AssertionError as error:
            return [type(error).__name__, str(error)]
        except Exception:
            return None
    return None


def main(seed: int, count: int) -> None:
    """Print the cases."""
    dice = random.Random(seed)
    Mode.validate_and_convert_non_fake_tensors = looked_at
    fake_tensor.render_call = lambda operator, _args, _kwargs: render_call(operator, (), {})
    operators = candidates()
    always = [operator for operator in operators if operator[0].removeprefix("aten::") in ALWAYS]
    assert len(always) == len(ALWAYS), always
    results = []
    for number in range(count):
        name, operator, size = dice.choice(always if number % 5 == 0 else operators)
        texts, contexts = [dice.choice(TENSORS) for _ in range(size)], dice.choice(CONTEXTS)
        if contexts or any("fake" in text for text in texts):
            error = call(operator, texts, contexts)
            results.append({"operator": name, "tensors": texts, "contexts": contexts, "error": error})
    print(json.dumps(results))


if __name__ == "__main__":
    main(*json.load(sys.stdin))
