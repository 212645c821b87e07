#include "trace/name_kinds.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/text.h"

namespace llmprof::trace {
namespace {

// Longest first: "cuda" starts with "cu".
constexpr std::array<std::string_view, 3> kVendorPrefixes = {"cuda", "cu", "hip"};
constexpr std::array<std::string_view, 3> kLaunches = {"LaunchKernel", "LaunchCooperativeKernel",
                                                       "LaunchGrid"};
constexpr std::array<std::string_view, 7> kAllocations = {
    "Malloc", "Free", "MemAlloc", "MemFree", "HostAlloc", "MemHostAlloc", "HostFree"};

std::string_view without_vendor(std::string_view name) {
  for (const std::string_view prefix : kVendorPrefixes) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return {};
}

using enum CollectiveKind;

// Parts of names in lower case, letters and digits only. The first one found decides: "reduce" is
// part of "allreduce".
constexpr std::pair<std::string_view, CollectiveKind> kCollectiveWords[] = {
    {"allreduce", all_reduce},
    {"reducescatter", reduce_scatter},
    {"allgather", all_gather},
    {"alltoall|all2all|a2a", all_to_all},
    {"sendrecv", CollectiveKind::other},
    {"broadcast|bcast", broadcast},
    {"barrier", barrier},
    {"gather", gather},
    {"scatter", scatter},
    {"reduce", reduce},
    {"send", send},
    {"recv|receive", receive},
    {"coalesced|nccl", CollectiveKind::other}};

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
  const bool allocates =
      std::any_of(kAllocations.begin(), kAllocations.end(),
                  [&](std::string_view start) { return function.starts_with(start); });
  return allocates ? ApiKind::allocation : ApiKind::other;
}

std::optional<CollectiveKind> collective_kind(std::string_view name) {
  std::string plain;
  // Template arguments say nothing about the kind.
  for (const char c : name.substr(0, name.find('<'))) {
    if (is_identifier(c) && c != '_') plain += to_lower(c);
  }
  for (const auto& [words, kind] : kCollectiveWords) {
    for (const std::string_view word : split(words, '|')) {
      if (contains(plain, word)) return kind;
    }
  }
  if (plain == "wait") return std::nullopt;
  return CollectiveKind::other;
}

}  // namespace llmprof::trace
