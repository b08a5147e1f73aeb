// A backend outside of PyTorch, with three mistakes that no compiler and no import reports.
#include <torch/library.h>

at::Tensor softmax(const at::Tensor& self, int64_t dim, bool half_to_float);
at::Tensor lerp(const at::Tensor& self, const at::Tensor& end, const at::Tensor& weight);
void store_block(const at::Tensor& block, at::Tensor& cache, int64_t index);
void store_block_meta(const at::Tensor& block, at::Tensor& cache, int64_t index);

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("softmax", &softmax);  // PyTorch has softmax.int and _softmax, and nothing that is called softmax
  m.impl("lerp.Tensor", &lerp);  // x.lerp_(…) needs a kernel of lerp.Tensor_out
}

TORCH_LIBRARY(tiny, m) {
  m.def("store_block(Tensor block, Tensor(a!) cache, int index) -> ()");
  m.impl("store_block", torch::kPrivateUse1, &store_block);
}

TORCH_LIBRARY_IMPL(tiny, Meta, m) {
  m.impl("store_blocks", &store_block_meta);  // so store_block itself has no kernel at Meta
}
