"""A fuzzer for the whole command line: random declarations, error texts and options, in every command and format.

``python -m tests.fuzz --help`` says how to run it. `words` makes texts, `code` sources, `documents` declarations by
their JSON Schema; `built` answers as a PyTorch. `inputs` writes the files of a case, `arguments` its command line,
`cases` runs it, `verdict` judges what it left behind. `hostile` has sources that ask for very much, for tests
of the readers.
"""
