"""A partial evaluator of Python: values, expressions, statements and calls."""
