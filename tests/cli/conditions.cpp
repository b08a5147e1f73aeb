#include <torch/library.h>
TORCH_LIBRARY(mylib, m) {
  m.def("scale(Tensor x, float by) -> Tensor");
  m.def("sized", &sized);
#ifdef USE_ROCM
  m.impl("scale", torch::kCUDA, &scale_hip);
#else
  m.impl("scale", torch::kCUDA, &scale_cuda);
  m.impl("scale", c10::DispatchKey::Autograd, &scale_autograd);
#endif
#if CUDA_VERSION >= 12000
  m.impl("scale", torch::kCPU, &scale_cpu);
  m.def("scale(Tensor x) -> Tensor");
#endif
}
