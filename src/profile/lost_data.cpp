#include "profile/lost_data.h"

#include <algorithm>
#include <array>
#include <span>

namespace llmprof::profile {
namespace {

// tests/structure/check_lost_data.py checks every warning and error against these lists.
constexpr std::array<std::string_view, 29> kLostWork = {
    "capture_without_rank",
    "collector_cupti_dropped",
    "collector_log_bad_values",
    "collector_log_damaged_chunks",
    "collector_log_damaged_records",
    "collector_log_dropped",
    "collector_log_empty",
    "collector_log_lost_definitions",
    "collector_log_lost_names",
    "collector_log_truncated",
    "collector_replays_overwritten",
    "collector_stood_down",
    "folders_unreadable",
    "input_unreadable",
    "kineto_bad_events",
    "kineto_truncated",
    "launches_without_kernels",
    "nsys_bad_rows",
    "nsys_conversion_failed",
    "nsys_csv_bad_rows",
    "nsys_csv_damaged",
    "nsys_csv_missing_column",
    "nsys_damaged_table",
    "nsys_missing_strings",
    "nsys_pending_changes",
    "rank_died",
    "rank_missing",
    "report_not_converted",
    "stage_not_traced",
};
constexpr std::array<std::string_view, 3> kLostLaunches = {"ncu_bad_rows", "ncu_file_damaged",
                                                           "ncu_no_duration"};
// nsys's own messages mostly say that it might have missed something.
constexpr std::array<std::string_view, 2> kHarmlessErrors = {"no_kernel_table", "nsys_says"};

bool holds(std::span<const std::string_view> codes, std::string_view code) {
  return std::ranges::find(codes, code) != codes.end();
}

// Whether the profile's times come from this recording. Other ones (the control run; ncu and
// torch.profiler if there is a timeline) may fail without a loss.
bool records_times(const CaptureFailure& failure, const Profile& profile) {
  if (failure.backend == "collector" || failure.backend.starts_with("rank")) return true;
  return failure.backend == "nsys" &&
         std::ranges::find(profile.context.captures, CaptureFormat::collector_log,
                           &Capture::format) == profile.context.captures.end();
}

}  // namespace

bool means_lost_data(const Diagnostic& diagnostic, KernelSource kernel_source) {
  if (diagnostic.severity == Severity::info) return false;
  if (holds(kLostWork, diagnostic.code)) return true;
  if (holds(kLostLaunches, diagnostic.code)) return kernel_source == KernelSource::profiler;
  return diagnostic.severity == Severity::error && !holds(kHarmlessErrors, diagnostic.code);
}

std::vector<Diagnostic> lost_data(const Profile& profile) {
  std::vector<Diagnostic> lost;
  for (const Diagnostic& diagnostic : profile.diagnostics) {
    if (means_lost_data(diagnostic, profile.totals.source)) lost.push_back(diagnostic);
  }
  for (const CaptureFailure& failure : profile.captures_failed) {
    if (!records_times(failure, profile)) continue;
    lost.push_back(
        {Severity::error, "capture_failed", failure.backend + ": " + failure.message, 1});
  }
  return lost;
}

}  // namespace llmprof::profile
