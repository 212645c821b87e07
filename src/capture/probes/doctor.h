#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
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

// The doctor's probes by subject; each returns its results in the doctor's order.
std::vector<Probe> probe_nvidia_tools(const DoctorOptions& options);   // nsys, ncu, importer
std::vector<Probe> probe_cupti(const DoctorOptions& options);          // the library, injection
std::vector<Probe> probe_gpus(const DoctorOptions& options);           // driver, GPUs, MIG
std::vector<Probe> probe_counters(const DoctorOptions& options);       // permission
std::vector<Probe> probe_running_tools(const DoctorOptions& options);  // DCGM, CUPTI users
std::vector<Probe> probe_sampling(const DoctorOptions& options);       // perf_event_paranoid
std::vector<Probe> probe_python(const DoctorOptions& options);     // Python, torch, transformers
std::vector<Probe> probe_own_files(const DoctorOptions& options);  // collector, workload, output

inline Probe found(std::string name, std::string detail) {
  return {std::move(name), Probe::State::found, std::move(detail), {}};
}
inline Probe missing(std::string name, std::string detail, std::string fix) {
  return {std::move(name), Probe::State::missing, std::move(detail), std::move(fix)};
}
inline Probe trouble(std::string name, std::string detail, std::string fix) {
  return {std::move(name), Probe::State::trouble, std::move(detail), std::move(fix)};
}

// A program's output on stdout and stderr, if it ends in time with exit code 0.
std::optional<std::string> answer(const DoctorOptions& options, std::vector<std::string> argv);

// A small file's text below the search's root ("proc/driver/nvidia/version"); nothing if it cannot
// be read.
std::optional<std::string> system_file(const DoctorOptions& options, const std::string& name);

}  // namespace llmprof::capture
