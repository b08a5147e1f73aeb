// A logging kernel in every slot of every operator's table in a live PyTorch.
//
// Each kernel notes the slot, the key set that it gets and how it was reached, and calls the kernel that was there
// before. Tables are written directly: a registration would displace other kernels. A registration writes an operator's
// table anew; its logging kernels are put back when the operator is called again. Kernels that were asked for by a key,
// as the Python dispatcher does, have that key in the place of the slot; it can be an alias key.
//
// The recorder of `dispatch-cli trace` asks for the kernels of each call when it has ended.

#pragma once

#include "notes.h"

#include <ATen/record_function.h>

#include <atomic>
#include <memory>
#include <mutex>

namespace dispatch_cli {

using c10::KernelFunction;
using c10::OperatorHandle;

// One kernel that runs. called: not reached by a redispatch. continuations: kernels of the same operator that it
// reaches itself.
struct Node {
  const OperatorHandle* op;
  const char* slot;
  uint64_t keyset;
  bool called;
  bool raised = false;
  std::vector<std::unique_ptr<Node>> continuations;
};

// Sees calls as their first kernels begin and end; the recorder needs none.
class CallObserver {
 public:
  virtual ~CallObserver() = default;
  // Returns what it wants to have at the end. announced: RecordFunction has seen the call.
  virtual std::string begins(const OperatorHandle& op, const c10::Stack& stack, bool redispatched, bool announced) = 0;
  virtual void ends(const std::string& kept, const Node& node) = 0;
};

constexpr size_t MOST_CALLS = 4;  // of the calls of an operator by one kernel of its own: a slice each, for example

struct Log {
  std::mutex mutex;
  std::atomic<bool> on{false};
  CallObserver* observer = nullptr;
  std::vector<KernelFunction> kept;  // every logging kernel, as long as the process lives: one may be running
};

inline Log& logged = *new Log;  // never destroyed: kernels of Python functions must not be at the end of the process

struct ThreadLog {
  Node* running = nullptr;
  std::optional<c10::OperatorName> announced;  // by RecordFunction, which sees calls and no redispatches
  const void* function = nullptr;              // the RecordFunction that announced it
  const void* ended = nullptr;                 // the one of the last call whose first kernel has ended
  std::vector<std::string> kernels;            // that ran in it
};

inline thread_local ThreadLog here;

// A kernel and those that it redispatches to in turn, as JSON. What it calls is a call of its own.
inline void note_chain(std::vector<std::string>& out, const Node& node) {
  add(out.emplace_back(), Quoted{node.slot}, ',', node.keyset, ',', node.raised);
  for (const auto& next : node.continuations) {
    if (!next->called) return note_chain(out, *next);
  }
}

// The keys of the slots, by their position.
inline const std::vector<c10::DispatchKey>& keys_of_slots() {
  static const auto keys = [] {
    std::vector<c10::DispatchKey> slots(c10::num_runtime_entries, c10::DispatchKey::Undefined);
    for (uint16_t number = 0; number <= static_cast<uint16_t>(c10::DispatchKey::EndOfRuntimeBackendKeys); ++number) {
      const auto key = static_cast<c10::DispatchKey>(number);
      const bool per_backend = key >= c10::DispatchKey::EndOfFunctionalityKeys;
      if (c10::isPerBackendFunctionalityKey(key)) continue;
      if (per_backend && c10::toBackendComponent(key) == c10::BackendComponent::InvalidBit) continue;
      const int index = c10::getDispatchTableIndexForDispatchKey(key);
      if (index > 0 && index < static_cast<int>(slots.size()) && slots[index] == c10::DispatchKey::Undefined) {
        slots[index] = key;
      }
    }
    return slots;
  }();
  return keys;
}

// The kernel in every slot.

class LoggingKernel final : public c10::OperatorKernel {
 public:
  LoggingKernel(KernelFunction original, const char* slot) : original_(std::move(original)), slot_(slot) {}

  void operator()(const OperatorHandle& op, DispatchKeySet keyset, c10::Stack* stack) {
    if (!logged.on) {
      original_.callBoxed(op, keyset, stack);
      return;
    }
    Node* parent = here.running;
    const bool same = parent != nullptr && *parent->op == op;
    const bool observed = op.operatorDef_->op.isObserved() && at::isRecordFunctionEnabled();
    const bool announced = here.announced.has_value() && *here.announced == op.operator_name();
    const bool called = observed ? announced : !same;
    here.announced.reset();
    auto node = std::make_unique<Node>(Node{&op, slot_, keyset.raw_repr(), called});
    const bool is_seen = logged.observer != nullptr && (called || !same);
    const std::string kept = is_seen ? logged.observer->begins(op, *stack, !called, announced) : "";
    const void* function = announced ? here.function : nullptr;
    const auto finish = [&] {
      here.running = parent;
      here.announced.reset();
      if (is_seen) logged.observer->ends(kept, *node);
      if (announced) {
        here.ended = function;
        here.kernels.clear();
        note_chain(here.kernels, *node);
      }
      if (same && (!node->called || parent->continuations.size() < MOST_CALLS)) {
        parent->continuations.push_back(std::move(node));
      }
    };
    here.running = node.get();
    try {
      original_.callBoxed(op, keyset, stack);
    } catch (...) {
      node->raised = true;
      finish();
      throw;
    }
    finish();
  }

  const KernelFunction& original() const { return original_; }
  const char* slot() const { return slot_; }

 private:
  KernelFunction original_;
  const char* slot_;
};

inline LoggingKernel* logging_kernel(const KernelFunction& entry) {
  return dynamic_cast<LoggingKernel*>(entry.boxed_kernel_func_.getFunctor());
}

// Puts a logging kernel in the place of a kernel, if there is one.
inline void log_kernel(KernelFunction& place, c10::DispatchKey key) {
  const char* slot = c10::toString(key);
  if (!place.boxed_kernel_func_.isValid() || place.isFallthrough()) return;
  const auto* logging = logging_kernel(place);
  if (logging != nullptr && logging->slot() == slot) return;
  const KernelFunction original = logging == nullptr ? place : logging->original();
  std::lock_guard<std::mutex> lock(logged.mutex);
  logged.kept.push_back(KernelFunction::makeFromBoxedFunctor(std::make_unique<LoggingKernel>(original, slot)));
  place = logged.kept.back();
}

// Does so in every slot of an operator, and with its registrations: the Python dispatcher calls the kernel of a key, not
// that of a slot.
inline void log_kernels(const OperatorHandle& op) {
  auto& entry = op.operatorDef_->op;
  for (size_t index = 0; index < entry.dispatchTable_.size(); ++index) {
    log_kernel(entry.dispatchTable_[index], keys_of_slots()[index]);
  }
  for (auto& [key, kernels] : entry.kernels_) {
    if (!kernels.empty()) log_kernel(kernels.front().kernel, key);
  }
}

inline void restore(KernelFunction& place) {
  if (const auto* logging = logging_kernel(place)) place = KernelFunction(logging->original());
}

// At the beginning of a call, before its kernel is read out of the table.
inline std::unique_ptr<at::ObserverContext> announce(const at::RecordFunction& function) {
  here.announced = function.operator_name();
  here.function = &function;
  if (logged.on && here.announced) {
    if (const auto op = c10::Dispatcher::singleton().findOp(*here.announced)) log_kernels(*op);
  }
  return nullptr;
}

}  // namespace dispatch_cli

using namespace dispatch_cli;

extern "C" {

// Puts a logging kernel into every slot that has a kernel.
void kernel_log_install() {
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const auto& name : dispatcher.getAllOpNames()) {
    const auto op = dispatcher.findOp(name);
    if (op && op->hasSchema()) log_kernels(*op);
  }
  for (size_t index = 0; index < keys_of_slots().size(); ++index) {
    log_kernel(dispatcher.backendFallbackKernels_[index].kernel, keys_of_slots()[index]);
  }
  at::addGlobalCallback(at::RecordFunctionCallback(announce).scopes({at::RecordScope::FUNCTION}));
}

// Kernels are noted from here on.
void kernel_log_start() { logged.on = true; }

// Puts the original kernels back.
void kernel_log_remove() {
  logged.on = false;
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const auto& name : dispatcher.getAllOpNames()) {
    const auto op = dispatcher.findOp(name);
    if (!op) continue;
    for (auto& place : op->operatorDef_->op.dispatchTable_) restore(place);
    for (auto& [key, kernels] : op->operatorDef_->op.kernels_) {
      for (auto& kernel : kernels) restore(kernel.kernel);
    }
  }
  for (auto& fallback : dispatcher.backendFallbackKernels_) restore(fallback.kernel);
}

}  // extern "C"
