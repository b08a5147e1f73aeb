// What a call is, as JSON: the operator, the key sets of its tensors, and the state of the thread.

#pragma once

#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/functorch/BatchedTensorImpl.h>
#include <ATen/functorch/DynamicLayer.h>
#include <ATen/functorch/TensorWrapper.h>
#include <c10/core/GeneratorImpl.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/PythonDispatcherTLS.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>

#include <optional>
#include <sstream>
#include <string>

namespace kernel_log {

using c10::DispatchKeySet;
using c10::IValue;

inline const char* wrapper_of(const at::Tensor& tensor, at::Tensor& inner, std::optional<int64_t>& level) {
  if (auto* batched = at::functorch::maybeGetBatchedImpl(tensor)) {
    inner = batched->value();
    level = batched->level();
    return "batched";
  }
  if (auto* grad = at::functorch::maybeGetTensorWrapper(tensor)) {
    inner = grad->value();
    level = grad->level();
    return "grad-wrapped";
  }
  if (at::functionalization::impl::isFunctionalTensor(tensor)) {
    auto* functional = at::functionalization::impl::unsafeGetFunctionalWrapper(tensor);
    inner = functional->value();
    if (functional->level() >= 0) level = functional->level();
    return "functional";
  }
  return nullptr;
}

inline void note_tensor(std::ostream& out, const at::Tensor& tensor) {
  out << "[" << tensor.unsafeGetTensorImpl()->key_set().raw_repr() << (tensor.defined() ? "" : ",\"undefined\"");
  at::Tensor inner;
  std::optional<int64_t> level;
  if (const char* kind = tensor.defined() ? wrapper_of(tensor, inner, level) : nullptr) {
    out << ",\"" << kind << "\",";
    if (level) out << *level; else out << "null";
    out << ",";
    note_tensor(out, inner);
  }
  out << "]";
}

inline bool is_tensor(const c10::Type& type) {
  if (const auto optional = type.cast<c10::OptionalType>()) return is_tensor(*optional->getElementType());
  return type.kind() == c10::TypeKind::TensorType;
}

// The tensors of the arguments, in order, and generators; also what stands in the place of a tensor that is not there.
// requires_grad, devices: of each of them.
struct Tensors {
  std::ostringstream keys, requires_grad, devices;
  bool first = true;

  void add(const IValue& value, bool may_be_none) {
    if (value.isNone()) {
      if (may_be_none) add("[0,\"none\"]");
    } else if (value.isTensor()) {
      add(value.toTensor());
    } else if (value.isTensorList()) {
      for (const at::Tensor& one : value.toTensorVector()) add(one);
    } else if (value.isList()) {
      for (const IValue& one : value.toListRef()) {
        if (one.isTensor()) add(one.toTensor());
      }
    } else if (value.isGenerator() && value.toGenerator().defined()) {
      add("[" + std::to_string(value.toGenerator().key_set().raw_repr()) + ",\"generator\"]");
    }
  }

 private:
  void comma() {
    if (!first) {
      for (auto* out : {&keys, &requires_grad, &devices}) *out << ",";
    }
    first = false;
  }

  void add(const at::Tensor& tensor) {
    comma();
    note_tensor(keys, tensor);
    const auto device = tensor.unsafeGetTensorImpl()->device_opt_;
    requires_grad << (tensor.defined() && tensor.requires_grad() ? "true" : "false");
    if (device) devices << "\"" << device->str() << "\""; else devices << "null";
  }

  void add(const std::string& text) {
    comma();
    keys << text;
    requires_grad << "false";
    devices << "null";
  }
};

inline void note_keys(std::ostream& out, DispatchKeySet included, DispatchKeySet excluded) {
  out << "[" << included.raw_repr() << "," << excluded.raw_repr() << "]";
}

inline void note_layers(std::ostream& out) {
  static const char* kinds[] = {"torch", "vmap", "grad", "jvp", "functionalize"};
  bool first = true;
  for (const auto& layer : at::functorch::getDynamicLayerStack()) {
    out << (first ? "" : ",") << "[\"" << kinds[static_cast<int>(layer.key())] << "\"," << layer.layerId() << ",";
    first = false;
    const auto& saved = layer.interpreter().savedLocalDispatchKeySet_;
    if (saved) note_keys(out, saved->included_, saved->excluded_); else out << "null";
    out << "]";
  }
}

// The fields of a call, without braces. in_full: with gradients and devices of its tensors.
inline std::string note_call(const c10::OperatorHandle& op, const c10::Stack& stack, bool redispatched, bool in_full) {
  std::ostringstream out;
  const auto& schema = op.schema();
  const size_t count = schema.arguments().size();
  const auto arguments = torch::jit::last(stack, std::min(count, stack.size()));
  Tensors tensors;
  for (size_t i = 0; i < arguments.size(); ++i) tensors.add(arguments[i], is_tensor(*schema.arguments()[i].type()));
  out << "\"operator\":\"" << op.operator_name() << "\",\"redispatched\":" << (redispatched ? "true" : "false")
      << ",\"tensors\":[" << tensors.keys.str() << "]";
  if (in_full) {
    out << ",\"requires_grad\":[" << tensors.requires_grad.str() << "],\"devices\":[" << tensors.devices.str()
        << "],\"grad_mode\":" << (c10::GradMode::is_enabled() ? "true" : "false");
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].isDevice()) {
      out << ",\"device\":\"" << c10::DeviceTypeName(arguments[i].toDevice().type(), true) << "\"";
      break;
    }
  }
  for (const char* name : {"layout", "dtype"}) {
    const auto index = schema.argumentIndexWithName(name);
    if (index && static_cast<size_t>(*index) < arguments.size() && arguments[*index].isInt()) {
      out << ",\"" << name << "\":" << arguments[*index].toInt();
    }
  }
  const auto keys = c10::impl::tls_local_dispatch_key_set();
  out << ",\"keys\":";
  note_keys(out, keys.included_, keys.excluded_);
  out << ",\"inference\":" << (c10::InferenceMode::is_enabled() ? "true" : "false") << ",\"modes\":"
      << c10::impl::TorchDispatchModeTLS::stack_len() << ",\"python_dispatcher\":"
      << (c10::impl::PythonDispatcherTLS::get_state() ? "true" : "false") << ",\"layers\":[";
  note_layers(out);
  out << "]";
  return out.str();
}

}  // namespace kernel_log
