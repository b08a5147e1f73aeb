// The operators with their kernels for CPU and Meta.

#include "registration.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>

namespace scaled {

at::Tensor scaled_add(const at::Tensor& self, const at::Tensor& other, double scale) {
  return self.add(other, scale);
}

at::Tensor& scaled_mul_(at::Tensor& self, const at::Tensor& other) {
  return self.mul_(other);
}

at::Tensor scaled_add_meta(const at::Tensor& self, const at::Tensor& /*other*/, double /*scale*/) {
  return at::empty_like(self);
}

at::Tensor& scaled_mul_meta_(at::Tensor& self, const at::Tensor& /*other*/) {
  return self;
}

// Composite: it calls other operators, and has no kernels of its own.
at::Tensor twice(const at::Tensor& self) {
  return self.add(self);
}

int64_t version() {
  return 1;
}

at::Tensor offset(const at::Tensor& self) {
  return self.add(1);
}

SCALED_LIBRARY(SCALED_NAMESPACE, m) {
  m.def("add(Tensor self, Tensor other, *, float scale=1) -> Tensor");
  m.def("mul_(Tensor(a!) self, Tensor other) -> Tensor(a!)", {at::Tag::pt2_compliant_tag, at::Tag::inplace});
  m.def("twice(Tensor self) -> Tensor", twice); // a definition, and a kernel at CompositeImplicitAutograd
  m.def("version", &version); // the schema is that of the C++ function
#ifdef SCALED_WITH_OFFSET
  m.def("offset(Tensor self) -> Tensor");
  m.impl("offset", c10::DispatchKey::CompositeImplicitAutograd, offset);
#endif
}

SCALED_LIBRARY_IMPL(SCALED_NAMESPACE, CPU, m) {
  SCALED_KERNEL(add);
  SCALED_KERNEL(mul_);
}

TORCH_LIBRARY_IMPL(scaled, Meta, m) {
  m.impl("scaled::add", TORCH_FN(scaled_add_meta));
  m.impl("mul_", TORCH_FN(scaled_mul_meta_));
}

} // namespace scaled
