"""Arguments of a call beside its tensors that count for dispatch: the options of a factory, and a generator."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.model.calls.call import LAYOUTS, MAX_TEXT, CallError, Layout, device_type
from dispatch_cli.model.schema.types import DTYPES, OTHER_NAMES
from dispatch_cli.model.text.suggest import suggestion

QUANTIZED = frozenset({"qint8", "quint8", "qint32", "quint4x2", "quint2x4"})
"""``isQIntType``: those whose strided tensors have a Quantized key."""
DEFAULT = "float32"
"""Default dtype with which PyTorch starts; ``torch.set_default_dtype`` takes no quantized one."""
_PREFIX = "torch."
BOXED = "boxed"
"""Word for a call through ``torch.ops``, or of a boxed kernel."""
LAYOUT_NUMBERS = (
    Layout.STRIDED,
    Layout.SPARSE,
    Layout.SPARSE_CSR,
    Layout.MKLDNN,
    Layout.SPARSE_CSC,
    Layout.SPARSE_BSR,
    Layout.SPARSE_BSC,
    Layout.JAGGED,
)
"""In the order of ``c10::Layout``, whose numbers are the default values in schemas."""


class Options(NamedTuple):
    """Arguments that are not tensors, as they are written; None for one that is not given.

    device: such as ``cuda:0``. layout: such as ``sparse`` or ``torch.sparse_coo``. dtype: such as ``qint8``.
    generator: the device of a ``torch.Generator``, and ``boxed`` where the call is boxed.
    """

    device: str | None = None
    layout: str | None = None
    dtype: str | None = None
    generator: str | None = None

    @property
    def given(self) -> tuple[tuple[str, str], ...]:
        """Each that is given, by its name."""
        return tuple((name, text) for name, text in zip(self._fields, self, strict=True) if text is not None)

    def __str__(self) -> str:
        return ", ".join(f"{name} {text}" for name, text in self.given)


NO_OPTIONS = Options()


def layout_named(text: str) -> Layout:
    """The layout of that name, with or without ``torch.``. Errors: CallError."""
    word = text.removeprefix(_PREFIX)
    if word not in LAYOUTS:
        known = ", ".join(layout.value for layout in Layout)
        raise CallError(f"there is no such layout (there are {known})", text[:MAX_TEXT], suggestion(word, [*LAYOUTS]))
    return LAYOUTS[word]


def dtype_named(text: str) -> str:
    """The dtype of that name, with or without ``torch.``. Errors: CallError."""
    word = text.removeprefix(_PREFIX)
    word = OTHER_NAMES.get(word, word)
    if word not in DTYPES:
        hint = suggestion(word, [*DTYPES, *OTHER_NAMES]) or "such as float32 or qint8"
        raise CallError("there is no such dtype", text[:MAX_TEXT], hint)
    return word


def generator_named(text: str) -> tuple[str, bool]:
    """The device of a generator, and whether the call is boxed: ``cpu``, ``cpu boxed``. Errors: CallError."""
    device, _, rest = text.strip().partition(" ")
    if rest.strip() not in ("", BOXED):
        hint = "such as `cpu`, or `cpu boxed` for a call through torch.ops"
        raise CallError("a generator is a device, optionally followed by the word boxed", text[:MAX_TEXT], hint)
    device_type(device)
    return device, bool(rest)
