// play_tape TAPE [options]: a CUDA program without CUDA. Its threads repeat those on the tape: NVTX
// calls, and CUDA calls as CUPTI saw them.
//
//   FAKE_CUPTI_LIBRARY, FAKE_CUDA_LIBRARY   paths of the two fakes
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "fake_cupti.h"
#include "nvtx_player.h"

namespace llmprof {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kUsage =
    "play_tape TAPE [--rounds=N] [--threads=N] [--pace] [--finish] [--no-cuda] [--fork=ITEM]\n"
    "          [--child=exit|_exit] [--exit=return|exit|_exit|abort|kill9] [--at=ITEM] "
    "[--status=N]\n"
    "          [--interactive] [--other-subscriber]\n"
    "--threads plays that many copies of the tape at once; ITEM counts played items, from 1.\n"
    "--interactive prints each round's number and waits for a line before the next.\n";

struct Options {
  std::string tape;
  unsigned rounds = 1;
  unsigned threads = 1;
  bool pace = false;    // every item waits for its time
  bool finish = false;  // waits for all work at the end
  bool cuda = true;
  size_t fork_at = 0;  // 0: never
  std::string child = "exit";
  std::string exit = "return";
  size_t exit_at = 0;  // 0: at the end
  int status = 0;
  bool interactive = false;
  bool other_subscriber = false;
};

template <class Number>
bool read_number(const std::string& text, Number& to) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return error == std::errc{} && end == text.data() + text.size();
}

bool read_option(const std::string& argument, Options& options) {
  const size_t equals = argument.find('=');
  const std::string name = argument.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
  if (name == "--rounds") return read_number(value, options.rounds);
  if (name == "--threads") return read_number(value, options.threads);
  if (name == "--fork") return read_number(value, options.fork_at);
  if (name == "--at") return read_number(value, options.exit_at);
  if (name == "--status") return read_number(value, options.status);
  if (name == "--pace") return options.pace = true;
  if (name == "--finish") return options.finish = true;
  if (name == "--no-cuda") return !(options.cuda = false);
  if (name == "--interactive") return options.interactive = true;
  if (name == "--other-subscriber") return options.other_subscriber = true;
  if (name == "--child") options.child = value;
  if (name == "--exit") options.exit = value;
  return name == "--child" || name == "--exit";
}

bool read_arguments(int count, char** arguments, Options& options) {
  if (count < 2) return false;
  options.tape = arguments[1];
  for (int i = 2; i < count; ++i) {
    if (!read_option(arguments[i], options)) return false;
  }
  return true;
}

[[noreturn]] void leave(const std::string& how, int status) {
  if (how == "_exit") _exit(status);
  if (how == "abort") std::abort();
  if (how == "kill9") kill(getpid(), SIGKILL);
  std::exit(status);
}

// ---- The two fakes

struct Libraries {
  decltype(&fake_cupti_begin) begin = nullptr;
  decltype(&fake_cupti_play) play = nullptr;
  decltype(&fake_cupti_host_time) host_time = nullptr;
  decltype(&fake_cupti_busy_until) busy_until = nullptr;
  decltype(&fake_cupti_end) end = nullptr;
  void* cupti = nullptr;
  void* cuda = nullptr;

  bool load() {
    cupti = open("FAKE_CUPTI_LIBRARY");
    cuda = open("FAKE_CUDA_LIBRARY");
    if (cupti == nullptr || cuda == nullptr) return false;
    find(begin, "fake_cupti_begin");
    find(play, "fake_cupti_play");
    find(host_time, "fake_cupti_host_time");
    find(busy_until, "fake_cupti_busy_until");
    find(end, "fake_cupti_end");
    return begin != nullptr && play != nullptr && host_time != nullptr && busy_until != nullptr &&
           end != nullptr;
  }

  void initialize_cuda() const {
    using Initialise = int (*)(unsigned);
    if (auto* initialize = reinterpret_cast<Initialise>(dlsym(cuda, "cuInit"))) initialize(0);
  }

  // Like nsys or torch.profiler.
  void subscribe() const {
    using Callback = void (*)(void*, int, uint32_t, const void*);
    using Subscribe = int (*)(void**, Callback, void*);
    static void* subscriber = nullptr;
    auto* subscribe = reinterpret_cast<Subscribe>(dlsym(cupti, "cuptiSubscribe"));
    if (subscribe != nullptr) {
      subscribe(&subscriber, [](void*, int, uint32_t, const void*) {}, nullptr);
    }
  }

 private:
  static void* open(const char* variable) {
    const char* path = std::getenv(variable);
    void* library = path != nullptr ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (library == nullptr) std::fprintf(stderr, "play_tape: %s names no library\n", variable);
    return library;
  }
  template <class Function>
  void find(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(dlsym(cupti, name));
  }
};

// ---- The program

struct Program {
  Options options;
  tape::Tape tape;
  Libraries libraries;
  std::atomic<size_t> played{0};
  std::once_flag cuda_initialized;
};

// One copy of the tape.
class Performance {
 public:
  Performance(Program& program, uint32_t copy)
      : program_(program), copy_(copy), nvtx_(program.tape), begin_(Clock::now()) {}

  void perform() {
    constexpr size_t kMain = 1;
    if (program_.options.cuda) program_.libraries.begin(&program_.tape, copy_);
    play_thread(kMain);
    join_all();
    if (program_.options.cuda) program_.libraries.end(&program_.tape, copy_);
  }

 private:
  void play_thread(size_t number) {
    if (number >= program_.tape.threads.size()) return;
    const std::vector<size_t>& script = program_.tape.threads[number];
    for (size_t i = 0; i < script.size(); ++i) {
      if (is_forked_child_before_item()) play_child(script, i);
      play(script[i]);
    }
  }

  bool is_forked_child_before_item() {
    const Options& options = program_.options;
    const size_t number = ++program_.played;
    if (number == options.exit_at) leave(options.exit, options.status);
    if (number != options.fork_at) return false;
    const pid_t child = fork();
    int status = 0;
    if (child > 0) waitpid(child, &status, 0);
    return child == 0;
  }

  // In a forked child CUDA does not work, but annotations do.
  [[noreturn]] void play_child(const std::vector<size_t>& script, size_t from) {
    for (size_t i = from; i < script.size(); ++i) {
      const tape::Item& item = program_.tape.items[script[i]];
      if (item.head.kind == tape::Kind::nvtx) nvtx_.play(item.as<tape::Nvtx>());
    }
    leave(program_.options.child, 0);
  }

  void play(size_t index) {
    const tape::Item& item = program_.tape.items[index];
    if (program_.options.pace || item.head.kind == tape::Kind::sleep) wait_for(item.head.time);
    switch (item.head.kind) {
      case tape::Kind::nvtx:
        return nvtx_.play(item.as<tape::Nvtx>());
      case tape::Kind::thread_begin:
        return begin_thread(item.as<tape::Thread>().thread);
      case tape::Kind::join:
        return join(item.as<tape::Thread>().thread);
      default:
        return play_cuda(index);
    }
  }

  void play_cuda(size_t index) {
    constexpr uint32_t kInitFinished = 5;  // CUPTI_CBID_RESOURCE_CU_INIT_FINISHED
    if (!program_.options.cuda) return;
    std::call_once(program_.cuda_initialized, [this] {
      if (program_.options.other_subscriber) program_.libraries.subscribe();
      program_.libraries.initialize_cuda();
    });
    const tape::Item& item = program_.tape.items[index];
    const bool once_only =
        item.head.kind == tape::Kind::resource && item.as<tape::Resource>().cbid == kInitFinished;
    if (!once_only || copy_ == 0) program_.libraries.play(&program_.tape, index, copy_);
  }

  void wait_for(int64_t time) const {
    const auto at =
        program_.options.cuda
            ? Clock::time_point(std::chrono::nanoseconds(program_.libraries.host_time(time)))
            : begin_ + std::chrono::nanoseconds(time - program_.tape.begin);
    std::this_thread::sleep_until(at);
  }

  void begin_thread(size_t number) {
    const std::scoped_lock lock(mutex_);
    threads_[number] = std::thread([this, number] { play_thread(number); });
  }

  void join(size_t number) {
    std::unique_lock lock(mutex_);
    const auto place = threads_.find(number);
    if (place == threads_.end()) return;
    std::thread thread = std::move(place->second);
    threads_.erase(place);
    lock.unlock();
    thread.join();
  }

  void join_all() {
    for (size_t number = 0; number < program_.tape.threads.size(); ++number) join(number);
  }

  Program& program_;
  uint32_t copy_;
  NvtxPlayer nvtx_;
  Clock::time_point begin_;
  std::mutex mutex_;
  std::map<size_t, std::thread> threads_;
};

void play_round(Program& program, unsigned round) {
  const uint32_t first = round * program.options.threads;
  std::vector<std::thread> others;
  for (uint32_t i = 1; i < program.options.threads; ++i) {
    others.emplace_back([&program, copy = first + i] { Performance(program, copy).perform(); });
  }
  Performance(program, first).perform();
  for (std::thread& other : others) other.join();
}

bool next_round_is_wanted(unsigned round) {
  constexpr size_t kLine = 64;
  char line[kLine];
  std::printf("round %u\n", round + 1);
  std::fflush(stdout);
  return std::fgets(line, sizeof line, stdin) != nullptr;
}

int run(int count, char** arguments) {
  // Never freed: threads may still play when another one calls exit().
  static auto* const program = new Program;
  std::string problem;
  if (!read_arguments(count, arguments, program->options)) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  if (!program->tape.load(program->options.tape.c_str(), problem)) {
    std::fprintf(stderr, "play_tape: %s\n", problem.c_str());
    return 2;
  }
  if (!program->libraries.load()) return 2;
  // NVTX looks for its tool in the first call, where threads may race, as its documentation says.
  if (program->options.threads > 1) initialize_nvtx();
  for (unsigned round = 0; round < program->options.rounds; ++round) {
    play_round(*program, round);
    if (program->options.interactive && !next_round_is_wanted(round)) break;
  }
  if (program->options.finish) {
    const std::chrono::nanoseconds end(program->libraries.busy_until());
    std::this_thread::sleep_until(Clock::time_point(end));
  }
  if (program->options.exit != "return" && program->options.exit_at == 0) {
    leave(program->options.exit, program->options.status);
  }
  return program->options.status;
}

}  // namespace
}  // namespace llmprof

int main(int count, char** arguments) { return llmprof::run(count, arguments); }
