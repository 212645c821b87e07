#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>

// What surrounds this process: its clock, its environment, its files in /proc, its terminal.
namespace llmprof::collector {

inline int64_t read_clock(clockid_t clock) {
  constexpr int64_t kSecond = 1'000'000'000;
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

// The clock of the log.
inline int64_t now_ns() { return read_clock(CLOCK_MONOTONIC); }

// Null if it is not set, or empty; programs that run with more rights than their user have none.
inline const char* value_of(const char* variable) {
  const char* value = secure_getenv(variable);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// Empty if it is not set.
inline const char* variable(const char* name) {
  const char* value = secure_getenv(name);
  return value == nullptr ? "" : value;
}

// Reads the front of a file of /proc; ends it with a zero byte. Returns how many bytes it read.
size_t read_front(const char* path, char* to, size_t room);

// The absolute path of this library; null if the loader does not know it.
[[nodiscard]] const char* own_path();

// Whether a path from an environment variable is this library's.
[[nodiscard]] bool names_this_library(const char* path);
// The same, but also for another copy of it, or its file name without a folder.
[[nodiscard]] bool names_a_collector(const char* path);

// Whether this process is a launcher of distributed programs (torchrun, mpirun, srun), not a rank:
// it may ask CUDA for devices, but runs nothing on them.
[[nodiscard]] bool is_launcher();

// Whose CLOCK_MONOTONIC it is: processes of one boot of a machine and one time namespace read the
// same clock. All zero if the system does not report it.
void read_boot_id(uint8_t (&id)[16]);

// 0 if the system has none.
[[nodiscard]] uint64_t time_namespace();

// One line on stderr.
void write_line(const char* text);
// The same, at most three per process: what fails once tends to fail again.
void write_warning(const char* what);

}  // namespace llmprof::collector
