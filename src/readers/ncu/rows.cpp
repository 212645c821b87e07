#include "readers/ncu/rows.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace llmprof::readers {

std::vector<trace::KernelRecord> kernels_from_ncu_rows(const NcuRows& rows,
                                                       std::string_view device) {
  const trace::Trace& trace = rows.trace;
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
  std::vector<trace::KernelRecord> records;
  for (const auto& [key, total] : totals) {
    constexpr double kNanosecondsPerMs = 1e6;
    trace::KernelRecord record;
    record.kernel_name = trace.strings[key.first];
    record.device = device.empty()
                        ? "cuda:" + std::to_string(trace.devices[key.second.index()].ordinal)
                        : std::string(device);
    record.total_ms = static_cast<double>(total.time) / kNanosecondsPerMs;
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

Result<void> read_ncu_file(const std::filesystem::path& path, std::string_view format, NcuPass pass,
                           trace::TraceBuilder& builder) {
  Result<NcuLaunches> launches = pass(path, DecimalConvention::point);
  if (!launches) return fail_with(launches.error());
  if (launches->other_convention > 0) {
    Result<NcuLaunches> comma = pass(path, DecimalConvention::comma);
    if (comma && comma->other_convention < launches->other_convention) launches = std::move(comma);
  }
  return std::move(*launches).write(path, format, builder);
}

Result<NcuRows> parse_ncu_file(const std::filesystem::path& path, const Reader& reader) {
  trace::TraceBuilder builder;
  if (auto done = reader.read(path, builder); !done) return fail_with(done.error());
  return NcuRows{std::move(builder).freeze()};
}

}  // namespace llmprof::readers
