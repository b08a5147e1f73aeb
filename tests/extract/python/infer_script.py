"""The schemas that live PyTorch infers of the functions of a module: usage: PYTHON infer_script.py FILE (JSON)."""

import json
import logging
import runpy
import sys
import warnings

import torch

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
names = runpy.run_path(sys.argv[1])


def schema_of(function, mutates):
    try:
        return torch.library.infer_schema(function, mutates_args=mutates)
    except Exception:
        return None


print(json.dumps([schema_of(names[f"f{place}"], mutates) for place, mutates in enumerate(names["MUTATES"])]))
