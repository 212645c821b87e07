#include "analysis/recoverable/own_floor.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "analysis/roofline/metric_lookup.h"

namespace llmprof::analysis {
namespace {

// What the tensor cores multiplied, by ncu's spelling and by that of GpuSpec::peak_for. The
// fastest that occurs counts, since a floor must not be too high.
struct Format {
  std::string_view ncu;
  std::string_view peak;
};
constexpr std::array<Format, 3> kFastFormats = {
    {{"src_fp4", "nvfp4"}, {"src_fp8", "fp8"}, {"src_int8", "int8"}}};

std::string_view number_format(const KernelRow& row) {
  for (const Format& format : kFastFormats) {
    for (const auto& [name, metric] : row.metrics) {
      if (metric.mean > 0 && name.find(format.ncu) != std::string::npos) return format.peak;
    }
  }
  return "f16";
}

}  // namespace

std::optional<OwnFloor> own_floor(const KernelRow& row, const KernelRoofline& measured,
                                  const llm::GpuSpec& gpu) {
  const auto duration = MetricLookup(row.metrics).duration_ns();
  if (!measured.flops || !measured.bytes || !duration || measured.grids != 1) return std::nullopt;
  const std::string_view format = number_format(row);
  const auto peak = gpu.peak_for(format);
  if (!peak || *peak <= 0 || gpu.memory_bandwidth <= 0) return std::nullopt;
  // Rates times the profiler's duration are counts again, whatever its clocks were.
  const double for_bytes = *measured.bytes * *duration / gpu.memory_bandwidth;
  const double for_flops = *measured.flops * *duration / *peak;
  OwnFloor floor;
  floor.each = std::max(for_bytes, for_flops);
  profile::FindingValues values;
  if (for_bytes >= for_flops) {
    values.add("peak_bandwidth", profile::BytesPerSecond{gpu.memory_bandwidth});
    floor.rule = {make_reason(profile::ReasonKind::own_bytes_at_peak, values)};
  } else {
    values.add("peak_flops", profile::FlopsPerSecond{*peak}).add_text("format", format);
    floor.rule = {make_reason(profile::ReasonKind::own_flops_at_peak, values)};
  }
  return floor;
}

}  // namespace llmprof::analysis
