#include "trace/api_kind.h"

#include <algorithm>
#include <array>

namespace llmprof::trace {
namespace {

// Longest first: "cuda" starts with "cu".
constexpr std::array<std::string_view, 3> kVendorPrefixes = {"cuda", "cu", "hip"};
constexpr std::array<std::string_view, 3> kLaunches = {"LaunchKernel", "LaunchCooperativeKernel",
                                                       "LaunchGrid"};
constexpr std::array<std::string_view, 7> kAllocations = {
    "Malloc", "Free", "MemAlloc", "MemFree", "HostAlloc", "MemHostAlloc", "HostFree"};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string_view without_vendor(std::string_view name) {
  for (const std::string_view prefix : kVendorPrefixes) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return {};
}

}  // namespace

ApiKind api_kind(std::string_view name) {
  if (contains(name, "GraphLaunch")) return ApiKind::graph_launch;
  if (contains(name, "StreamBeginCapture")) return ApiKind::capture_begin;
  if (contains(name, "StreamEndCapture")) return ApiKind::capture_end;
  if (contains(name, "Synchronize")) return ApiKind::synchronization;
  const std::string_view function = without_vendor(name);
  if (function.starts_with("Memcpy")) {
    return contains(function, "Async") ? ApiKind::copy : ApiKind::blocking_copy;
  }
  // "Launch" is CUDA's first launch function, in driver and runtime. HIP puts the launched object
  // first: hipModuleLaunchKernel.
  if (function == "Launch" || function.starts_with("Launch_v") ||
      std::any_of(kLaunches.begin(), kLaunches.end(),
                  [&](std::string_view launch) { return contains(function, launch); })) {
    return ApiKind::launch;
  }
  if (std::any_of(kAllocations.begin(), kAllocations.end(),
                  [&](std::string_view start) { return function.starts_with(start); })) {
    return ApiKind::allocation;
  }
  return ApiKind::other;
}

}  // namespace llmprof::trace
