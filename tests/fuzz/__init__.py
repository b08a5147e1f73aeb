"""A fuzzer for the whole command line: random declarations, error texts and options, in every command and format.

``python -m tests.fuzz --help`` says how to run it. `words`, `calls` and `schemas` make texts, `documents` makes
declarations by their JSON Schema, `recorded` has what PyTorch said, `built` what a stand-in for it answers. `inputs`
writes the files of a case, `arguments` and `prompt` its command line, `cases` runs it, `verdict` judges what it left
behind, `memory` measures it in a process of its own; `workers` and `__main__` run many, `counts` adds up.
"""
