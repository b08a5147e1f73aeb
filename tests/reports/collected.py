"""Reports from public issue trackers: what people pasted, and the cause that the thread found.

``texts/`` has what the programs printed, as it was pasted; directories of users before a package's name are left out.
Some end where the stored copy of the thread that they were read in ends. The causes are in our words.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

TEXTS = Path(__file__).with_name("texts")
GITHUB = "https://github.com"


class Collected(NamedTuple):
    """A report.

    name: of its text. address: of the thread. version: of PyTorch, where the report states it. cause: what the thread
    found, or what was changed to solve it. says: regular expressions; an answer that tells the cause has all of them.
    """

    name: str
    address: str
    version: str | None
    cause: str
    says: tuple[str, ...]

    @property
    def file(self) -> Path:
        """Where its text is."""
        return TEXTS / f"{self.name}.txt"


COLLECTED = (
    Collected(
        "torchvision_nms",
        f"{GITHUB}/ltdrdata/ComfyUI-Impact-Pack/issues/958",
        None,
        "A duplicate of issue 915 there: the installed torchvision does not fit torch; both have to be installed anew.",
        (
            "kernels of torchvision::nms at CPU",
            "tensor on CUDA",
            "without CUDA",
            "Install a build of the package for CUDA",
        ),
    ),
    Collected(
        "torchvision_nms_1_7",
        f"{GITHUB}/pytorch/vision/issues/3058",
        "1.7.0",
        "torchvision 0.8.0 with torch 1.7: try torchvision 0.8.1, whose build fits.",
        ("kernels of torchvision::nms at CPU only", "without CUDA", "the two versions must match"),
    ),
    Collected(
        "xformers_cutlass",
        f"{GITHUB}/AUTOMATIC1111/stable-diffusion-webui/issues/2073",
        None,
        "xformers was built without its CUDA kernels: build it with FORCE_CUDA=1 and TORCH_CUDA_ARCH_LIST.",
        ("no kernel of xformers::efficient_attention_forward_cutlass for any device", "not built", "build .* for CUDA"),
    ),
    Collected(
        "quantized_conv2d_1_4",
        f"{GITHUB}/pytorch/pytorch/issues/34583",
        None,
        "A tensor that is not quantized is passed to a kernel for quantized ones.",
        ("at QuantizedCPU only", "tensor on CPU", "Quantize the tensor", "older than the embedded"),
    ),
    Collected(
        "quantized_conv2d",
        f"{GITHUB}/pytorch/pytorch/issues/34583 (comment of 2023-08-28)",
        None,
        "The same, answered with the page about passing a tensor that is not quantized to a quantized kernel.",
        ("at QuantizedCPU and QuantizedCUDA only", "tensor on CPU", "Quantize the tensor"),
    ),
    Collected(
        "xla_sparse",
        f"{GITHUB}/pytorch/xla/issues/6853",
        "2.2",
        "The sparse keys of XLA exist, because they are generated; the sparse kernels were never implemented.",
        ("creates a sparse .* tensor on XLA", "nobody has written"),
    ),
    Collected(
        "xpu_sparse",
        f"{GITHUB}/intel/torch-xpu-ops/issues/120",
        None,
        "The XPU backend does not support sparse operators yet (issue 242 there); dlrm has sparse gradients.",
        ("creates a sparse .* tensor on XPU", "nobody has written", "sparse=False"),
    ),
    Collected(
        "cat_of_nothing",
        f"{GITHUB}/BinItAI/visdet/issues/552",
        None,
        "An image without objects: the list that is concatenated is empty.",
        ("a list of tensors was empty", "skip the call"),
    ),
    Collected(
        "item_of_meta",
        f"{GITHUB}/pytorch/pytorch/issues/119588",
        None,
        "The advice in the text is wrong: `.item()` of a meta tensor can not work, whatever is registered.",
        ("reads the data of a tensor", "cannot work"),
    ),
    Collected(
        "mps_roll",
        f"{GITHUB}/datalab-to/marker/issues/42",
        None,
        "An old PyTorch: the kernel came in a later one; the error was gone after an upgrade.",
        ("tensor on MPS", "newer PyTorch"),
    ),
    Collected(
        "mps_index_put",
        f"{GITHUB}/invoke-ai/InvokeAI/pull/232",
        None,
        "MPS has no kernel; PYTORCH_ENABLE_MPS_FALLBACK=1 in the environment lets the CPU run it.",
        ("tensor on MPS", "PYTORCH_ENABLE_MPS_FALLBACK=1 before torch is imported"),
    ),
    Collected(
        "vmap_diag",
        f"{GITHUB}/pytorch/functorch/issues/26",
        None,
        "No batching rule, which costs speed alone; rules were added later.",
        ("vmap has no rule for aten::diag", "result is right, but this is slow", "newer PyTorch"),
    ),
    Collected(
        "vmap_view_dtype",
        f"{GITHUB}/pytorch/pytorch/issues/180727",
        "2.13.0.dev20260417",
        "No batching rule for a view, which the fallback can not loop over.",
        ("vmap has no rule for aten::view.dtype", "cannot call it in a loop over the batch"),
    ),
    Collected(
        "sglang_all_gather",
        f"{GITHUB}/sgl-project/sglang/pull/6770",
        None,
        "The operator is registered for CUDA alone; on the CPU another way has to be taken.",
        ("at CUDA only", "tensor on CPU", "nobody has written .* for tensors on CPU"),
    ),
    Collected(
        "compile_transformer_encoder",
        f"{GITHUB}/pytorch/pytorch/issues/183841",
        "2.13.0a0",
        "No meta kernel for that operator; pull request 183916 adds one.",
        ("aten::_transformer_encoder_layer_fwd", "meta or fake tensor", "newer PyTorch"),
    ),
    Collected(
        "custom_op_without_fake",
        f"{GITHUB}/Lightning-AI/lightning-thunder/pull/2530",
        None,
        "The custom operator has no fake implementation: register_fake.",
        ("mynamespace::func .* no fake implementation", "register_fake"),
    ),
    Collected(
        "renamed_backend",
        f"{GITHUB}/flagos-ai/Torch-FL/issues/293",
        None,
        "The backend flagos (PrivateUse1) has dense kernels, and none for compressed sparse tensors.",
        ("SparseCsrPrivateUse1", "flagos", "kernels for dense tensors", "nobody has written"),
    ),
    Collected(
        "vllm_missing_op",
        f"{GITHUB}/vllm-project/vllm/issues/5454",
        None,
        "The compiled part of vllm is missing or stale: uninstall it and install it anew.",
        ("not defined", "compiled part of a package was not built, not found or failed to load"),
    ),
    Collected(
        "inference_tensor",
        f"{GITHUB}/lucidrains/denoising-diffusion-pytorch/issues/286",
        None,
        "A tensor of an inference_mode block is used in training; torch.no_grad in its place solved it.",
        ("inference mode", "no_grad"),
    ),
    Collected(
        "nested_flash_backward",
        f"{GITHUB}/pytorch/pytorch/issues/110669",
        None,
        "The backward of flash attention was not implemented for nested tensors in that version.",
        ("nested tensor on CUDA", "newer PyTorch"),
    ),
    Collected(
        "npu_fallback",
        f"{GITHUB}/opendatalab/MinerU/issues/1695",
        None,
        "It only says that these operators run on the CPU; the NPU is used for the others.",
        ("ran on the CPU", "You do not have to change anything"),
    ),
    Collected(
        "sparse_view_in_rust",
        f"{GITHUB}/LaurentMazare/tch-rs/issues/701",
        None,
        "The gradient is sparse, and sparse tensors have no `view`.",
        ("sparse .* tensor on CPU", "nobody has written aten::view for sparse", "to_dense"),
    ),
    Collected(
        "torchvision_roi_align",
        f"{GITHUB}/TencentARC/GFPGAN/issues/6",
        None,
        "The installed torchvision: it works with 0.8.2.",
        ("torchvision::roi_align at CPU only", "without CUDA", "Install a build of the package for CUDA"),
    ),
    Collected(
        "torchvision_nms_undefined",
        f"{GITHUB}/pytorch/torchtitan/pull/3002",
        "2.12.0.dev20260411",
        "torch was installed anew and torchvision was not: it was built against another torch.",
        ("torchvision::nms is not defined", "package was built for the installed PyTorch"),
    ),
    Collected(
        "torchvision_nms_1_2",
        f"{GITHUB}/pytorch/vision/issues/1405",
        None,
        "The compiled extensions of torchvision are not there: build and install it anew.",
        ("torchvision::nms is not defined", "compiled part of a package was not built"),
    ),
    Collected(
        "thnn_conv2d_1_4",
        f"{GITHUB}/pytorch/pytorch/issues/34613",
        "1.4",
        "A quantized tensor is passed to a kernel for tensors that are not.",
        ("at CPU only", "a quantized tensor on CPU", "Dequantize the tensor"),
    ),
    Collected(
        "xla_embedding_bag",
        f"{GITHUB}/pytorch/xla/issues/8719",
        None,
        "XLA has no sparse tensors, which `sparse=True` of EmbeddingBag makes as gradients.",
        ("creates a sparse .* tensor on XLA", "nobody has written", "sparse=False"),
    ),
    Collected(
        "fbgemm_symbol",
        f"{GITHUB}/pytorch/FBGEMM/issues/2715",
        "2.4.0",
        "The release of fbgemm_gpu is for torch 2.3; the nightly build is for newer ones.",
        ("needs torch::autograd::Node::name", "built for another version of PyTorch", "jagged_2d_to_dense"),
    ),
    Collected(
        "fbgemm_no_such_operator",
        f"{GITHUB}/pytorch/FBGEMM/issues/2191",
        None,
        "The installed fbgemm_gpu is for another CUDA: its library was not loaded. Installing it anew solved it.",
        ("fbgemm::jagged_2d_to_dense is not defined", "failed to load", "built for the installed PyTorch.* and CUDA"),
    ),
    Collected(
        "torchrec_symbol",
        f"{GITHUB}/meta-pytorch/torchrec/issues/551",
        None,
        "fbgemm_gpu and torch are of different versions.",
        ("needs torch::Library::_def", "built for another version of PyTorch"),
    ),
    Collected(
        "flash_attn_symbol",
        f"{GITHUB}/Dao-AILab/flash-attention/issues/784",
        "2.2.0a0",
        "The wheel was built for another nightly build of PyTorch than the one in the container.",
        ("needs at::_ops::sum_IntList_out::call", "build it again"),
    ),
    Collected(
        "featomic_namespace_twice",
        f"{GITHUB}/metatensor/metatensor/issues/871",
        None,
        "The extension is loaded while the Python module has loaded the same library already.",
        ("namespace featomic", "if they are the same, the shared library is loaded twice"),
    ),
    Collected(
        "libtorch_nms",
        f"{GITHUB}/zhiqwang/yolort/issues/153",
        None,
        "A C++ program that does not link libtorchvision: include torchvision/vision.h.",
        ("torchvision::nms is not defined", r"C\+\+ program: link .* libtorchvision", "torchvision/vision.h"),
    ),
    Collected(
        "attention_second_derivative",
        f"{GITHUB}/learnables/learn2learn/issues/429",
        None,
        "Second-order gradients of attention: first_order=True solved it.",
        ("second derivatives are not possible", "first-order variant"),
    ),
    Collected(
        "scaled_mm_derivative",
        f"{GITHUB}/pytorch/pytorch/issues/166729",
        "2.9",
        "The operator is not meant to be differentiable.",
        ("no derivative of aten::_scaled_mm", "with a backward of your own"),
    ),
    Collected(
        "privateuseone_module",
        f"{GITHUB}/pytorch/pytorch/issues/134293",
        "2.4",
        "The Python module of the backend has to be registered before functions of the device are called.",
        ("privateuseone has no Python module", "_register_device_module"),
    ),
    Collected(
        "slow_conv3d_mixed",
        f"{GITHUB}/snicolast/ComfyUI-Ovi/issues/10",
        None,
        "The tensors of the call are on two devices, the GPU and the CPU.",
        ("at CPU only", "Check that all tensors of the call, weights too, are on CUDA"),
    ),
    Collected(
        "meta_copy",
        f"{GITHUB}/InternLM/xtuner/issues/273",
        "2.0.0",
        "low_cpu_mem_usage=False, and no device_map.",
        ("data of a meta tensor", "`device_map` or `low_cpu_mem_usage`"),
    ),
    Collected(
        "half_conv_on_cpu",
        f"{GITHUB}/omriav/blended-diffusion/issues/14",
        None,
        "The installed PyTorch finds no GPU (torch.cuda.is_available() is False), so that all ran on the CPU.",
        ("no code for tensors of Half", "torch.cuda.is_available"),
    ),
    Collected(
        "backend_of_weight",
        f"{GITHUB}/toandaominh1997/EfficientDet.Pytorch/issues/8",
        None,
        "A convolution is made in forward, so that its weight is not moved to the GPU with the model.",
        ("on several devices", "layer that is created in `forward`"),
    ),
    Collected(
        "schemas_differ_1_4",
        f"{GITHUB}/pytorch/pytorch/issues/32549",
        None,
        "The schema is made from the function; it has to be given as it is, by schema(…).",
        ("types of the C.. kernel of aten::mv do not match its schema", "write the whole schema"),
    ),
    Collected(
        "xpu_not_implemented",
        f"{GITHUB}/intel/torch-xpu-ops/issues/3143",
        None,
        "XPU has no kernel of it.",
        ("for XPU devices", "tensor on XPU", "nobody has written", "PYTORCH_ENABLE_XPU_FALLBACK=1"),
    ),
)
