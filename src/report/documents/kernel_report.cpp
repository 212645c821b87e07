#include "report/documents/documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "report/format/figures.h"
#include "report/format/part_names.h"
#include "report/markdown/markdown.h"
#include "report/sections/section_words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

// Longer names are cut in Markdown, because they would be unreadable; profile.json has them in
// full.
constexpr size_t kLongestName = 4000;
constexpr size_t kKernelsWithShapes = 20;

std::string_view source_sentence(const profile::Profile& profile) {
  if (on_cpu(profile)) {
    return "On a CPU, the innermost recorded operators count as kernels.";
  }
  using enum profile::KernelSource;
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
std::string devices_words(const profile::Profile& profile) {
  const profile::Totals& totals = profile.totals;
  std::string gpus = counted(totals.gpu_count, device_word(profile));
  if (totals.gpu_count == totals.devices.size()) return gpus;
  return fmt::format("{} of {}", counted(totals.devices.size(), "timeline"), gpus);
}

// "a span of 12.345 ms each", "spans of 12.345 to 23.456 ms".
std::string span_words(const profile::Totals& totals) {
  const auto shorter = [](const profile::DeviceTotals& a, const profile::DeviceTotals& b) {
    return a.span < b.span;
  };
  const auto [least, most] =
      std::minmax_element(totals.devices.begin(), totals.devices.end(), shorter);
  const std::string shortest = text_of(ms(least->span));
  const std::string longest = text_of(ms(most->span));
  if (shortest == longest) return fmt::format("a span of {} ms each", longest);
  return fmt::format("spans of {} to {} ms", shortest, longest);
}

std::string busy_words(const profile::Profile& profile) {
  const profile::Totals& totals = profile.totals;
  if (!totals.gpu_busy || !totals.span) return {};
  if (totals.devices.size() > 1) {
    return fmt::format(
        "; busy with kernels {} ms, summed over {} (overlap on each counted once), of {}",
        ms(totals.gpu_busy), devices_words(profile), span_words(totals));
  }
  return fmt::format("; {} busy with kernels {} ms (overlap counted once) of a span of {} ms",
                     device_word(profile), ms(totals.gpu_busy), ms(totals.span));
}

Table full_kernel_table(std::span<const profile::Kernel> kernels) {
  return table_of(
      "`kernel_name | #total_ms | #calls | #mean_ms | device | #share | class | short_name",
      kernels, [](const profile::Kernel& row) {
        // Calls have no digit grouping: scripts read this table.
        return cells(shortened(row.kernel_name, kLongestName), exact_ms(row.total),
                     std::to_string(row.calls), exact_ms(row.mean), row.device, percent(row.share),
                     shown_name(row.kernel_class), row.short_name);
      });
}

Table class_table(const profile::Profile& profile) {
  Table table = table_of(
      "class | #total_ms | #share of kernel time | #calls | #measured_ms | #share of the measured "
      "stages' kernel time",
      profile.classes, [](const profile::KernelClassTotal& row) {
        const profile::MeasuredTime time = row.measured.value_or(profile::MeasuredTime{});
        return cells(shown_name(row.kernel_class), exact_ms(row.total), percent(row.share),
                     grouped(row.calls), exact_ms(time.total), percent(time.share));
      });
  const bool measured = ranks_measured_kernels(profile);
  return table.show_if(measured, "measured_ms")
      .show_if(measured, "share of the measured stages' kernel time");
}

void add_shapes(const profile::Profile& profile, Document& document) {
  Table shapes = shape_table(profile, kKernelsWithShapes, false);
  if (shapes.rows.empty()) return;
  document.add(Heading{2, "By launch shape"});
  document.add(std::move(shapes));
  std::string note =
      "The longest kernels, split by grid and block, with the longest shapes of each; profile.json "
      "has all.";
  if (has_decode_steps(profile)) {
    note += " The time per decode step is the time in decode over its steps, warm-up excluded.";
  }
  document.add(Paragraph{std::move(note)});
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

std::span<const profile::Kernel> top_n_kernels(const profile::Profile& profile, size_t n) {
  return std::span(profile.kernels).first(std::min(n, profile.kernels.size()));
}

std::string capture_words(const profile::Capture& capture) {
  std::string words = std::filesystem::path(capture.path).filename().string();
  words += fmt::format(" ({}", shown_text(capture.format));
  if (capture.tool_version) {
    words += fmt::format(", {} {}", capture.tool.value_or(""), *capture.tool_version);
  }
  if (capture.rank) words += fmt::format(", rank {}", *capture.rank);
  return words + ")";
}

std::string captures_sentence(const profile::Profile& profile) {
  const auto& captures = profile.context.captures;
  return fmt::format("{}: {}.", captures.size() == 1 ? "Capture" : "Captures",
                     joined(captures, "; ", capture_words));
}

std::string kernel_totals_sentence(const profile::Profile& profile) {
  const profile::Totals& totals = profile.totals;
  const std::string devices = joined(totals.devices, ", ", [](const auto& device) {
    return device.device + (device.name ? " (" + *device.name + ")" : "");
  });
  return fmt::format("{}, {} ms of kernel time{}{}{}.", counted(totals.kernel_count, "kernel"),
                     ms(totals.kernel_sum), busy_words(profile), devices.empty() ? "" : " on ",
                     devices);
}

std::string metric_join_sentence(const profile::Profile& profile) {
  const auto& join = profile.totals.metric_join;
  if (!join) return {};
  const profile::KernelSource source = profile.totals.source;
  const bool summary = source == profile::KernelSource::summary;
  if (!summary && source != profile::KernelSource::timeline) {
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

std::string other_kernels_sentence(const profile::Profile& profile, size_t shown) {
  if (shown >= profile.kernels.size()) return {};
  Nanoseconds rest = 0;
  double share = 0;
  for (const profile::Kernel& row : std::span(profile.kernels).subspan(shown)) {
    rest += row.total_ns.value;
    share += row.share.value;
  }
  return fmt::format("Not shown: {}, {} ms ({} of kernel time); profile.json has all.",
                     counted(profile.kernels.size() - shown, "more kernel"),
                     exact_ms(profile::to_milliseconds(rest)), percent(profile::Share{share}));
}

Document kernel_document(const profile::Profile& profile, size_t top) {
  Document document;
  document.add(Heading{1, "Kernels"});
  add_damage(profile, document);
  add_selection(profile, document);
  document.add(Paragraph{captures_sentence(profile)});
  document.add(
      Paragraph{kernel_totals_sentence(profile) + " " + std::string(source_sentence(profile))});
  document.add(Paragraph{metric_join_sentence(profile)});
  document.add(Callout{Callout::Kind::warning, hidden_graphs_sentence(profile)});
  const auto shown = top_n_kernels(profile, top);
  document.add(full_kernel_table(shown));
  document.add(Paragraph{other_kernels_sentence(profile, shown.size())});
  document.add(Paragraph{
      "total_ms is the sum over all calls, mean_ms is total_ms over calls, share is total_ms over "
      "the time of all kernels."});
  document.add(Heading{2, "By class"});
  document.add(class_table(profile));
  if (ranks_measured_kernels(profile)) {
    document.add(Paragraph{"measured_ms is the time in stages, warm-up excluded."});
  }
  add_shapes(profile, document);
  if (!profile.diagnostics.empty()) document.add(Heading{2, "About this capture"});
  document.add(diagnostic_list(profile));
  return document;
}

Result<void> write_kernel_markdown(const profile::Profile& profile,
                                   const std::filesystem::path& path, size_t top) {
  return write_file_atomically(path, to_markdown(kernel_document(profile, top)));
}

Document operator_document(const profile::Profile& profile) {
  Document document;
  document.add(Heading{1, "Operators"});
  add_damage(profile, document);
  add_selection(profile, document);
  if (profile.operators.empty()) {
    document.add(Paragraph{"Not available because " + why_no_operators(profile)});
    return document;
  }
  document.add(Paragraph{operator_coverage_words(profile)});
  document.add(operator_table(profile, profile.operators.size()));
  document.add(Paragraph{std::string(on_cpu(profile) ? kCpuColumns : kGpuColumns)});
  return document;
}

Result<void> write_operator_markdown(const profile::Profile& profile,
                                     const std::filesystem::path& path) {
  return write_file_atomically(path, to_markdown(operator_document(profile)));
}

}  // namespace llmprof::report
