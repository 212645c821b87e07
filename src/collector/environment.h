#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>

// This process's clock, environment, files in /proc, and terminal.
namespace llmprof::collector {

inline int64_t read_clock(clockid_t clock) {
  constexpr int64_t kSecond = 1'000'000'000;
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

// The clock of the log.
inline int64_t now_ns() { return read_clock(CLOCK_MONOTONIC); }

// Null if it is unset or empty, or if the program runs with more rights than its user.
inline const char* value_of(const char* variable) {
  const char* value = secure_getenv(variable);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// Empty if it is not set.
inline const char* variable(const char* name) {
  const char* value = secure_getenv(name);
  return value == nullptr ? "" : value;
}

// Whether `is_wanted` accepts one of the texts of a list, each of which ends with a zero byte, and
// the list with an empty one.
bool any_text(const char* texts, auto is_wanted) {
  for (; *texts != '\0'; texts += std::strlen(texts) + 1) {
    if (is_wanted(texts)) return true;
  }
  return false;
}

// Reads the start of a /proc file and ends it with a zero byte. Returns the number of bytes read.
size_t read_front(const char* path, char* to, size_t room);

// The absolute path of this library; null if the loader does not know it.
[[nodiscard]] const char* own_path();

// Whether a path from an environment variable is this library's.
[[nodiscard]] bool names_this_library(const char* path);
// The same, but also true for another copy of it, or for its file name without a folder.
[[nodiscard]] bool names_a_collector(const char* path);

// Whether this process is a launcher of distributed programs (torchrun, mpirun, srun), not a rank:
// it may query CUDA devices, but runs nothing on them.
[[nodiscard]] bool is_launcher();

// Identifies CLOCK_MONOTONIC: processes of one boot of a machine and one time namespace read the
// same clock. All zero if the system does not report it.
void read_boot_id(uint8_t (&id)[16]);

// 0 if the system has none.
[[nodiscard]] uint64_t time_namespace();

// One line on stderr.
void write_line(const char* text);
// The same, at most three per process: what fails once tends to fail again.
void write_warning(const char* what);

}  // namespace llmprof::collector
