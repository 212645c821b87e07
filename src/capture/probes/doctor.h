#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "capture/tools.h"

namespace llmprof::capture {

// One thing that captures need, and its state.
struct Probe {
  enum class State : uint8_t { found, missing, trouble };
  std::string name;  // "nsys", "counter permission"
  State state = State::missing;
  std::string detail;   // path and version, or what is wrong
  std::string fix;      // the exact remedy; empty if found
  bool needed = false;  // by the default run, which uses the CPU
};

// CUDA's environment variables; empty if unset.
struct CudaVariables {
  std::filesystem::path cupti;  // LLMPROF_CUPTI
  std::filesystem::path home;   // CUDA_HOME
  std::filesystem::path path;   // CUDA_PATH
  std::string library_path;     // LD_LIBRARY_PATH
  std::string injection;        // CUDA_INJECTION64_PATH
};
CudaVariables cuda_variables_here();

struct DoctorOptions {
  ToolSearch search = tool_search_here();  // its root also contains /proc and libraries
  CudaVariables cuda = cuda_variables_here();
  std::filesystem::path output_folder = ".";  // to check for disk space
  std::string python = "python3";             // for the Hugging Face workload
  std::filesystem::path program_folder;       // of llmprof; empty: this program's own
  std::chrono::milliseconds timeout = std::chrono::seconds(20);  // for one query to one program
};

// nsys, ncu, QdstrmImporter, CUPTI, another library injected into CUDA, driver, GPUs, MIG, counter
// permission, DCGM, other users of CUPTI, CPU sampling, Python and torch, the collector and its
// CUDA tracing, the CPU workload, the output folder; in that order. Slow ones run concurrently.
std::vector<Probe> probe_machine(const DoctorOptions& options);

// Whether the default run has everything it needs.
bool can_run_on_cpu(const std::vector<Probe>& probes);

// What CUDA tracing (CUPTI) needs on this machine.

// Whether CUDA can load the library into a program: it has the entry point that CUDA calls.
bool has_cuda_half(const std::filesystem::path& collector);
std::string cuda_half_remedy();

bool has_nvidia_driver(const ToolSearch& search);

// The libcupti for a program that has not loaded its own: only LLMPROF_CUPTI if it is set;
// otherwise from CUDA_HOME, CUDA_PATH, the loader's path, the usual places, next to nvcc, or
// Python's packages (which bring their own).
std::optional<std::filesystem::path> find_cupti(const DoctorOptions& options);
// "2025.3.1" or "13", from the file's name; empty if it has none.
std::string cupti_version(const std::filesystem::path& library);

}  // namespace llmprof::capture
