// The recorder, whose logging kernels also say by themselves what they see. It goes to one of these:
// - counts: equal calls in the same context are counted, not repeated (kernel_log_context, kernel_log_write);
// - a file that has every call in order, so that others can be compared with it (kernel_log_file).

#include "recorder.cpp"

#include <fstream>
#include <sstream>

namespace dispatch_cli {

inline void note_tree(std::ostream& out, const Node& node) {
  out << "[\"" << node.slot << "\"," << node.keyset << ",\"" << (node.called ? "call" : "redispatch") << "\","
      << (node.raised ? "true" : "false") << ",[";
  bool first = true;
  for (const auto& next : node.continuations) {
    out << (first ? "" : ",");
    note_tree(out, *next);
    first = false;
  }
  out << "]]";
}

std::atomic<uint64_t> judged_threads{0};

// The place of a call in the order of its thread.
struct JudgedThread {
  uint64_t thread = judged_threads++, calls = 0, depth = 0;
};

thread_local JudgedThread judged_thread;

class JudgedCalls final : public CallObserver {
 public:
  std::mutex lock;
  std::string context;
  std::unordered_map<std::string, uint64_t> counts;
  std::atomic<int> file{-1};

  // The fields of a call, without braces; in order also with gradients and devices of its tensors.
  std::string begins(const OperatorHandle& op, const c10::Stack& stack, bool redispatched, bool announced) override {
    const bool in_order = file >= 0;
    auto& here = judged_thread;
    const auto number = here.calls++, depth = here.depth++;
    if (!in_order && context.empty()) return "";
    const auto call = described(arguments_of(op.schema()), stack);
    std::ostringstream out;
    if (in_order) {
      out << "{\"thread\":" << here.thread << ",\"number\":" << number << ",\"depth\":" << depth
          << ",\"announced\":" << (announced ? "true" : "false") << ",";
    }
    out << "\"operator\":\"" << op.operator_name() << "\",\"redispatched\":" << (redispatched ? "true" : "false") << ","
        << call.decides;
    if (in_order) out << "," << call.more;
    return out.str();
  }

  void ends(const std::string& kept, const Node& node) override {
    --judged_thread.depth;
    if (kept.empty()) return;
    std::ostringstream out;
    out << kept << ",\"kernels\":";
    note_tree(out, node);
    if (kept.front() == '{') {
      out << "}\n";
      const auto line = out.str();  // written at once: other threads write, too
      const int to = file;
      if (to >= 0 && write(to, line.data(), line.size()) < 0) file = -1;
      return;
    }
    const std::lock_guard<std::mutex> guard(lock);
    ++counts["\"context\":\"" + context + "\"," + out.str()];
  }
};

JudgedCalls& judged = *new JudgedCalls;

inline void close_file() { judged.file = -1; }

}  // namespace dispatch_cli

extern "C" {

// Every call is also written to that file when its first kernel ends; a child that is forked writes nothing. Returns
// whether the file could be opened.
bool kernel_log_file(const char* path) {
  judged.file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
  pthread_atfork(nullptr, nullptr, close_file);
  logged.observer = &judged;
  return judged.file >= 0;
}

// Calls from here on are counted as of that context; none without a name.
void kernel_log_context(const char* name) {
  judged.context = name;
  here.announced.reset();
  logged.observer = &judged;
  logged.on = !judged.context.empty();
}

// Writes the calls that were counted, one a line, each with how often it was seen.
void kernel_log_write(const char* path) {
  std::ofstream out(path);
  const std::lock_guard<std::mutex> guard(judged.lock);
  for (const auto& [call, count] : judged.counts) out << "{" << call << ",\"count\":" << count << "}\n";
}

}  // extern "C"
