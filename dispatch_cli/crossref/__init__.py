"""The engine against PyTorch: the same registrations into both, and every answer compared.

`live` gets PyTorch's answers, `replay` gets the registrations into the engine, `compare` compares.
"""
