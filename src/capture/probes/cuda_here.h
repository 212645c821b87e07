#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "capture/probes/doctor.h"

namespace llmprof::capture {

// What CUDA tracing (CUPTI) needs on this machine.

// A library that CUDA can load into a program, by the entry point which CUDA calls.
bool has_cuda_half(const std::filesystem::path& collector);
std::string cuda_half_remedy();

bool has_nvidia_driver(const ToolSearch& search);

// The libcupti for a program that has not loaded one of its own: LLMPROF_CUPTI, that one or none;
// else by CUDA_HOME, CUDA_PATH, the loader's path, in the usual places, beside nvcc, in Python's
// packages (which bring their own).
std::optional<std::filesystem::path> find_cupti(const DoctorOptions& options);
// "2025.3.1" or "13", as the file's name says; empty where it does not.
std::string cupti_version(const std::filesystem::path& library);

}  // namespace llmprof::capture
