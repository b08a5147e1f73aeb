"""Macros: how one is expanded, with ``#`` and ``##``, and those of PyTorch.

Macros of PyTorch's own headers that begin registration blocks, or hold registrations, are data here, for projects that
use them without having the headers: of torch/library.h, torch/csrc/stable/library.h and
ATen/autocast_mode.h of PyTorch 2.13, four of ATen/functorch/BatchRulesHelper.h, and some that only older versions have
(``KERNEL_CPU2``). With ``-I`` the headers of another version are read instead. Only what they register is here; how
their kernels are made is not. ``…_EXPAND`` are of registration.h, which kernel-builder adds to a project when it builds
it. A name that begins with ``@`` is a macro of this list alone; C++ has no such names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dispatch_cli.extract.cpp.preprocessor.sourcefile import Macro, read_macro
from dispatch_cli.extract.cpp.preprocessor.tokens import CppToken, tokens_of
from dispatch_cli.extract.work import WorkBudget

Expand = Callable[[list[CppToken]], list[CppToken]]


def defined_as(name: str, value: str) -> Macro:
    """The macro that ``-D NAME=VALUE`` defines; *name* may have parameters."""
    macro = read_macro(tokens_of(f"{name} {value}", "<command line>"))
    return macro or Macro(name, None, False, ())


def substituted(macro: Macro, arguments: list[list[CppToken]], expand: Expand, work: WorkBudget) -> list[CppToken]:
    """The body with the arguments in place of the parameters. expand: replaces all macros of an argument.

    work: the tokens and characters that are made are counted in it. Errors: OverWork.
    """
    parameters = {name: index for index, name in enumerate(macro.parameters or ())}
    expanded: dict[int, list[CppToken]] = {}

    def argument(index: int) -> list[CppToken]:
        if index not in expanded:
            expanded[index] = expand(list(arguments[index]))
        return expanded[index]

    body = macro.body
    result: list[CppToken] = []
    index = 0
    function_like = macro.parameters is not None
    rest = macro.parameters[-1] if macro.parameters and macro.variadic else None
    while index < len(body):
        token = body[index]
        following = body[index + 1] if index + 1 < len(body) else None
        pasted_left = index > 0 and body[index - 1].text == "##" and bool(result)
        index += 1
        part: list[CppToken]
        if function_like and token.text == "#" and following is not None and following.text in parameters:
            part = [token._replace(kind="string", text=_stringized(arguments[parameters[following.text]], work))]
            index += 1
        elif token.text == "##" and result and following is not None:
            continue
        elif token.text in parameters:
            number = parameters[token.text]
            next_paste = index < len(body) and body[index].text == "##"
            part = list(arguments[number] if pasted_left or next_paste else argument(number))
            if part:
                part[0] = part[0]._replace(space=token.space)
            else:
                part = [token._replace(kind="placemarker", text="")]
        else:
            part = [token]
        work.spend(len(part))
        if pasted_left and not (token.text == rest and result[-1].text == ","):
            result[-1:] = _pasted(result[-1], part[0], work)
            result.extend(part[1:])
        elif pasted_left and part[0].kind == "placemarker":
            result.pop()  # GNU: ``, ## __VA_ARGS__`` drops the comma before nothing
        else:
            result.extend(part)
    return [token for token in result if token.kind != "placemarker"]


def _pasted(left: CppToken, right: CppToken, work: WorkBudget) -> list[CppToken]:
    if left.kind == "placemarker":
        return [right._replace(space=left.space)]
    if right.kind == "placemarker":
        return [left]
    work.make(len(left.text) + len(right.text))
    tokens = tokens_of(left.text + right.text)
    hide = left.hide & right.hide
    return [
        left._replace(kind=token.kind, text=token.text, hide=hide, space=left.space if index == 0 else token.space)
        for index, token in enumerate(tokens)
    ]


def _stringized(argument: list[CppToken], work: WorkBudget) -> str:
    parts: list[str] = []
    work.make(sum(len(token.text) for token in argument))
    for token in argument:
        text = token.text
        if token.kind in ("string", "raw", "character"):
            text = text.replace("\\", "\\\\").replace('"', '\\"')
        parts.append(f" {text}" if token.space and parts else text)
    return '"' + "".join(parts).replace("\n", "\\n") + '"'


_DEVICES = {
    **{device: device for device in ("CPU", "CUDA", "MTIA", "MAIA", "XPU", "MPS")},
    "PRIVATEUSEONE": "PrivateUse1",
}
_LISTS = {
    "AT_FORALL_LOWER_PRECISION_FP": (
        "_convolution.deprecated _convolution conv1d conv2d conv3d conv_tbc conv_transpose1d "
        "conv_transpose2d.input conv_transpose3d.input convolution prelu addmm addmv addr matmul einsum mm mv "
        "linalg_vecdot linear addbmm baddbmm bmm chain_matmul linalg_multi_dot _thnn_fused_lstm_cell "
        "_thnn_fused_gru_cell lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell "
        "_scaled_dot_product_flash_attention scaled_dot_product_attention"
    ),
    "AT_FORALL_FP32": (
        "acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan pow.Tensor_Scalar "
        "pow.Tensor_Tensor pow.Scalar softplus layer_norm native_layer_norm rms_norm group_norm "
        "frobenius_norm.dim nuclear_norm nuclear_norm.dim cosine_similarity poisson_nll_loss "
        "cosine_embedding_loss nll_loss nll_loss2d hinge_embedding_loss kl_div l1_loss smooth_l1_loss "
        "huber_loss mse_loss margin_ranking_loss multilabel_margin_loss soft_margin_loss triplet_margin_loss "
        "multi_margin_loss binary_cross_entropy_with_logits dist pdist cdist renorm logsumexp "
        "upsample_nearest1d _upsample_nearest_exact1d upsample_nearest2d _upsample_nearest_exact2d "
        "upsample_nearest3d _upsample_nearest_exact3d upsample_linear1d upsample_bilinear2d "
        "_upsample_bilinear2d_aa upsample_trilinear3d upsample_bicubic2d _upsample_bicubic2d_aa"
    ),
    "AT_FORALL_FP32_SET_OPT_DTYPE": (
        "prod prod.dim_int softmax.int log_softmax.int cumprod cumsum linalg_vector_norm linalg_matrix_norm "
        "linalg_matrix_norm.str_ord sum sum.dim_IntList"
    ),
    "AT_FORALL_PROMOTE": ("addcdiv addcmul atan2 bilinear cross dot vdot grid_sampler index_put tensordot scatter_add"),
}
"""Macros that use another one for each operator: ``name`` or ``name.overload``."""
_PLAIN = """
TORCH_LIBRARY_EXPAND(ns, m) TORCH_LIBRARY(ns, m)
TORCH_LIBRARY_FRAGMENT_EXPAND(ns, m) TORCH_LIBRARY_FRAGMENT(ns, m)
TORCH_LIBRARY_IMPL_EXPAND(ns, k, m) TORCH_LIBRARY_IMPL(ns, k, m)
STABLE_TORCH_LIBRARY_EXPAND(ns, m) STABLE_TORCH_LIBRARY(ns, m)
STABLE_TORCH_LIBRARY_FRAGMENT_EXPAND(ns, m) STABLE_TORCH_LIBRARY_FRAGMENT(ns, m)
STABLE_TORCH_LIBRARY_IMPL_EXPAND(ns, k, m) STABLE_TORCH_LIBRARY_IMPL(ns, k, m)
SINGLE_ARG(...) __VA_ARGS__
ADD_NS(op) at::op
C10_EXPAND_MSVC_WORKAROUND(...) __VA_ARGS__
C10_STRINGIZE_IMPL(x) #x
C10_STRINGIZE(x) C10_STRINGIZE_IMPL(x)
C10_CONCATENATE_IMPL(s1, s2) s1##s2
C10_CONCATENATE(s1, s2) C10_CONCATENATE_IMPL(s1, s2)
KERNEL1(device, op, policy) m.impl("aten::" #op, &at::autocast::WrapFunction<policy, device, at::op>::type::call);
KERNEL2(device, op, overload, policy) \
    m.impl("aten::" #op "." #overload, &at::autocast::WrapFunction<policy, device, at::op, overload>::type::call);
@KERNEL_OF(one, two, three, which, ...) which
KERNEL(device, ...) C10_CONCATENATE(KERNEL, @KERNEL_OF(__VA_ARGS__, 2, 1))(device, __VA_ARGS__)
KERNEL_DIFFERENT_REDISPATCH_SIGNATURE(device, function, name, outer, inner, policy) \
    m.impl("aten::" name, &at::autocast::WrapFunction<policy, device, function>::type::call);
AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE(_) \
    _(at::norm, "norm.Scalar", , , fp32_append_dtype) _(at::norm, "norm.ScalarOpt_dim", , , fp32_append_dtype)
VMAP_SUPPORT(op, rule) m.impl(#op, op##_generated_plumbing<rule>);
VMAP_SUPPORT2(op, overload, rule) m.impl(#op "." #overload, op##_##overload##_generated_plumbing<rule>);
OP_DECOMPOSE(op) m.impl(#op, at::native::op);
OP_DECOMPOSE2(op, overload) m.impl(#op "." #overload, at::native::op);
"""
_BLOCKS = ("TORCH_LIBRARY", "TORCH_LIBRARY_FRAGMENT", "TORCH_LIBRARY_IMPL")
RESERVED = frozenset(
    {f"{prefix}{name}" for prefix in ("", "_", "STABLE_", "_STABLE_") for name in _BLOCKS}
    | {"MAKE_TORCH_LIBRARY", "MAKE_TORCH_LIBRARY_IMPL"}
    | {"TORCH_SELECTIVE_NAME", "TORCH_SELECTIVE_SCHEMA", "TORCH_FN", "TORCH_BOX", "ATEN_FN", "ATEN_FN2"}
)
"""PyTorch's own macros that stay as they are, whatever the sources define: what they stand for is known."""


def known_macros() -> Iterator[str]:
    """The macros, each as what is behind ``#define``."""
    yield from _PLAIN.replace("\\\n", "").strip().splitlines()
    for name, device in _DEVICES.items():
        yield f"KERNEL_{name}(...) KERNEL(c10::DeviceType::{device}, __VA_ARGS__)"
        yield f"KERNEL_{name}2(op, overload, policy) KERNEL2(c10::DeviceType::{device}, op, overload, policy)"
        yield (
            f"KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_{name}(...) "
            f"KERNEL_DIFFERENT_REDISPATCH_SIGNATURE(c10::DeviceType::{device}, __VA_ARGS__)"
        )
    for name, operators in _LISTS.items():
        uses = " ".join(f"_({operator.replace('.', ', ')})" for operator in operators.split())
        yield f"{name}(_) {uses}"


_MACROS = (read_macro(tokens_of(line, "<PyTorch>")) for line in known_macros())
KNOWN: dict[str, Macro] = {macro.name: macro for macro in _MACROS if macro is not None}
"""Replacements of macros that the sources do not define."""
