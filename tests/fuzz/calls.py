"""Random key-set expressions, tensors and contexts, as `keys` and `resolve` take them."""

from __future__ import annotations

from dispatch_cli.model.call import CONTEXT_WORDS, TENSOR_WORDS
from tests.fuzz import words
from tests.fuzz.words import Dice


def expression(dice: Dice) -> str:
    """An expression of key sets."""
    text = _term(dice)
    for _ in range(dice.randrange(4)):
        text = dice.choice([f"{text} {dice.choice('|&-')} {_term(dice)}", f"({text})"])
    return text


def odd_expression(dice: Dice) -> str:
    """One with signs that mean nothing in it."""
    first, other = words.key(dice), words.key(dice)
    return dice.choice([f"~{expression(dice)}", f"{first} ^ {other}", f"({first}", f"{first} |"])


def _term(dice: Dice) -> str:
    calls = [f"FULL_AFTER({words.key(dice)})", f"runtime({alias(dice)})", f"DispatchKeySet({words.keys(dice)})"]
    autograd = dice.choice(["backends(AutogradCPU)", "autograd(CPU)", "backends(AutogradOther)", "autograd(Sparse)"])
    named = dice.choice(["FULL", "Dense", "CPUBit", "after_autograd", "default_included", "autogradother_backends"])
    number = dice.choice(["0", "1", str(dice.randrange(1 << 62)), str((1 << 64) - 1)])
    return dice.choice([words.key(dice), words.key(dice), words.key(dice), *calls, autograd, named, number])


def alias(dice: Dice) -> str:
    """An alias key."""
    return dice.choice(tuple(words.UNIVERSE.aliases))


def tensor(dice: Dice) -> str:
    """A tensor as `resolve` takes it."""
    chosen = [_named(dice, each) for each in dice.sample(TENSOR_WORDS, dice.choice([0, 0, 0, 1, 1, 2]))]
    return " ".join([dice.choice(words.DEVICES), *chosen])


LAYOUTS = ("strided", "sparse", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "mkldnn", "jagged")
OTHERS = tuple(word for word in TENSOR_WORDS if word not in (*LAYOUTS, "undefined", "none"))


def good_tensor(dice: Dice) -> str:
    """One that there is, mostly."""
    if dice.random() < 0.05:
        return dice.choice(["undefined", "none"])
    its = [dice.choice(LAYOUTS[:3])] if dice.random() < 0.1 else []
    its += [_named(dice, each) for each in dice.sample(OTHERS, dice.choice([0, 0, 0, 0, 1, 1, 1, 2]))]
    dice.shuffle(its)
    return " ".join([dice.choice(("cpu", "cpu", "cuda", "cuda:0", "meta", "privateuseone", "xla", "mps")), *its])


def _named(dice: Dice, one: str) -> str:
    return one + {"subclass": f"={dice.choice(['S', 'MyTensor'])}", "fake": dice.choice(["", "=F"])}.get(one, "")


def context(dice: Dice) -> str:
    """A context of a call."""
    takes = {
        "autocast": f" {dice.choice(words.DEVICES)}",
        "mode": f"={dice.choice(['M', 'FakeTensorMode', 'FakeTensorMode=2'])}",
        "pre_dispatch_mode": "=M",
        "include": f"={words.key(dice)}",
        "exclude": f"={words.key(dice)}",
    }
    choice = dice.choice(CONTEXT_WORDS)
    return choice + takes.get(choice, "")
