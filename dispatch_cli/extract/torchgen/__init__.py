"""torchgen's YAML: ``native_functions.yaml``, ``derivatives.yaml`` and the YAML of backends outside PyTorch."""
