#include "collector/environment.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace llmprof::collector {
namespace {

// Resolved when the library is loaded: its path may be relative to a folder that the program
// leaves.
constinit char own[PATH_MAX] = {};

// Runs before the constructors that need the path.
constexpr int kFirst = 101;
[[gnu::constructor(kFirst)]] void find_own_path() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&own_path), &info) == 0) return;
  if (realpath(info.dli_fname, own) == nullptr) own[0] = '\0';
}

const char* file_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

// Each ends with a zero byte.
constexpr char kLaunchers[] =
    "torchrun\0torch.distributed.run\0torch.distributed.launch\0mpirun\0mpiexec\0mpiexec.hydra\0"
    "mpiexec.openmpi\0mpirun.openmpi\0orterun\0orted\0prterun\0prted\0hydra_pmi_proxy\0srun\0"
    "slurmstepd\0";
// "/venv/bin/python -u -m torch.distributed.run": later arguments may be the program's own.
constexpr int kArguments = 4;

bool names_launcher(const char* argument) {
  return any_text(kLaunchers, [&](const char* launcher) {
    return std::strcmp(file_name(argument), launcher) == 0;
  });
}

}  // namespace

size_t read_front(const char* path, char* to, size_t room) {
  to[0] = '\0';
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  const ssize_t got = read(descriptor, to, room - 1);
  close(descriptor);
  const size_t length = got > 0 ? static_cast<size_t>(got) : 0;
  to[length] = '\0';
  return length;
}

const char* own_path() { return own[0] == '\0' ? nullptr : own; }

bool names_this_library(const char* path) {
  char resolved[PATH_MAX];
  return own[0] != '\0' && path != nullptr && realpath(path, resolved) != nullptr &&
         std::strcmp(own, resolved) == 0;
}

bool names_a_collector(const char* path) {
  if (path == nullptr || own[0] == '\0') return false;
  return std::strcmp(file_name(path), file_name(own)) == 0 || names_this_library(path);
}

bool is_launcher() {
  char arguments[2 * PATH_MAX];
  const size_t length = read_front("/proc/self/cmdline", arguments, sizeof arguments);
  const char* argument = arguments;
  for (int i = 0; i < kArguments && argument < arguments + length; ++i) {
    // An interpreter's options, then its script or module, whose arguments are ignored.
    if (i > 0 && *argument != '-') return names_launcher(argument);
    if (names_launcher(argument)) return true;
    argument += std::strlen(argument) + 1;
  }
  return false;
}

void read_boot_id(uint8_t (&id)[16]) {
  char text[64];
  read_front("/proc/sys/kernel/random/boot_id", text, sizeof text);
  size_t bytes = 0;
  for (const char* at = text; bytes < sizeof id && sscanf(at, "%2hhx", &id[bytes]) == 1; ++bytes) {
    at += at[2] == '-' ? 3 : 2;
  }
  if (bytes < sizeof id) std::memset(id, 0, sizeof id);
}

uint64_t time_namespace() {
  char name[64] = {};  // "time:[4026531834]"
  if (readlink("/proc/self/ns/time", name, sizeof name - 1) <= 0) return 0;
  const char* number = std::strchr(name, '[');
  return number == nullptr ? 0 : strtoull(number + 1, nullptr, 10);
}

void write_line(const char* text) {
  char line[PATH_MAX + 256];
  const int length = snprintf(line, sizeof line, "llmprof: %s\n", text);
  if (length <= 0) return;
  const size_t bytes =
      static_cast<size_t>(length) < sizeof line ? static_cast<size_t>(length) : sizeof line - 1;
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line, bytes);
}

void write_warning(const char* what) {
  constexpr int kMost = 3;
  static constinit std::atomic<int> warnings = 0;
  if (warnings.fetch_add(1, std::memory_order_relaxed) < kMost) write_line(what);
}

}  // namespace llmprof::collector
