#include "report/documents/documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "report/format/figures.h"
#include "report/format/words.h"
#include "report/sections/sections.h"
#include "report/writers/writers.h"

namespace llmprof::report {
namespace {

// Longer names are cut in Markdown, because they would be unreadable; profile.json has them in
// full.
constexpr size_t kLongestName = 4000;
constexpr size_t kKernelsWithShapes = 20;

std::string_view source_sentence(const Profile& profile) {
  if (on_cpu(profile)) return "On a CPU, the innermost recorded operators count as kernels.";
  using enum KernelSource;
  switch (profile.totals.source) {
    case timeline:
      return "Each kernel of the timeline counts once.";
    case profiler:
      return "A kernel profiler measured single launches (it replays them and may lock clocks): "
             "use these times to compare kernels; they are not representative of the program's "
             "speed.";
    case summary:
      return "Only totals per kernel were recorded: there are no percentiles and no busy time.";
    case none:
      break;
  }
  return "";
}

// "2 GPUs"; "2 timelines of 1 GPU" if captures of several runs are from the same GPU.
std::string devices_words(const Profile& profile) {
  const Totals& totals = profile.totals;
  std::string gpus = counted(totals.gpu_count, device_word(profile));
  if (totals.gpu_count == totals.devices.size()) return gpus;
  return fmt::format("{} of {}", counted(totals.devices.size(), "timeline"), gpus);
}

// "a span of 12.345 ms each", "spans of 12.345 to 23.456 ms".
std::string span_words(const Totals& totals) {
  const auto shorter = [](const DeviceTotals& a, const DeviceTotals& b) { return a.span < b.span; };
  const auto [least, most] =
      std::minmax_element(totals.devices.begin(), totals.devices.end(), shorter);
  const std::string shortest = text_of(ms(least->span));
  const std::string longest = text_of(ms(most->span));
  if (shortest == longest) return fmt::format("a span of {} ms each", longest);
  return fmt::format("spans of {} to {} ms", shortest, longest);
}

std::string busy_words(const Profile& profile) {
  const Totals& totals = profile.totals;
  if (!totals.gpu_busy || !totals.span) return {};
  if (totals.devices.size() > 1) {
    return fmt::format(
        "; busy with kernels {} ms, summed over {} (overlap on each counted once), of {}",
        ms(totals.gpu_busy), devices_words(profile), span_words(totals));
  }
  return fmt::format("; {} busy with kernels {} ms (overlap counted once) of a span of {} ms",
                     device_word(profile), ms(totals.gpu_busy), ms(totals.span));
}

Table full_kernel_table(std::span<const Kernel> kernels) {
  return table_of(
      "`kernel_name | #total_ms | #calls | #mean_ms | device | #share | class | short_name",
      kernels, [](const Kernel& row) {
        // Calls have no digit grouping: scripts read this table.
        return cells(shortened(row.kernel_name, kLongestName), exact_ms(row.total),
                     std::to_string(row.calls), exact_ms(row.mean), row.device, percent(row.share),
                     look_of(row.kernel_class).shown, row.short_name);
      });
}

Table class_table(const Profile& profile) {
  Table table = table_of(
      "class | #total_ms | #share of kernel time | #calls | #measured_ms | #share of the measured "
      "stages' kernel time",
      profile.classes, [](const KernelClassTotal& row) {
        const MeasuredTime time = row.measured.value_or(MeasuredTime{});
        return cells(look_of(row.kernel_class).shown, exact_ms(row.total), percent(row.share),
                     grouped(row.calls), exact_ms(time.total), percent(time.share));
      });
  const bool measured = ranks_measured_kernels(profile);
  return table.show_if(measured, "measured_ms")
      .show_if(measured, "share of the measured stages' kernel time");
}

void add_shapes(const Profile& profile, Document& document) {
  Table shapes = shape_table(profile, kKernelsWithShapes, false);
  if (shapes.rows.empty()) return;
  document.heading(2, "By launch shape");
  document.add(std::move(shapes));
  std::string note =
      "The longest kernels, split by grid and block, with the longest shapes of each; profile.json "
      "has all.";
  if (has_decode_steps(profile)) {
    note += " The time per decode step is the time in decode over its steps, warm-up excluded.";
  }
  document.paragraph(std::move(note));
}

constexpr std::string_view kCpuColumns =
    "cpu_total_ms includes operators called inside, cpu_self_ms excludes them; mean_ms is "
    "cpu_total_ms over calls. FLOPs are of all calls, as the program recorded them; the rates are "
    "over cpu_total_ms.";
constexpr std::string_view kGpuColumns =
    "CPU: cpu_total_ms includes operators called inside; cpu_self_ms excludes them and includes "
    "the CUDA API calls made inside; mean_ms is cpu_total_ms over calls. GPU: cuda_total_ms is the "
    "time of all kernels, copies and fills launched inside, cuda_self_ms of those that no inner "
    "operator launched.";

}  // namespace

std::span<const Kernel> top_n_kernels(const Profile& profile, size_t n) {
  return std::span(profile.kernels).first(std::min(n, profile.kernels.size()));
}

std::string capture_words(const Capture& capture) {
  std::string words = std::filesystem::path(capture.path).filename().string();
  words += fmt::format(" ({}", in_words(capture.format));
  if (capture.tool_version) {
    words += fmt::format(", {} {}", capture.tool.value_or(""), *capture.tool_version);
  }
  if (capture.rank) words += fmt::format(", rank {}", *capture.rank);
  return words + ")";
}

std::string captures_sentence(const Profile& profile) {
  const auto& captures = profile.context.captures;
  return fmt::format("{}: {}.", captures.size() == 1 ? "Capture" : "Captures",
                     joined(captures, "; ", capture_words));
}

std::string kernel_totals_sentence(const Profile& profile) {
  const Totals& totals = profile.totals;
  const std::string devices = joined(totals.devices, ", ", [](const auto& device) {
    return device.device + (device.name ? " (" + *device.name + ")" : "");
  });
  return fmt::format("{}, {} ms of kernel time{}{}{}.", counted(totals.kernel_count, "kernel"),
                     ms(totals.kernel_sum), busy_words(profile), devices.empty() ? "" : " on ",
                     devices);
}

std::string metric_join_sentence(const Profile& profile) {
  const auto& join = profile.totals.metric_join;
  if (!join) return {};
  const KernelSource source = profile.totals.source;
  const bool summary = source == KernelSource::summary;
  if (!summary && source != KernelSource::timeline) {
    return fmt::format("Profiled one by one: {}.", counted(join->profiled_launches, "launch"));
  }
  const std::string unmatched =
      join->unjoined == 0
          ? ""
          : fmt::format(" {} {} not matched.", grouped(join->unjoined), were(join->unjoined));
  return fmt::format(
      "{} of {} {} matched to the {}; they represent {} of its {}.{}", grouped(join->joined),
      counted(join->profiled_launches, "profiled launch"), were(join->joined),
      summary ? "kernel summary by kernel name" : "timeline by kernel name, grid, block and range",
      grouped(join->timeline_kernels_covered), counted(profile.totals.kernel_count, "kernel"),
      unmatched);
}

std::string other_kernels_sentence(const std::vector<RankedKernel>& kernels, size_t shown,
                                   std::string_view time) {
  if (shown >= kernels.size()) return {};
  double rest = 0;
  double share = 0;
  for (const RankedKernel& kernel : std::span(kernels).subspan(shown)) {
    rest += kernel.total.value;
    if (kernel.share) share += kernel.share->value;
  }
  return fmt::format("Not shown: {}, {} ms ({} of {}); profile.json has all.",
                     counted(kernels.size() - shown, "more kernel"), exact_ms(Milliseconds{rest}),
                     percent(Share{share}), time);
}

Document kernel_document(const Profile& profile, size_t top) {
  Document document;
  document.heading(1, "Kernels");
  add_damage(profile, document);
  add_selection(profile, document);
  document.paragraph(captures_sentence(profile));
  document.paragraph(kernel_totals_sentence(profile) + " " + std::string(source_sentence(profile)));
  document.paragraph(metric_join_sentence(profile));
  document.warning(hidden_graphs_sentence(profile));
  const auto shown = top_n_kernels(profile, top);
  document.add(full_kernel_table(shown));
  document.paragraph(
      other_kernels_sentence(ranked_kernels(profile, false), shown.size(), "kernel time"));
  document.paragraph(
      "total_ms is the sum over all calls, mean_ms is total_ms over calls, share is total_ms over "
      "the time of all kernels.");
  document.heading(2, "By class");
  document.add(class_table(profile));
  if (ranks_measured_kernels(profile)) {
    document.paragraph("measured_ms is the time in stages, warm-up excluded.");
  }
  add_shapes(profile, document);
  if (!profile.diagnostics.empty()) document.heading(2, "About this capture");
  document.add(diagnostic_list(profile));
  return document;
}

Result<void> write_kernel_markdown(const Profile& profile, const std::filesystem::path& path,
                                   size_t top) {
  return write_file_atomically(path, to_markdown(kernel_document(profile, top)));
}

Document operator_document(const Profile& profile) {
  Document document;
  document.heading(1, "Operators");
  add_damage(profile, document);
  add_selection(profile, document);
  if (profile.operators.empty()) {
    document.paragraph("Not available because " + why_no_operators(profile));
    return document;
  }
  document.paragraph(operator_coverage_words(profile));
  document.add(operator_table(profile, profile.operators.size()));
  document.paragraph(std::string(on_cpu(profile) ? kCpuColumns : kGpuColumns));
  return document;
}

Result<void> write_operator_markdown(const Profile& profile, const std::filesystem::path& path) {
  return write_file_atomically(path, to_markdown(operator_document(profile)));
}

}  // namespace llmprof::report
