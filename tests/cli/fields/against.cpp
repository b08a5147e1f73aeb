// Compared with the state of PyTorch: the same, different, not there, and not there under a condition.
#include <torch/library.h>

TORCH_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("mm", mm);
  m.impl("bmm", torch::CppFunction::makeFallthrough());
  m.impl("no_such_operator", f);
#ifdef WITH_DOT
  m.impl("no_such_dot", f);
#endif
}
