"""The dispatcher engine: PyTorch's rules over a universe and a history of registrations. No YAML, no terminal."""
