#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "readers/shared/reader.h"

namespace llmprof::readers {

// One kernel's share of a profile, as the seed project defines it. `mean_ms` is total_ms over
// max(calls, 1).
struct KernelRecord {
  std::string kernel_name;
  std::string device;
  double total_ms = 0;
  uint64_t calls = 0;
  double mean_ms = 0;
};

// One record per kernel name, longest total first, then by name. `device` is the label of all
// records ("cuda:0"); if it is empty, each launch has its own, "cuda:N", and GPUs have separate
// records. A launch whose duration was not measured counts as a call and adds no time.
inline std::vector<KernelRecord> kernels_from_ncu_rows(const trace::Trace& trace,
                                                       std::string_view device) {
  struct Total {
    Nanoseconds time = 0;
    uint64_t calls = 0;
  };
  std::map<std::pair<trace::StringId, trace::DeviceId>, Total> totals;
  for (size_t i = 0; i < trace.profiled_launches.size(); ++i) {
    const trace::ProfiledIdentity& identity = trace.identities[trace.profiled_launches.identity[i]];
    Total& total = totals[{identity.name, device.empty() ? identity.device : trace::DeviceId()}];
    total.time += std::max<Nanoseconds>(trace.profiled_launches.duration[i], 0);
    ++total.calls;
  }
  std::vector<KernelRecord> records;
  for (const auto& [key, total] : totals) {
    KernelRecord record;
    record.kernel_name = trace.strings[key.first];
    record.device = device.empty()
                        ? "cuda:" + std::to_string(trace.devices[key.second.index()].ordinal)
                        : std::string(device);
    record.total_ms = static_cast<double>(total.time) / kNanosecondsPerMillisecond;
    record.calls = total.calls;
    record.mean_ms = record.total_ms / static_cast<double>(std::max<uint64_t>(total.calls, 1));
    records.push_back(std::move(record));
  }
  std::sort(records.begin(), records.end(), [](const auto& a, const auto& b) {
    return std::tie(b.total_ms, a.kernel_name, a.device) <
           std::tie(a.total_ms, b.kernel_name, b.device);
  });
  return records;
}

// Reads a single file.
inline Result<trace::Trace> parse_ncu_file(const std::filesystem::path& path,
                                           const Reader& reader) {
  trace::TraceBuilder builder;
  if (auto done = reader.read(path, builder); !done) return fail_with(done.error());
  return std::move(builder).freeze();
}

}  // namespace llmprof::readers
