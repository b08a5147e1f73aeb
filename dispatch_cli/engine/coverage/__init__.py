"""The kernels that serve each operator on one backend: its own kernel, a composite one, a fallback, or nothing."""
