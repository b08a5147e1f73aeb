// What a call is, as JSON: the operator, the key sets of its tensors, and the state of the thread.

#pragma once

#include <torch/csrc/utils/pythoncapi_compat.h>

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

#include <charconv>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace dispatch_cli {

using c10::DispatchKeySet;
using c10::IValue;

// Python's lock, for a thread that Python knows; others do not get it: they could wait for one that waits for them.
class PythonLock {
 public:
  PythonLock() : held_(PyGILState_GetThisThreadState() != nullptr) {
    if (held_) state_ = PyGILState_Ensure();
  }
  ~PythonLock() {
    if (held_) PyGILState_Release(state_);
  }
  PythonLock(const PythonLock&) = delete;
  PythonLock& operator=(const PythonLock&) = delete;
  explicit operator bool() const { return held_; }

 private:
  bool held_;
  PyGILState_STATE state_{};
};

// JSON.

// A text that is written in quotes.
struct Quoted {
  std::string_view text;
};

// Appends parts: numbers, flags, quoted texts; others as they are.
template <class... Parts>
void add(std::string& out, const Parts&... parts) {
  const auto add_part = [&](const auto& part) {
    using Part = std::decay_t<decltype(part)>;
    if constexpr (std::is_same_v<Part, bool>) {
      out += part ? "true" : "false";
    } else if constexpr (std::is_integral_v<Part> && !std::is_same_v<Part, char>) {
      char digits[24];
      out.append(digits, std::to_chars(digits, digits + sizeof digits, part).ptr);
    } else if constexpr (std::is_same_v<Part, Quoted>) {
      out += '"';
      for (const char letter : part.text) {
        const char* digits = "0123456789abcdef";
        if (letter == '"' || letter == '\\') {
          (out += '\\') += letter;
        } else if (static_cast<unsigned char>(letter) < 0x20) {
          ((out += "\\u00") += digits[letter >> 4]) += digits[letter & 15];
        } else {
          out += letter;
        }
      }
      out += '"';
    } else {
      out += part;
    }
  };
  (add_part(parts), ...);
}

// Tensors.

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

inline void add_tensor(std::string& out, const at::Tensor& tensor) {
  add(out, '[', tensor.unsafeGetTensorImpl()->key_set().raw_repr());
  at::Tensor inner;
  std::optional<int64_t> level;
  if (!tensor.defined()) {
    out += ",\"undefined\"";
  } else if (const char* kind = wrapper_of(tensor, inner, level)) {
    add(out, ",\"", kind, "\",");
    if (level) add(out, *level); else out += "null";
    out += ',';
    add_tensor(out, inner);
  }
  out += ']';
}

// The name of a thing's class. Its metaclass is not asked: that could be any code.
inline void add_class(std::string& out, PyObject* thing) {
  const std::string_view name = Py_TYPE(thing)->tp_name;
  add(out, Quoted{name.substr(name.rfind('.') + 1)});
}

// Python's object for a tensor, in whichever way this version of PyTorch keeps it.
template <class Slot>
PyObject* object_of(const Slot& slot) {
  if constexpr (requires { slot.load_pyobj(); }) {
    return slot.load_pyobj();
  } else {
    return slot._unchecked_untagged_pyobj();
  }
}

// What an argument can be. tensor: one that may be left out.
struct Argument {
  bool tensor, layout, dtype;
  bool operator==(const Argument&) const = default;
};

inline std::vector<Argument> arguments_of(const c10::FunctionSchema& schema) {
  std::vector<Argument> result;
  for (const auto& argument : schema.arguments()) {
    const c10::Type* type = argument.type().get();
    if (type->kind() == c10::TypeKind::OptionalType) type = type->containedType(0).get();
    const bool is_tensor = type->kind() == c10::TypeKind::TensorType;
    result.push_back({is_tensor, argument.name() == "layout", argument.name() == "dtype"});
  }
  return result;
}

// The tensors of the arguments, in order, and generators; also what stands in the place of a tensor that is not there.
// Of a list, the first tensor of each kind. requires_grad, devices, subclasses: of each of them but the generators.
struct Tensors {
  std::string keys, requires_grad, devices, subclasses;

  void add(const IValue& value, bool may_be_none) {
    if (value.isNone()) {
      if (may_be_none) add_tensor("[0,\"none\"]", false, "null", "null");
    } else if (value.isTensor()) {
      add(value.toTensor());
    } else if (value.isList()) {
      std::set<std::string> kinds;
      for (const IValue& element : value.toListRef()) {
        if (element.isTensor()) add(element.toTensor(), &kinds);
      }
    } else if (value.isGenerator() && value.toGenerator().defined()) {
      append(keys, '[', value.toGenerator().key_set().raw_repr(), ",\"generator\"]");
    }
  }

 private:
  template <class... Parts>
  static void append(std::string& list, const Parts&... parts) {
    dispatch_cli::add(list, list.empty() ? "" : ",", parts...);
  }

  void add_tensor(std::string_view tensor, bool requires_gradient, std::string_view device, std::string_view subclass) {
    append(keys, tensor);
    append(requires_grad, requires_gradient);
    append(devices, device);
    append(subclasses, subclass);
  }

  // kinds: the tensors of a list so far.
  void add(const at::Tensor& tensor, std::set<std::string>* kinds = nullptr) {
    const auto* impl = tensor.unsafeGetTensorImpl();
    std::string text, device, subclass;
    dispatch_cli::add_tensor(text, tensor);
    if (impl->device_opt_) dispatch_cli::add(device, Quoted{impl->device_opt_->str()});
    if (impl->key_set().has(c10::DispatchKey::Python)) {
      const PythonLock lock;
      PyObject* object = lock ? object_of(*impl->pyobj_slot()) : nullptr;
      if (object != nullptr) add_class(subclass, object);
    }
    const bool requires_gradient = tensor.defined() && tensor.requires_grad();
    const auto kind = [&] { return text + device + subclass + (requires_gradient ? "!" : ""); };
    if (kinds != nullptr && !kinds->insert(kind()).second) return;
    add_tensor(text, requires_gradient, device.empty() ? "null" : device, subclass.empty() ? "null" : subclass);
  }
};

// The thread.

inline void add_keys(std::string& out, DispatchKeySet included, DispatchKeySet excluded) {
  add(out, '[', included.raw_repr(), ',', excluded.raw_repr(), ']');
}

inline void add_layers(std::string& out) {
  static const char* kinds[] = {"torch", "vmap", "grad", "jvp", "functionalize"};
  const char* comma = "";
  for (const auto& layer : at::functorch::getDynamicLayerStack()) {
    add(out, comma, "[\"", kinds[static_cast<int>(layer.key())], "\",", layer.layerId(), ',');
    const auto& saved = layer.interpreter().savedLocalDispatchKeySet_;
    if (saved) add_keys(out, saved->included_, saved->excluded_); else out += "null";
    out += ']';
    comma = ",";
  }
}

// The classes of the modes of __torch_dispatch__, innermost last.
inline void add_modes(std::string& out) {
  const auto count = c10::impl::TorchDispatchModeTLS::stack_len();
  if (count == 0) return;
  const PythonLock lock;
  for (int64_t at = 0; at < count; ++at) {
    if (at > 0) out += ',';
    if (lock) add_class(out, c10::impl::TorchDispatchModeTLS::get_stack_at(at)->data_); else out += "\"\"";
  }
}

// The fields of a call, without braces. decides: those by which kernels are chosen. more: the others.
struct Described {
  std::string decides, more;
};

// stack: of values, an array or a vector; it ends with the arguments.
template <class Stack>
Described described(const std::vector<Argument>& kinds, const Stack& stack) {
  const size_t count = std::min(kinds.size(), stack.size());
  const c10::ArrayRef<IValue> arguments(stack.data() + stack.size() - count, count);
  Tensors tensors;
  std::string options;
  bool has_device = false;
  for (size_t at = 0; at < arguments.size(); ++at) {
    const auto& [kind, value] = std::tie(kinds[at], arguments[at]);
    tensors.add(value, kind.tensor);
    if (!has_device && value.isDevice()) {
      has_device = true;
      add(options, ",\"device\":\"", c10::DeviceTypeName(value.toDevice().type(), true), '"');
    }
    if ((kind.layout || kind.dtype) && value.isInt()) {
      add(options, kind.layout ? ",\"layout\":" : ",\"dtype\":", value.toInt());
    }
  }
  Described call;
  auto& out = call.decides;
  out.reserve(256);
  add(out, "\"tensors\":[", tensors.keys, ']', options, ",\"keys\":");
  const auto keys = c10::impl::tls_local_dispatch_key_set();
  add_keys(out, keys.included_, keys.excluded_);
  add(out, ",\"inference\":", c10::InferenceMode::is_enabled(), ",\"modes\":[");
  add_modes(out);
  const bool python_dispatcher = c10::impl::PythonDispatcherTLS::get_state() != nullptr;
  add(out, "],\"python_dispatcher\":", python_dispatcher, ",\"layers\":[");
  add_layers(out);
  out += ']';
  add(call.more, "\"grad_mode\":", c10::GradMode::is_enabled(), ",\"requires_grad\":[", tensors.requires_grad);
  add(call.more, "],\"devices\":[", tensors.devices, "],\"subclasses\":[", tensors.subclasses, ']');
  return call;
}

}  // namespace dispatch_cli
