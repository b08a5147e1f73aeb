// The recorder of `dispatch-cli trace`: every call that PyTorch's dispatcher gets in this process, written to a file.
//
// A callback of PyTorch (`at::addGlobalCallback`) gets each call as it begins and ends, in every thread. It runs no
// Python code and calls no operator. Lines of Python are read from the thread's frames, with Python's lock; neither
// this file's lock nor the dispatcher's is held meanwhile.
//
// What the slots of an operator hold is looked at in each call; one whose kernels have changed gets another number.
//
// Built as a shared library with -fno-access-control (tables are private) and -DNDEBUG (as PyTorch's wheels are).

#include "kernel_log.h"

#include <ATen/SequenceNumber.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <unordered_map>

namespace dispatch_cli {

// The recording: lines of a file, up to a bound. It is mapped into memory: a line is there as soon as it is copied,
// whatever becomes of the process, and it does not matter that the program closes files. Space is reserved piece by
// piece before it is used: a full disk is noticed then. Zeros stand behind the last line until the end.
class Output {
 public:
  static constexpr size_t PIECE = 1 << 16;
  static constexpr size_t LAST = 1 << 12;  // bytes that are kept free for the line that says why nothing follows
  static constexpr int64_t MOST = 1'000'000;  // entries of one table: operators, places ...; readers take no more

  bool stopped = false;

  // Returns what went wrong, or nothing. position: where the file ends. most: its bound.
  const char* open(const char* path, size_t position, size_t most) {
    path_ = path;
    at_ = position;
    most_ = most;
    struct stat status {};
    if (stat(path, &status) == 0) file_ = {status.st_dev, status.st_ino};
    const int file = open_again();
    void* whole = mmap(nullptr, most, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    const int error = errno;
    ::close(file);
    map_ = static_cast<char*>(whole);
    return whole == MAP_FAILED ? std::strerror(error) : nullptr;
  }

  bool write(std::string_view line) {
    if (stopped || (at_ + line.size() + LAST > length_ && !grow(line.size()))) return false;
    put(line);
    return true;
  }

  // Writes the next entry of a table; returns its number, or -1. tag: of the table. values: the rest of the line.
  int64_t write_entry(char tag, std::string_view values) {
    auto& count = counts_[static_cast<unsigned char>(tag)];
    if (count >= MOST) stop("limit", "the recording has reached its bound of 1,000,000 entries");
    std::string line;
    add(line, "[\"", tag, "\",", count, ',', values, "]\n");
    return write(line) ? count++ : -1;
  }

  // Writes nothing more, but why.
  void stop(const char* reason, const std::string& text) {
    if (stopped) return;
    stopped = true;
    std::string line;
    add(line, "[\"x\",{\"reason\":", Quoted{reason}, ",\"text\":", Quoted{text}, "}]\n");
    if (at_ + line.size() <= length_) put(line);
  }

  // Cuts the file behind the last line; returns whether that could be.
  bool close() {
    stopped = true;
    const int file = open_again();
    if (file < 0) return false;
    const bool is_cut = ftruncate(file, static_cast<off_t>(at_)) == 0;
    ::close(file);
    return is_cut;
  }

 private:
  void put(std::string_view line) {
    std::memcpy(map_ + at_, line.data(), line.size());
    at_ += line.size();
  }

  // Makes room for a line of that size, if that can be.
  bool grow(size_t size) {
    const size_t length = (at_ + size + LAST + PIECE - 1) / PIECE * PIECE;
    if (length > most_) {
      stop("limit", "the recording has reached its bound");
    } else if (const char* error = reserve(length)) {
      stop("disk", std::string("the recording cannot be written: ") + error);
    }
    return !stopped;
  }

  // Returns what went wrong, or nothing.
  const char* reserve(size_t length) {
    const int file = open_again();
    if (file < 0) return "another file has taken its place";
#ifdef __linux__
    const int error = posix_fallocate(file, static_cast<off_t>(length_), static_cast<off_t>(length - length_));
#else
    const int error = ftruncate(file, static_cast<off_t>(length)) == 0 ? 0 : errno;
#endif
    ::close(file);
    if (error == 0) length_ = length;
    return error == 0 ? nullptr : std::strerror(error);
  }

  // Opens the file; not another one that has its name now.
  int open_again() const {
    const int file = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
    struct stat status {};
    if (file >= 0 && (fstat(file, &status) != 0 || std::pair(status.st_dev, status.st_ino) != file_)) {
      ::close(file);
      return -1;
    }
    return file;
  }

  std::string path_;
  std::pair<dev_t, ino_t> file_;
  size_t most_ = 0, at_ = 0, length_ = 0;
  char* map_ = nullptr;
  std::array<int64_t, 128> counts_{};
};

// Kernels.

// What tells a kernel from all others; compared for every slot in every call.
struct KernelWords {
  const void *functor, *boxed, *unboxed, *symbolic;
  auto operator<=>(const KernelWords&) const = default;
};

inline KernelWords words_of(const KernelFunction& kernel) {
  const auto& boxed = kernel.boxed_kernel_func_;
  return {boxed.functor_.get(), reinterpret_cast<const void*>(boxed.boxed_kernel_func_), kernel.unboxed_kernel_func_,
          kernel.sym_unboxed_kernel_func_};
}

// A kernel; of a logging kernel, the one that it stands for.
inline const KernelFunction& original_of(const KernelFunction& kernel) {
  const auto* logging = logging_kernel(kernel);
  return logging == nullptr ? kernel : logging->original();
}

// For each slot of an operator the registrations of the kernel in it, as JSON: key, text of PyTorch's dump, whether it
// falls through; the newest of a key first. The key of a backend fallback is null. No registrations: it is not known.
// null: no kernel. Kept once: two slots hold the same where it is the same text.
using Slots = std::vector<const std::string*>;

// held: what the slots hold; otherwise what the registrations determine. To be called with the recorder's lock, or in a
// copy of the process.
inline Slots slots_of(const OperatorHandle& op, bool held) {
  static auto& kept = *new std::set<std::string>;
  const auto& entry = op.operatorDef_->op;
  const auto& dispatcher = c10::Dispatcher::singleton();
  std::map<KernelWords, std::string> texts;
  const auto add_registration = [](std::string& text, const auto& key, const auto& registration) {
    add(text, text.empty() ? "[" : ",[", key, ',', Quoted{registration.debug}, ',');
    add(text, registration.kernel.isFallthrough(), ']');
  };
  for (uint16_t key = 0; key <= static_cast<uint16_t>(c10::DispatchKey::EndOfAliasKeys); ++key) {
    const auto registered = entry.kernels_.find(static_cast<c10::DispatchKey>(key));
    if (registered == entry.kernels_.end()) continue;
    for (const auto& registration : registered->second) {
      const auto name = Quoted{c10::toString(registered->first)};
      add_registration(texts[words_of(original_of(registration.kernel))], name, registration);
    }
  }
  Slots slots;
  for (size_t at = 0; at < entry.dispatchTable_.size(); ++at) {
    const auto& fallback = dispatcher.backendFallbackKernels_[at];
    const auto determined = [&]() -> const KernelFunction& {
      return entry.computeDispatchTableEntryWithDebug(dispatcher, keys_of_slots()[at]).first.kernel;
    };
    const KernelWords words = words_of(original_of(held ? entry.dispatchTable_[at] : determined()));
    const auto known = texts.find(words);
    std::string text = known == texts.end() ? "" : known->second;
    if (words == words_of(original_of(fallback.kernel))) add_registration(text, "null", fallback);
    const bool is_there = words != words_of(KernelFunction());
    slots.push_back(&*kept.insert(is_there ? "[" + text + "]" : "null").first);
  }
  return slots;
}

// Operators.

using Functors = std::vector<c10::intrusive_ptr<c10::OperatorKernel>>;

// What is known of the operator that has its schema at an address. seen: the kernels in its slots when it was looked at
// last; kept: these, since another one could get the address of one that is gone.
struct CalledOperator {
  std::optional<c10::OperatorName> name;
  std::optional<OperatorHandle> handle;
  std::vector<Argument> arguments;
  int64_t number = -1;
  std::vector<KernelWords> seen;
  Functors kept;
};

// Python.

// The places in a function's code, by instruction. is_own: of PyTorch.
struct CodePlaces {
  bool is_own = false;
  std::unordered_map<int, int64_t> places;
};

// Where a call comes from. frame: the innermost one.
struct Caller {
  const PyFrameObject* frame = nullptr;
  int64_t place = -1;
};

// Keeps the error of Python that is set, whatever is called meanwhile.
class KeptError {
 public:
  KeptError() { PyErr_Fetch(&type_, &value_, &trace_); }
  ~KeptError() { PyErr_Restore(type_, value_, trace_); }
  KeptError(const KeptError&) = delete;
  KeptError& operator=(const KeptError&) = delete;

 private:
  PyObject *type_, *value_, *trace_;
};

inline std::string utf8(PyObject* text) {
  const KeptError error;
  std::string result;
  if (PyObject* bytes = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace")) {
    result.assign(PyBytes_AS_STRING(bytes), PyBytes_GET_SIZE(bytes));
    Py_DECREF(bytes);
  }
  return result;
}

// What the program calls this thread; nothing for one that Python has not made.
inline std::string name_of_thread() {
  const PythonLock lock;
  if (!lock) return "";
  const KeptError error;
  std::string result;
  PyObject* threading = PyDict_GetItemString(PyImport_GetModuleDict(), "threading");  // borrowed, as the next two
  PyObject* active = threading == nullptr ? nullptr : PyDict_GetItemString(PyModule_GetDict(threading), "_active");
  PyObject* number = PyLong_FromUnsignedLong(PyThread_get_thread_ident());
  PyObject* thread = active == nullptr || !PyDict_Check(active) ? nullptr : PyDict_GetItemWithError(active, number);
  PyObject* name = thread == nullptr ? nullptr : PyObject_GetAttrString(thread, "_name");
  if (name != nullptr && PyUnicode_CheckExact(name)) result = utf8(name);
  Py_XDECREF(name);
  Py_XDECREF(number);
  return result;
}

// Threads.

// exceptions: those that were on their way when it began. next: the number of the next node of autograd then.
struct OpenCall {
  const at::RecordFunction* function;
  Caller caller;
  int exceptions;
  uint64_t next;
};

// A node of autograd that runs backward. forward: PyTorch's number of the thread that made it.
struct RunningNode {
  const at::RecordFunction* function;
  int64_t sequence;
  uint64_t forward;
};

// number: -1 before its first call. open: its calls that have not ended, innermost last.
struct CallingThread {
  int64_t number = -1;
  std::vector<OpenCall> open;
  std::vector<RunningNode> nodes;
};

inline CallingThread& this_thread() {
  thread_local CallingThread& thread = *new CallingThread;  // calls may come from destructors at the thread's end
  return thread;
}

class Recorder {
 public:
  std::atomic<bool> on{false};
  std::mutex lock;
  Output output;
  std::string torch, directory;  // torch: the folder of PyTorch
  std::chrono::steady_clock::time_point started;
  std::atomic<int64_t> dropped{0};

  void begin(const at::RecordFunction& function) {
    auto& thread = this_thread();
    if (function.scope() == at::RecordScope::BACKWARD_FUNCTION) {
      thread.nodes.push_back({&function, function.seqNr(), function.forwardThreadId()});
      return;
    }
    const auto* schema = std::get_if<at::RecordFunction::schema_ref_t>(&function.fn_);
    if (schema == nullptr) return;  // it has but a name
    // first what may have Python collect garbage: finalizers can call operators
    const Caller caller = caller_of(thread);
    if (thread.number < 0) number_thread(thread);
    const auto [number, arguments] = operator_of(schema->get());
    const auto call = described(*arguments, function.inputs());
    std::string line;
    add(line, "{\"operator\":", number, ',', call.decides, ',', call.more, '}');

    const std::lock_guard<std::mutex> guard(lock);
    const int64_t signature = numbered(signatures_, 's', line);
    int64_t sequence = -1, forward = -1;
    if (!thread.nodes.empty()) {
      sequence = std::max<int64_t>(thread.nodes.back().sequence, -1);
      const auto made_by = threads_.find(thread.nodes.back().forward);
      if (made_by != threads_.end()) forward = made_by->second;
    }
    line.clear();
    add(line, "[\"c\",", signature, ',', thread.number, ',', thread.open.size(), ',', caller.place, ',', now(), ',');
    add(line, sequence, ',', forward, "]\n");
    if (signature < 0 || !output.write(line)) {
      ++dropped;
      on = !output.stopped;
      return;
    }
    thread.open.push_back({&function, caller, std::uncaught_exceptions(), at::sequence_number::peek()});
  }

  void end(const at::RecordFunction& function) {
    auto& thread = this_thread();
    if (!thread.nodes.empty() && thread.nodes.back().function == &function) {
      thread.nodes.pop_back();
      return;
    }
    if (thread.open.empty() || thread.open.back().function != &function) return;
    const OpenCall call = thread.open.back();
    thread.open.pop_back();
    std::string text;
    if (here.ended == &function) {
      here.ended = nullptr;
      for (const auto& kernel : here.kernels) add(text, "[\"k\",", thread.number, ',', kernel, "]\n");
    }
    add(text, "[\"e\",", thread.number, ',', now(), ',', std::uncaught_exceptions() > call.exceptions);
    add_nodes(text, function, call.next);
    text += "]\n";
    const std::lock_guard<std::mutex> guard(lock);
    output.write(text);
  }

  // Of the numbers of operators: the slots that held something else than the registrations of now determine, a line
  // each, with what they held, and whether they still hold it.
  std::string changes() const {
    std::string out;
    for (const auto& [key, called] : numbered_operators_) {
      const auto op = c10::Dispatcher::singleton().findSchema(called.second);
      const Slots& slots = key.second;
      if (!op || slots.empty()) continue;
      const Slots determined = slots_of(*op, false), now = slots_of(*op, true);
      std::string others;
      for (size_t at = 0; at < determined.size(); ++at) {
        if (slots[at] == determined[at]) continue;
        add(others, others.empty() ? "[" : ",[", Quoted{c10::toString(keys_of_slots()[at])}, ',', *slots[at], ',');
        add(others, slots[at] == now[at], ']');
      }
      if (others.empty()) continue;
      add(out, '[', called.first, ",[", others, "]]\n");
    }
    return out;
  }

  // Microseconds since the recording began.
  int64_t now() const {
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - started).count();
  }

 private:
  // The number of a text in a table, which is written when it is new. To be called with the lock.
  int64_t numbered(std::unordered_map<std::string, int64_t>& table, char tag, const std::string& text) {
    const auto known = table.find(text);
    if (known != table.end()) return known->second;
    const int64_t number = output.write_entry(tag, text);
    if (table.size() >= MOST_KNOWN) table.clear();
    if (number >= 0) table.emplace(text, number);
    return number;
  }

  void number_thread(CallingThread& thread) {
    std::string name;
    add(name, Quoted{name_of_thread()});
    const std::lock_guard<std::mutex> guard(lock);
    thread.number = output.write_entry('t', name);
    threads_[at::RecordFunction::currentThreadId()] = thread.number;
  }

  // Adds the nodes of autograd that give the results of a call, if it made them. next: the number of the next one
  // when the call began. A node has the number of the thread that made it.
  static void add_nodes(std::string& out, const at::RecordFunction& function, uint64_t next) {
    if (at::sequence_number::peek() == next) return;
    std::set<uint64_t> nodes;
    const auto take = [&](const IValue& value) {
      if (!value.isTensor()) return;
      auto* meta = static_cast<torch::autograd::AutogradMeta*>(value.toTensor().unsafeGetTensorImpl()->autograd_meta());
      if (meta == nullptr) return;
      const std::lock_guard<std::mutex> guard(meta->mutex_);
      const auto& node = meta->grad_fn_;
      const bool is_new = node && node->sequence_nr() >= next && node->sequence_nr() < UINT64_MAX;
      if (is_new && node->thread_id() == at::RecordFunction::currentThreadId()) nodes.insert(node->sequence_nr());
    };
    for (const IValue& result : function.outputs()) {
      take(result);
      if (result.isList()) for (const IValue& element : result.toListRef()) take(element);
    }
    for (const uint64_t node : nodes) add(out, node == *nodes.begin() ? ",[" : ",", node);
    if (!nodes.empty()) out += ']';
  }

  // The number of the operator that has its schema there, and its arguments.
  std::pair<int64_t, const std::vector<Argument>*> operator_of(const c10::FunctionSchema& schema) {
    Functors kept;  // given up without the lock: that may run Python
    const std::lock_guard<std::mutex> guard(lock);
    auto& op = operators_[&schema];
    if (op.name != schema.operator_name()) {  // another one may have the address of one that is gone
      op.handle = c10::Dispatcher::singleton().findOp(schema.operator_name());
      TORCH_CHECK(op.handle, "there is no operator ", schema.operator_name());
      op.name = schema.operator_name();
      op.number = -1;
    }
    const auto& slots = op.handle->operatorDef_->op.dispatchTable_;
    const auto is_same = [](const KernelWords& seen, const KernelFunction& slot) { return seen == words_of(slot); };
    const bool is_known = std::equal(op.seen.begin(), op.seen.end(), slots.begin(), slots.end(), is_same);
    if (op.number < 0 || !is_known) look(op, schema, kept);
    return {op.number, &op.arguments};
  }

  // Looks at the slots of an operator, unless another thread registers something now.
  void look(CalledOperator& op, const c10::FunctionSchema& schema, Functors& kept) {
    const std::unique_lock<std::mutex> registering(c10::Dispatcher::singleton().guard_->mutex, std::try_to_lock);
    if (!registering && op.number >= 0) return;
    if (auto arguments = arguments_of(schema); arguments != op.arguments) op.arguments = std::move(arguments);
    const auto slots = registering ? slots_of(*op.handle, true) : Slots();
    const auto name = c10::toString(schema.operator_name());
    const std::pair key(name + "\n" + c10::toString(schema), slots);
    const auto known = numbered_operators_.find(key);
    if (known != numbered_operators_.end()) {
      op.number = known->second.first;
    } else {
      std::string text;
      add(text, Quoted{name});
      op.number = output.write_entry('o', text);
      if (op.number >= 0) numbered_operators_.emplace(key, std::pair(op.number, schema.operator_name()));
    }
    if (!registering) return;
    kept.swap(op.kept);
    op.seen.clear();
    for (const auto& kernel : op.handle->operatorDef_->op.dispatchTable_) {
      op.seen.push_back(words_of(kernel));
      op.kept.push_back(kernel.boxed_kernel_func_.functor_);
    }
  }

  // Where a call comes from: the innermost line that is not PyTorch's.
  Caller caller_of(const CallingThread& thread) {
    const PythonLock python;
    if (!python) return {};
    PyFrameObject* frame = PyEval_GetFrame();  // borrowed
    Caller caller{frame};
    if (!thread.open.empty() && thread.open.back().caller.frame == frame) return thread.open.back().caller;
    Py_XINCREF(frame);
    while (frame != nullptr) {
      PyCodeObject* code = PyFrame_GetCode(frame);
      CodePlaces& known = places_of(code);
      if (!known.is_own) {
        const auto place = known.places.find(PyFrame_GetLasti(frame));
        caller.place = place != known.places.end() ? place->second : number_place(frame, code, known);
        Py_DECREF(code);
        break;
      }
      Py_DECREF(code);
      PyFrameObject* back = PyFrame_GetBack(frame);
      Py_DECREF(frame);
      frame = back;
    }
    Py_XDECREF(frame);
    return caller;
  }

  CodePlaces& places_of(PyCodeObject* code) {
    const auto known = codes_.find(code);
    if (known != codes_.end()) return known->second;
    if (codes_.size() >= MOST_KNOWN) {
      const auto before = std::exchange(codes_, {});
      for (const auto& [other, places] : before) Py_DECREF(other);
    }
    const auto file = utf8(code->co_filename);  // may collect garbage
    const auto begins = [&](std::string_view text) { return file.compare(0, text.size(), text) == 0; };
    const auto [entry, is_new] = codes_.try_emplace(code);
    if (is_new) Py_INCREF(code);  // another code could get the address of one that is gone
    entry->second.is_own = begins(torch) || begins("<frozen ") || begins("<eval_with_key>");
    return entry->second;
  }

  int64_t number_place(PyFrameObject* frame, PyCodeObject* code, CodePlaces& known) {
#if PY_VERSION_HEX >= 0x030B0000
    const auto name = utf8(code->co_qualname);
#else
    const auto name = utf8(code->co_name);
#endif
    auto path = utf8(code->co_filename);
    if (!path.empty() && path[0] != '<' && path[0] != '/') path = directory + "/" + path;
    std::string file, values;
    add(file, Quoted{path});
    const std::lock_guard<std::mutex> guard(lock);
    add(values, numbered(files_, 'f', file), ',', std::max(PyFrame_GetLineNumber(frame), 0), ',', Quoted{name});
    const int64_t place = output.write_entry('l', values);
    if (place >= 0) known.places[PyFrame_GetLasti(frame)] = place;
    return place;
  }

  static constexpr size_t MOST_KNOWN = 1 << 16;  // signatures and functions; beyond, they get new numbers
  std::unordered_map<const c10::FunctionSchema*, CalledOperator> operators_;
  // By the schema, and by what the slots held; by none where they could not be looked at.
  std::map<std::pair<std::string, Slots>, std::pair<int64_t, c10::OperatorName>> numbered_operators_;
  std::unordered_map<std::string, int64_t> signatures_, files_;
  std::unordered_map<uint64_t, int64_t> threads_;
  std::unordered_map<PyCodeObject*, CodePlaces> codes_;  // by Python's lock
};

Recorder& recorder = *new Recorder;  // never destroyed: other threads may be in it at the end
at::CallbackHandle handle = at::INVALID_CALLBACK_HANDLE;

std::unique_ptr<at::ObserverContext> call_begins(const at::RecordFunction& function) {
  if (recorder.on) {
    try {
      recorder.begin(function);
    } catch (const std::exception&) {
      ++recorder.dropped;
    }
  }
  return nullptr;
}

void call_ends(const at::RecordFunction& function, at::ObserverContext*) {
  if (recorder.on) recorder.end(function);
}

void before_fork() { recorder.lock.lock(); }
void after_fork() { recorder.lock.unlock(); }
void in_child() {
  recorder.on = false;  // the file is its parent's
  recorder.output.stopped = true;
  recorder.lock.unlock();
}

}  // namespace dispatch_cli

extern "C" {

// The recorder is not loaded into another PyTorch.
extern const char recorder_built_for[] = "built for: " BUILT_FOR;

// Records from here on, in every thread. path: the recording, which ends at position; its calls end at most bytes.
// Returns what went wrong, or nothing.
const char* recorder_start(const char* path, uint64_t position, uint64_t most, const char* torch,
                           const char* directory) {
  if (const char* error = recorder.output.open(path, position, most)) return error;
  recorder.torch = torch;
  recorder.directory = directory;
  recorder.started = std::chrono::steady_clock::now();
  pthread_atfork(before_fork, after_fork, in_child);
  recorder.on = true;
  handle = at::addGlobalCallback(at::RecordFunctionCallback(call_begins, call_ends)
                                     .needsInputs(true)
                                     .needsOutputs(true)
                                     .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
  return nullptr;
}

// Records no more. Returns how many calls were not recorded, or -1 where the file is not there any more.
int64_t recorder_stop() {
  recorder.on = false;
  at::removeCallback(handle);
  const std::lock_guard<std::mutex> guard(recorder.lock);
  return recorder.output.close() ? recorder.dropped.load() : -1;
}

// See Recorder::changes. To be called in a copy of the process, which no other thread changes.
const char* recorder_changes() {
  static std::string given;
  given = recorder.changes();
  return given.c_str();
}

}  // extern "C"
