// The kernel that stands in every slot, and what it notes.

#pragma once

#include "notes.h"

#include <ATen/record_function.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace dispatch_cli {

using c10::DispatchKeySet;
using c10::KernelFunction;
using c10::OperatorHandle;

// One kernel that runs. called: not reached by a redispatch. continuations: kernels of the same operator that it
// reaches itself.
struct Node {
  const OperatorHandle* op;
  const std::string* slot;
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
  std::vector<std::string> slot_names;
  std::vector<std::string> key_names;
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
  add(out.emplace_back(), Quoted{*node.slot}, ',', node.keyset, ',', node.raised);
  for (const auto& next : node.continuations) {
    if (!next->called) return note_chain(out, *next);
  }
}

// The kernel in every slot.

class LoggingKernel final : public c10::OperatorKernel {
 public:
  LoggingKernel(KernelFunction original, const std::string* slot) : original_(std::move(original)), slot_(slot) {}

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
  const std::string* slot() const { return slot_; }

 private:
  KernelFunction original_;
  const std::string* slot_;
};

inline LoggingKernel* logging_kernel(const KernelFunction& entry) {
  return dynamic_cast<LoggingKernel*>(entry.boxed_kernel_func_.getFunctor());
}

}  // namespace dispatch_cli
