#include "capture/probes/cuda_here.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/files.h"
#include "base/text.h"

namespace llmprof::capture {
namespace fs = std::filesystem;
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// Device nodes stay, and nvidia-modprobe makes them, where no driver is loaded: those cannot be
// opened by anybody.
bool is_there_with_a_driver(const fs::path& file) {
  const int opened = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (opened < 0) return errno == EACCES || errno == EPERM || errno == EBUSY;
  ::close(opened);
  return true;
}

}  // namespace

CudaVariables cuda_variables_here() {
  return {variable("LLMPROF_CUPTI"), variable("CUDA_HOME"), variable("CUDA_PATH"),
          variable("LD_LIBRARY_PATH"), variable("CUDA_INJECTION64_PATH")};
}

bool has_cuda_half(const fs::path& collector) {
  // The end belongs to it: another entry point's name begins with the same letters.
  constexpr std::string_view kEntryPoint{"InitializeInjection\0", 20};
  return contains(file_content(collector).value_or(""), kEntryPoint);
}

std::string cuda_half_remedy() {
  return "use a release's bundle, whose collector has it; or install the headers of the CUDA "
         "toolkit (cupti.h) and build again: they are looked for in CUDA_HOME and "
         "/usr/local/cuda*, or name their folder: cmake --preset release "
         "-DLLMPROF_CUPTI_INCLUDE=FOLDER";
}

bool has_nvidia_driver(const ToolSearch& search) {
  // Containers show one and hide another; the last is that of Windows' subsystem for Linux.
  constexpr std::array kTraces = {"proc/driver/nvidia/version", "dev/nvidiactl", "dev/nvidia0",
                                  "dev/dxg"};
  return std::any_of(kTraces.begin(), kTraces.end(), [&](const char* trace) {
    return is_there_with_a_driver(search.root / trace);
  });
}

}  // namespace llmprof::capture
