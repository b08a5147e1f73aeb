// The gradient of scaled::add, and what autocast does with the operators.

#include "registration.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>

namespace scaled {

class AddFunction : public torch::autograd::Function<AddFunction> {
 public:
  static at::Tensor forward(
      torch::autograd::AutogradContext* context,
      const at::Tensor& self,
      const at::Tensor& other,
      double scale) {
    context->saved_data["scale"] = scale;
    static auto add = c10::Dispatcher::singleton()
                          .findSchemaOrThrow("scaled::add", "")
                          .typed<at::Tensor(const at::Tensor&, const at::Tensor&, double)>();
    at::AutoDispatchBelowADInplaceOrView guard;
    return add.call(self, other, scale);
  }

  static torch::autograd::variable_list backward(
      torch::autograd::AutogradContext* context,
      torch::autograd::variable_list gradients) {
    const double scale = context->saved_data["scale"].toDouble();
    return {gradients[0], gradients[0].mul(scale), at::Tensor()};
  }
};

at::Tensor add_autograd(const at::Tensor& self, const at::Tensor& other, double scale) {
  return AddFunction::apply(self, other, scale);
}

TORCH_LIBRARY_IMPL(scaled, Autograd, m) {
  m.impl("add", add_autograd);
  m.impl("mul_", torch::autograd::autogradNotImplementedFallback());
}

TORCH_LIBRARY_IMPL(scaled, ADInplaceOrView, m) {
  m.impl("mul_", torch::autograd::autogradNotImplementedInplaceOrViewFallback());
}

// Autocast leaves the types of both operators as they are.
#define LEFT_AS_IT_IS(NAME) m.impl(NAME, torch::CppFunction::makeFallthrough());

TORCH_LIBRARY_IMPL(scaled, AutocastCPU, m) {
  for (const char* name : {"add", "mul_"}) {
    m.impl(name, torch::CppFunction::makeFallthrough());
  }
}

TORCH_LIBRARY_IMPL(scaled, Autocast, m) {
  LEFT_AS_IT_IS("add")
  LEFT_AS_IT_IS("mul_")
}

} // namespace scaled
