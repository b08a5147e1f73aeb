// The kernel that stands in every slot, and what it notes.

#pragma once

#include "notes.h"

#include <ATen/record_function.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <sstream>
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

// A call that is noted: its fields, and its place in the order of the thread.
struct Call {
  std::string fields;
  const void* function;
  uint64_t number, depth;
  bool announced, in_order;
};

constexpr size_t MOST_CALLS = 4;  // of the calls of an operator by one kernel of its own: a slice each, for example

struct Log {
  std::mutex mutex;
  std::string context;
  std::unordered_map<std::string, uint64_t> counts;
  std::atomic<bool> on{false};
  std::atomic<int> file{-1};
  std::vector<KernelFunction> kept;  // every logging kernel, as long as the process lives: one may be running
  std::vector<std::string> slot_names;
  std::vector<std::string> key_names;
};

inline Log& logged = *new Log;  // never destroyed: kernels of Python functions must not be at the end of the process
inline std::atomic<uint64_t> threads{0};

struct ThreadLog {
  Node* running = nullptr;
  std::optional<c10::OperatorName> announced;  // by RecordFunction, which sees calls and no redispatches
  const void* function = nullptr;              // the RecordFunction that announced it
  const void* ended = nullptr;                 // the one of the last call whose first kernel has ended
  std::string kernels;                         // that ran in it
  uint64_t thread = threads++, calls = 0, depth = 0;
};

inline thread_local ThreadLog here;

// Notes, as JSON.

inline void note_kernel(std::ostream& out, const Node& node) {
  out << "\"" << *node.slot << "\"," << node.keyset << ",\"" << (node.called ? "call" : "redispatch") << "\","
      << (node.raised ? "true" : "false");
}

inline void note_tree(std::ostream& out, const Node& node) {
  out << "[";
  note_kernel(out, node);
  out << ",[";
  bool first = true;
  for (const auto& next : node.continuations) {
    out << (first ? "" : ",");
    note_tree(out, *next);
    first = false;
  }
  out << "]]";
}

inline void note_lines(std::ostream& out, const Node& node, int depth) {
  out << depth << ",";
  note_kernel(out, node);
  out << "\n";
  for (const auto& next : node.continuations) note_lines(out, *next, depth + 1);
}

inline void write_call(const Call& call, const Node& node) {
  std::ostringstream out;
  if (call.in_order) {
    out << "{\"thread\":" << here.thread << ",\"number\":" << call.number << ",\"depth\":" << call.depth
        << ",\"announced\":" << (call.announced ? "true" : "false") << "," << call.fields << ",\"kernels\":";
    note_tree(out, node);
    out << "}\n";
    const auto line = out.str();  // written at once: other threads write, too
    const int file = logged.file;
    if (file >= 0 && write(file, line.data(), line.size()) < 0) logged.file = -1;
    return;
  }
  out << call.fields << ",\"kernels\":";
  note_tree(out, node);
  std::lock_guard<std::mutex> lock(logged.mutex);
  ++logged.counts["\"context\":\"" + logged.context + "\"," + out.str()];
}

// The fields of a call, without braces. in_full: with gradients and devices of its tensors.
inline std::string fields_of(const OperatorHandle& op, const c10::Stack& stack, bool redispatched, bool in_full) {
  const auto call = described(arguments_of(op.schema()), stack);
  std::string out = "\"operator\":";
  add_text(out, c10::toString(op.operator_name()));
  out += ",\"redispatched\":";
  add_flag(out, redispatched);
  return out + "," + call.decides + (in_full ? "," + call.more : "");
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
    const bool is_call = called || !same;
    Call call{"", here.function, here.calls, here.depth, announced, logged.file >= 0};
    if (is_call) {
      if (call.in_order || !logged.context.empty()) call.fields = fields_of(op, *stack, !called, call.in_order);
      ++here.calls;
      ++here.depth;
    }
    here.running = node.get();
    try {
      original_.callBoxed(op, keyset, stack);
    } catch (...) {
      node->raised = true;
      finish(parent, same, is_call, std::move(node), call);
      throw;
    }
    finish(parent, same, is_call, std::move(node), call);
  }

  const KernelFunction& original() const { return original_; }
  const std::string* slot() const { return slot_; }

 private:
  static void finish(Node* parent, bool same, bool is_call, std::unique_ptr<Node> node, const Call& call) {
    here.running = parent;
    here.announced.reset();
    if (is_call) --here.depth;
    if (!call.fields.empty()) write_call(call, *node);
    if (call.announced && logged.context.empty()) {
      std::ostringstream out;
      note_lines(out, *node, 0);
      here.ended = call.function;
      here.kernels = out.str();
    }
    if (same && (!node->called || parent->continuations.size() < MOST_CALLS)) {
      parent->continuations.push_back(std::move(node));
    }
  }

  KernelFunction original_;
  const std::string* slot_;
};

inline LoggingKernel* logging_kernel(const KernelFunction& entry) {
  return dynamic_cast<LoggingKernel*>(entry.boxed_kernel_func_.getFunctor());
}

}  // namespace dispatch_cli
