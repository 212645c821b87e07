#include "collector/cuda/tools_around.h"

#include <cerrno>
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

bool is_set(const char* variable) {
  const char* value = secure_getenv(variable);
  return value != nullptr && *value != '\0';
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
  constexpr size_t kLongestPath = 4096;
  while (rest != nullptr && *rest != '\0') {
    const size_t length = std::strcspn(rest, kSeparators);
    char path[kLongestPath];
    if (length < sizeof path) {
      std::memcpy(path, rest, length);
      path[length] = '\0';
      if (names_this_library(path)) return true;
    }
    rest += length;
    rest += std::strspn(rest, kSeparators);
  }
  return false;
}

void name_this_library(const char* variable) {
  constexpr int kKeepOther = 0;
  if (const char* path = own_path(); path != nullptr) setenv(variable, path, kKeepOther);
}

// Preloaded, the library needs no CUDA_INJECTION64_PATH from outside: ncu, whose own library looks
// for that variable before any constructor of the program has run, refuses a program that has it.
// A process that ncu started, or ncu itself, is the earliest place to take it away. Before main():
// nobody reads the environment meanwhile.
[[gnu::constructor]] void choose_injection() {
  if (!preloaded()) return;
  const char* tool = secure_getenv(kInjection);
  const bool another = tool != nullptr && !names_this_library(tool);
  if (ncu_is_around()) {
    if (!another) unsetenv(kInjection);
    say_once(kUnderNcu);
  } else if (!is_set("LLMPROF_LOG_DIR")) {
    return;
  } else if (another) {
    say_once(kUnderAnother);
  } else {
    name_this_library(kInjection);
    name_this_library(kNvtxInjection);
  }
}

}  // namespace

bool process_is_a_profiler() {
  if (program_is("nsys")) {
    // Its threads run already: the environment, where say_once notes it, is not to be touched.
    complain(kWithinNsys);
    return true;
  }
  return program_is("nsys-launcher") || program_is("CudaGpuInfoDumper") || program_is("ncu");
}

}  // namespace llmprof::collector
