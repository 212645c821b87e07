#include "collector/cuda/control/tools_around.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "collector/complaint.h"
#include "collector/own_path.h"

namespace llmprof::collector {
namespace {

constexpr char kInjection[] = "CUDA_INJECTION64_PATH";
constexpr char kNvtxInjection[] = "NVTX_INJECTION64_PATH";
// In the environment of what is started from here on: it was said once.
constexpr char kSaid[] = "LLMPROF_STOOD_DOWN";

constexpr char kUnderNcu[] =
    "ncu profiles this program: the collector stands down, kernels are not recorded";
constexpr char kUnderAnother[] =
    "CUDA_INJECTION64_PATH names another tool's library, as under nsys: the collector stands down, "
    "kernels are not recorded";
constexpr char kWithinNsys[] =
    "nsys takes the collector's place in the programs that it profiles: the collector stands down "
    "there";

bool program_is(const char* name) { return std::strcmp(program_invocation_short_name, name) == 0; }

// Null where it is not set, or to nothing.
const char* value_of(const char* variable) {
  const char* value = secure_getenv(variable);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

bool ncu_is_around() {
  // What ncu 2022 to 2025 give to the processes that they start.
  return secure_getenv("NV_NSIGHT_INJECTION_PORT_BASE") != nullptr || program_is("ncu");
}

void say_once(const char* what) {
  if (secure_getenv(kSaid) != nullptr) return;
  setenv(kSaid, "1", 1);
  complain(what);
}

bool preloaded() {
  const char* rest = secure_getenv("LD_PRELOAD");
  constexpr char kSeparators[] = ": ";
  while (rest != nullptr && *rest != '\0') {
    const size_t length = std::strcspn(rest, kSeparators);
    char path[PATH_MAX];
    if (length < sizeof path) {
      std::memcpy(path, rest, length);
      path[length] = '\0';
      if (names_a_collector(path)) return true;
    }
    rest += length;
    rest += std::strspn(rest, kSeparators);
  }
  return false;
}

void name_this_library(const char* variable) {
  const char* path = own_path();
  if (path != nullptr && value_of(variable) == nullptr) setenv(variable, path, 1);
}

void take_away(const char* variable) {
  if (names_a_collector(value_of(variable))) unsetenv(variable);
}

// Preloaded, the library needs no CUDA_INJECTION64_PATH from outside: ncu, whose own library looks
// for that variable before any constructor of the program has run, refuses a program that has it.
// ncu itself, or a process that it started, is the earliest place to take it away. Before main():
// nobody reads the environment meanwhile.
[[gnu::constructor]] void choose_injection() {
  if (!preloaded()) return;
  const bool wanted = value_of("LLMPROF_LOG_DIR") != nullptr;
  const char* tool = value_of(kInjection);
  if (ncu_is_around()) {
    take_away(kInjection);
    take_away(kNvtxInjection);
    if (wanted) say_once(kUnderNcu);
  } else if (tool != nullptr && !names_a_collector(tool)) {
    if (wanted) say_once(kUnderAnother);
  } else if (wanted) {
    name_this_library(kInjection);
    name_this_library(kNvtxInjection);
  }
}

}  // namespace

bool left_to_a_profiler() {
  if (program_is("nsys")) {
    // Its threads run already: the environment, where say_once notes it, is not to be touched.
    complain(kWithinNsys);
    return true;
  }
  return program_is("nsys-launcher") || program_is("CudaGpuInfoDumper") || program_is("ncu");
}

}  // namespace llmprof::collector
