"""Answers to errors and warnings of PyTorch that people paste.

Three steps: `read` finds the texts in what was pasted, and undoes what logs and terminals did (`matches` finds the
templates of `messages`, `printed` reads keys, table and version); `conclude` draws facts and advice from a text and the
slot that it is about; `answer` puts them together.
"""
