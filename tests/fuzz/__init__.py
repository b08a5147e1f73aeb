"""A fuzzer for the whole command line: random declarations, error texts and options, in every command and format.

``python -m tests.fuzz --help`` says how to run it. `words` makes texts, `documents` makes declarations by their JSON
Schema, `inputs` writes the files of a case, `arguments` its command line, `verdict` judges what it left behind, and
`__main__` runs many.
"""
