"""A decorator factory, a class of registrars and a table."""

import functools
from enum import Enum
from typing import Optional

import torch
from torch.library import Library

NAMESPACE = "pyx_helped"


class Mode(Enum):
    FAST = "fast"
    SLOW = "slow"


@functools.lru_cache(maxsize=None)
def library(kind="FRAGMENT"):
    return Library(NAMESPACE, kind)


def operator(schema, *keys, fake=None):
    def wrap(function):
        name = schema.partition("(")[0]
        library().define(schema)
        for key in keys or ("CompositeExplicitAutograd",):
            library().impl(name, function, key)
        if fake is not None:
            torch.library.register_fake(f"{NAMESPACE}::{name}")(fake)
        return function

    return wrap


class Registrar:
    def __init__(self, prefix):
        self.prefix = prefix
        self.lib = library()

    def add(self, name, function, keys={"CPU": True, "CUDA": False}):
        qualified = f"{self.prefix}_{name}"
        self.lib.define("{}(Tensor x) -> Tensor".format(qualified))
        for key, wanted in keys.items():
            if wanted:
                self.lib.impl(qualified, function, key)
        return self


def inferred(function=None, *, mutates=()):
    if function is None:
        return functools.partial(inferred, mutates=mutates)
    name = function.__name__.lstrip("_")
    schema = torch.library.infer_schema(function, mutates_args=mutates)
    library().define(name + schema)
    library().impl(name, function, "CompositeImplicitAutograd")
    return function


PAIRS = [("sin", "CPU"), ("cos", "Meta")]
TABLE = {name: key for name, key in PAIRS if name != "tan"}
NAMES = [*TABLE]
NAMES.append("tanh")
