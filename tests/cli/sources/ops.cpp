#include <torch/library.h>

TORCH_LIBRARY(demo, m) {
  m.def("scale(Tensor x, float factor) -> Tensor");
  m.def("shift(Tensor x) -> Tensor");
  m.set_device("cuda");
}

TORCH_LIBRARY_IMPL(demo, CPU, m) {
  m.impl("scale", &scale_cpu);
  m.impl("shfit", &shift_cpu);
  m.impl("shift", key_of(build), &shift_other);
}

#ifdef WITH_CUDA
TORCH_LIBRARY_IMPL(demo, CUDA, m) {
  m.impl("scale", &scale_cuda);
}
#endif
