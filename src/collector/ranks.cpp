#include "collector/ranks.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "collector/environment.h"
#include "collector/recorder.h"

namespace llmprof::collector {
namespace {

constexpr size_t kLongestRankValue = 127;  // bytes

// The variables by which torchrun, MPI and Slurm give a process its rank: with those of engines the
// only environment variables that the log may contain. Global ranks, in order of preference: an
// inner launcher knows better.
constexpr char kGlobalRanks[] =
    "RANK\0OMPI_COMM_WORLD_RANK\0PMI_RANK\0MV2_COMM_WORLD_RANK\0PMIX_RANK\0SLURM_PROCID\0";
constexpr char kNumbers[] =
    "LOCAL_RANK\0WORLD_SIZE\0LOCAL_WORLD_SIZE\0GROUP_RANK\0OMPI_COMM_WORLD_SIZE\0"
    "OMPI_COMM_WORLD_LOCAL_RANK\0PMI_SIZE\0MPI_LOCALRANKID\0MV2_COMM_WORLD_SIZE\0"
    "MV2_COMM_WORLD_LOCAL_RANK\0SLURM_NTASKS\0SLURM_STEP_NUM_TASKS\0SLURM_LOCALID\0SLURM_NODEID\0"
    "SLURM_JOB_ID\0SLURM_STEP_ID\0";
constexpr char kJobs[] = "TORCHELASTIC_RUN_ID\0PMIX_NAMESPACE\0OMPI_MCA_ess_base_jobid\0";
constexpr size_t kMostRecorded = 64;  // variables; those of engines come last

// What conf/engines say about the processes of engines, each text with a zero byte at its end:
// `llmprof run` hands it over, with the user's own engines. Without it, what the build read there.
struct EngineTexts {
  char texts[1024];

  void read(const char* variable, const char* built_in) {
    const char* list = secure_getenv(variable);
    if (list == nullptr || std::strlen(list) + 2 > sizeof texts) list = built_in;
    char* to = texts;
    for (; *list != '\0'; ++list) {
      if (*list != ',') {
        *to++ = *list;
      } else if (to != texts && to[-1] != '\0') {  // an empty text ends the list
        *to++ = '\0';
      }
    }
    to[0] = to[1] = '\0';
  }
};
static_assert(std::string_view(LLMPROF_RANK_TITLES ",,").size() <= sizeof(EngineTexts));
static_assert(std::string_view(LLMPROF_RANK_VARIABLES ",,").size() <= sizeof(EngineTexts));
// Prefixes of the titles of engine workers. Other programs' titles are their arguments, which may
// contain secrets.
constinit EngineTexts worker_titles{};
constinit EngineTexts engine_variables{};  // whose values are numbers

bool is_number(const char* text) {
  constexpr size_t kLongest = 9;
  size_t length = 0;
  for (; text[length] != '\0'; ++length) {
    if (text[length] < '0' || text[length] > '9' || length == kLongest) return false;
  }
  return length > 0;
}

// Slurm sets a task's variables in batch scripts too, whose job has not started its tasks yet. Only
// real steps have short step IDs; those of scripts and interactive shells have ten digits.
bool is_of_no_step(const char* name) {
  if (std::strncmp(name, "SLURM_", 6) != 0) return false;
  const char* step = secure_getenv("SLURM_STEP_ID");
  return step == nullptr || !is_number(step);
}

// Whether a text is at most kLongestRankValue long and consists of letters, digits and some
// punctuation.
bool is_rank_text(const char* text) {
  size_t length = 0;
  for (; text[length] != '\0'; ++length) {
    const char sign = text[length];
    const bool plain = (sign >= '0' && sign <= '9') || (sign >= 'a' && sign <= 'z') ||
                       (sign >= 'A' && sign <= 'Z') || std::strchr("-_.:@/", sign) != nullptr;
    if (!plain || length == kLongestRankValue) return false;
  }
  return length > 0;
}

// Null if the variable is not set or not valid.
const char* read_variable(const char* name, bool (*is_valid)(const char*)) {
  const char* value = secure_getenv(name);
  return value == nullptr || !is_valid(value) || is_of_no_step(name) ? nullptr : value;
}

// The values already in the log, by name.
struct WrittenValue {
  const char* name = nullptr;
  char value[kLongestRankValue + 1] = {};
};
struct Facts {
  std::atomic_flag busy = ATOMIC_FLAG_INIT;  // guards the members below
  uint32_t log = 0;
  WrittenValue written[kMostRecorded];
};
constinit Facts facts;

void write_if_new(const char* name, const char* value) {
  if (facts.log != current_log()) {
    for (WrittenValue& known : facts.written) known = {};
    facts.log = current_log();
  }
  for (WrittenValue& known : facts.written) {
    if (known.name != nullptr && std::strcmp(known.name, name) != 0) continue;
    if (known.name != nullptr && std::strcmp(known.value, value) == 0) return;
    known.name = name;
    std::memcpy(known.value, value, std::strlen(value) + 1);
    record_variable(name, value);
    return;
  }
}

bool is_of_worker(const char* title) {
  return any_text(worker_titles.texts, [&](const char* prefix) {
    return std::strncmp(title, prefix, std::strlen(prefix)) == 0;
  });
}

void write_title() {
  char title[kLongestRankValue + 1];
  read_front("/proc/self/cmdline", title, sizeof title);
  if (is_of_worker(title) && is_rank_text(title)) write_if_new("process_title", title);
}

// Several threads may start a log; one writes.
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

const char* global_rank() {
  const char* rank = nullptr;
  any_text(kGlobalRanks, [&](const char* name) {
    rank = read_variable(name, is_number);
    return rank != nullptr;
  });
  return rank;
}

void read_engine_texts() {
  worker_titles.read("LLMPROF_RANK_TITLES", LLMPROF_RANK_TITLES);
  engine_variables.read("LLMPROF_RANK_VARIABLES", LLMPROF_RANK_VARIABLES);
}

void write_rank_facts() {
  const OwnWork own;
  const Turn turn;
  if (!turn) return;
  const auto write_all = [](const char* names, bool (*is_valid)(const char*)) {
    any_text(names, [&](const char* name) {
      if (const char* value = read_variable(name, is_valid)) write_if_new(name, value);
      return false;
    });
  };
  write_all(kGlobalRanks, is_number);
  write_all(kNumbers, is_number);
  write_all(kJobs, is_rank_text);
  write_all(engine_variables.texts, is_number);
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
