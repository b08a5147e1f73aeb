// A logging kernel in every slot of every operator's table in a live PyTorch.
//
// Each kernel notes the slot, the key set that it gets and how it was reached, and calls the kernel that was there
// before. At a call it also notes the tensors' key sets and the state of the thread. Equal calls in the same context
// are counted, not repeated. Tables are written directly: a registration would displace other kernels.
//
// Built as a shared library with -fno-access-control (the tables are private) and -DNDEBUG (as PyTorch's wheels are).

#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/functorch/BatchedTensorImpl.h>
#include <ATen/functorch/DynamicLayer.h>
#include <ATen/functorch/TensorWrapper.h>
#include <ATen/record_function.h>
#include <c10/core/GeneratorImpl.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/PythonDispatcherTLS.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>

#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

using c10::DispatchKeySet;
using c10::IValue;
using c10::OperatorHandle;
using Slots = std::vector<std::pair<c10::KernelFunction*, c10::KernelFunction>>;

enum class Reached { CALL, REDISPATCH };

// One kernel that runs. continuations: kernels of the same operator that it reaches itself.
struct Node {
  const OperatorHandle* op;
  const std::string* slot;
  uint64_t keyset;
  Reached reached;
  bool raised = false;
  std::vector<std::unique_ptr<Node>> continuations;
};

constexpr size_t MOST_CALLS = 4;  // of the calls of an operator by one kernel of its own: a slice each, for example

struct Log {
  std::mutex mutex;
  std::string context;
  std::unordered_map<std::string, uint64_t> counts;
  std::atomic<bool> on{false};
};

Log logged;
Slots originals;
std::vector<c10::OperatorKernel*> installed;
std::vector<std::string> slot_names;
thread_local Node* running = nullptr;
thread_local std::optional<c10::OperatorName> announced;  // by RecordFunction, which sees calls and no redispatches

// Notes, as JSON.

const char* wrapper_of(const at::Tensor& tensor, at::Tensor& inner, std::optional<int64_t>& level) {
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

void note_tensor(std::ostream& out, const at::Tensor& tensor) {
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

bool is_tensor(const c10::Type& type) {
  if (const auto optional = type.cast<c10::OptionalType>()) return is_tensor(*optional->getElementType());
  return type.kind() == c10::TypeKind::TensorType;
}

// The tensors of an argument, in order, and generators; also what stands in the place of a tensor that is not there.
void note_value(std::ostream& out, const IValue& value, bool may_be_none, bool& first) {
  auto comma = [&] { out << (first ? "" : ","); first = false; };
  if (value.isNone()) {
    if (may_be_none) {
      comma();
      out << "[0,\"none\"]";
    }
  } else if (value.isTensor()) {
    comma();
    note_tensor(out, value.toTensor());
  } else if (value.isTensorList()) {
    for (const at::Tensor& one : value.toTensorVector()) {
      comma();
      note_tensor(out, one);
    }
  } else if (value.isList()) {
    for (const IValue& one : value.toListRef()) {
      if (one.isTensor()) note_value(out, one, false, first);
    }
  } else if (value.isGenerator() && value.toGenerator().defined()) {
    comma();
    out << "[" << value.toGenerator().key_set().raw_repr() << ",\"generator\"]";
  }
}

void note_keys(std::ostream& out, const DispatchKeySet& included, const DispatchKeySet& excluded) {
  out << "[" << included.raw_repr() << "," << excluded.raw_repr() << "]";
}

void note_layers(std::ostream& out) {
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

std::string note_call(const OperatorHandle& op, const c10::Stack& stack, Reached reached) {
  std::ostringstream out;
  const auto& schema = op.schema();
  const size_t count = schema.arguments().size();
  const auto arguments = torch::jit::last(stack, std::min(count, stack.size()));
  out << "\"operator\":\"" << op.operator_name() << "\",\"redispatched\":"
      << (reached == Reached::REDISPATCH ? "true" : "false") << ",\"tensors\":[";
  bool first = true;
  for (size_t i = 0; i < arguments.size(); ++i) {
    note_value(out, arguments[i], is_tensor(*schema.arguments()[i].type()), first);
  }
  out << "]";
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

void note_node(std::ostream& out, const Node& node) {
  out << "[\"" << *node.slot << "\"," << node.keyset << ",\""
      << (node.reached == Reached::CALL ? "call" : "redispatch") << "\"," << (node.raised ? "true" : "false") << ",[";
  bool first = true;
  for (const auto& next : node.continuations) {
    out << (first ? "" : ",");
    note_node(out, *next);
    first = false;
  }
  out << "]]";
}

// The kernel in every slot.

class LoggingKernel final : public c10::OperatorKernel {
 public:
  LoggingKernel(c10::KernelFunction original, const std::string* slot) : original_(std::move(original)), slot_(slot) {}

  void operator()(const OperatorHandle& op, DispatchKeySet keyset, c10::Stack* stack) {
    if (!logged.on) {
      original_.callBoxed(op, keyset, stack);
      return;
    }
    Node* parent = running;
    const bool same = parent != nullptr && *parent->op == op;
    const bool observed = op.operatorDef_->op.isObserved();
    const bool called = observed ? announced.has_value() && *announced == op.operator_name() : !same;
    announced.reset();
    auto node = std::make_unique<Node>(Node{&op, slot_, keyset.raw_repr(), called ? Reached::CALL : Reached::REDISPATCH});
    std::string call;
    if (called || !same) call = note_call(op, *stack, node->reached);
    running = node.get();
    try {
      original_.callBoxed(op, keyset, stack);
    } catch (...) {
      node->raised = true;
      finish(parent, same, std::move(node), call);
      throw;
    }
    finish(parent, same, std::move(node), call);
  }

 private:
  static void finish(Node* parent, bool same, std::unique_ptr<Node> node, const std::string& call) {
    running = parent;
    announced.reset();
    if (!call.empty()) {
      std::ostringstream out;
      out << call << ",\"kernels\":";
      note_node(out, *node);
      std::lock_guard<std::mutex> lock(logged.mutex);
      ++logged.counts["\"context\":\"" + logged.context + "\"," + out.str()];
    }
    if (same && (node->reached == Reached::REDISPATCH || parent->continuations.size() < MOST_CALLS)) {
      parent->continuations.push_back(std::move(node));
    }
  }

  c10::KernelFunction original_;
  const std::string* slot_;
};

std::unique_ptr<at::ObserverContext> announce(const at::RecordFunction& function) {
  announced = function.operator_name();
  return nullptr;
}

void name_slots() {
  slot_names.assign(c10::num_runtime_entries, "");
  for (uint16_t number = 0; number <= static_cast<uint16_t>(c10::DispatchKey::EndOfRuntimeBackendKeys); ++number) {
    const auto key = static_cast<c10::DispatchKey>(number);
    const std::string name = c10::toString(key);
    const bool per_backend = key > c10::DispatchKey::EndOfFunctionalityKeys;
    if (c10::isPerBackendFunctionalityKey(key)) continue;
    if (per_backend && c10::toBackendComponent(key) == c10::BackendComponent::InvalidBit) continue;
    const int index = c10::getDispatchTableIndexForDispatchKey(key);
    if (index >= 0 && index < static_cast<int>(slot_names.size()) && slot_names[index].empty()) {
      slot_names[index] = name;
    }
  }
}

}  // namespace

extern "C" {

// Puts a logging kernel into every slot that has a kernel; returns how many.
int64_t kernel_log_install() {
  name_slots();
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const auto& name : dispatcher.getAllOpNames()) {
    const auto op = dispatcher.findOp(name);
    if (!op || !op->hasSchema()) continue;
    auto& table = op->operatorDef_->op.dispatchTable_;
    for (size_t index = 0; index < table.size(); ++index) {
      auto& entry = table[index];
      if (!entry.boxed_kernel_func_.isValid() || entry.isFallthrough()) continue;
      originals.emplace_back(&entry, entry);
      auto logging = std::make_unique<LoggingKernel>(entry, &slot_names[index]);
      entry = c10::KernelFunction::makeFromBoxedFunctor(std::move(logging));
      installed.push_back(entry.boxed_kernel_func_.getFunctor());
    }
  }
  at::addGlobalCallback(at::RecordFunctionCallback(announce).scopes({at::RecordScope::FUNCTION}));
  return static_cast<int64_t>(originals.size());
}

// Puts the original kernels back, where no registration has changed the slot since.
void kernel_log_remove() {
  logged.on = false;
  for (size_t index = 0; index < originals.size(); ++index) {
    auto& [entry, original] = originals[index];
    if (entry->boxed_kernel_func_.getFunctor() == installed[index]) *entry = original;
  }
}

// Calls from here on are logged as of that context; none without a name.
void kernel_log_context(const char* name) {
  logged.context = name;
  announced.reset();
  logged.on = !logged.context.empty();
}

// Writes the calls, one a line, each with how often it was seen.
void kernel_log_write(const char* path) {
  std::ofstream out(path);
  std::lock_guard<std::mutex> lock(logged.mutex);
  for (const auto& [call, count] : logged.counts) out << "{" << call << ",\"count\":" << count << "}\n";
}

}  // extern "C"
