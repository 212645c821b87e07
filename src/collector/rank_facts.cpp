#include "collector/rank_facts.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "collector/rank_variables.h"
#include "collector/recorder.h"
#include "collector/small_file.h"

namespace llmprof::collector {
namespace {

constexpr char kTitle[] = "process_title";

// The values that the log has, by name.
struct Written {
  const char* name = nullptr;
  char value[kLongestRankValue + 1] = {};
};
struct Facts {
  std::atomic_flag busy = ATOMIC_FLAG_INIT;  // guards the members below
  uint32_t log = 0;
  Written written[kMostRankVariables + 1];
};
constinit Facts facts;

void write_if_new(const RankVariable& variable) {
  if (facts.log != current_log()) {
    for (Written& known : facts.written) known = {};
    facts.log = current_log();
  }
  for (Written& known : facts.written) {
    if (known.name != nullptr && std::strcmp(known.name, variable.name) != 0) continue;
    if (known.name != nullptr && std::strcmp(known.value, variable.value) == 0) return;
    known.name = variable.name;
    std::memcpy(known.value, variable.value, std::strlen(variable.value) + 1);
    record_variable(variable.name, variable.value);
    return;
  }
}

// What titles of an engine's workers begin with, separated by commas: "sglang::scheduler_TP0",
// "VLLM::Worker_TP1". Other programs' titles are their arguments, which may hold secrets.
constinit char worker_titles[256] = "sglang::,VLLM::";

bool is_of_worker(const char* title) {
  for (const char* name = worker_titles; *name != '\0';) {
    const size_t length = std::strcspn(name, ",");
    if (length > 0 && std::strncmp(title, name, length) == 0) return true;
    name += length + (name[length] == ',' ? 1 : 0);
  }
  return false;
}

void write_title() {
  char title[kLongestRankValue + 1];
  read_front("/proc/self/cmdline", title, sizeof title);
  if (is_of_worker(title) && is_rank_text(title)) write_if_new({kTitle, title});
}

// Several threads may begin a log; one writes.
class Turn {
 public:
  Turn() : taken_(!facts.busy.test_and_set(std::memory_order_acquire)) {}
  ~Turn() {
    if (taken_) facts.busy.clear(std::memory_order_release);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  [[nodiscard]] explicit operator bool() const { return taken_; }

 private:
  bool taken_;
};

}  // namespace

void read_worker_titles() {
  const char* titles = secure_getenv("LLMPROF_RANK_TITLES");
  if (titles == nullptr || std::strlen(titles) >= sizeof worker_titles) return;
  std::memcpy(worker_titles, titles, std::strlen(titles) + 1);
}

void write_rank_facts() {
  const OwnWork own;
  const Turn turn;
  if (!turn) return;
  RankVariable variables[kMostRankVariables];
  const size_t count = read_rank_variables(variables);
  for (size_t i = 0; i < count; ++i) write_if_new(variables[i]);
  write_title();
}

void forget_rank_facts() {
  facts.busy.clear(std::memory_order_relaxed);
  facts.log = 0;
}

void write_process_title() {
  const OwnWork own;
  const Turn turn;
  if (turn) write_title();
}

}  // namespace llmprof::collector
