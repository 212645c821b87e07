#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capture/probes/doctor.h"

namespace llmprof::capture {

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
