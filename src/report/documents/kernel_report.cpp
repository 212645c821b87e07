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
#include "report/sections/ranked_kernels.h"
#include "report/sections/section_words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

// A name longer than this is cut in Markdown, where it could not be read; profile.json has all of
// it.
constexpr size_t kLongestName = 4000;
constexpr size_t kKernelsWithShapes = 20;

std::string_view source_sentence(const profile::Profile& profile) {
  if (on_cpu(profile)) {
    return "The kernels of a CPU are the innermost operators that the program recorded.";
  }
  using enum profile::KernelSource;
  switch (profile.totals.source) {
    case timeline:
      return "Every kernel of the timeline counts once.";
    case profiler:
      return "Times are of single launches that a kernel profiler measured (it replays them and "
             "may lock clocks): use them to compare kernels; they are not representative of the "
             "program's speed.";
    case summary:
      return "Only totals per kernel were recorded: there are no percentiles and no busy time.";
    case none:
      break;
  }
  return "";
}

// "2 GPUs"; "2 timelines of 1 GPU" where captures of several runs hold the same one.
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

Table kernel_table(std::span<const profile::Kernel> kernels) {
  Table table{columns(
      "`kernel_name | #total_ms | #calls | #mean_ms | device | #share | class | short_name")};
  for (const profile::Kernel& row : kernels) {
    // Calls are bare digits here: scripts read this table.
    table.rows.push_back({shortened(row.kernel_name, kLongestName), exact_ms(row.total),
                          std::to_string(row.calls), exact_ms(row.mean), row.device,
                          percent(row.share), std::string(shown_name(row.kernel_class)),
                          row.short_name});
  }
  return table;
}

Table class_table(const profile::Profile& profile) {
  const bool measured = ranks_measured_kernels(profile);
  Table table{columns("class | #total_ms | #share of kernel time | #calls")};
  if (measured) {
    table.columns.push_back(number_column("measured_ms"));
    table.columns.push_back(number_column("share of the measured stages' kernel time"));
  }
  for (const profile::KernelClassTotal& row : profile.classes) {
    table.rows.push_back({std::string(shown_name(row.kernel_class)), exact_ms(row.total),
                          percent(row.share), grouped(row.calls)});
    if (!measured) continue;
    const profile::MeasuredTime time = row.measured.value_or(profile::MeasuredTime{});
    table.rows.back().emplace_back(exact_ms(time.total));
    table.rows.back().emplace_back(percent(time.share));
  }
  return table;
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

void add_capture_diagnostics(const profile::Profile& profile, Document& document) {
  if (profile.diagnostics.empty()) return;
  std::vector<std::string> lines;
  lines.reserve(profile.diagnostics.size());
  for (const profile::Diagnostic& item : profile.diagnostics)
    lines.push_back(diagnostic_line(item));
  document.add(Heading{2, "About this capture"});
  document.add(BulletList{std::move(lines)});
}

}  // namespace

std::span<const profile::Kernel> top_n_kernels(const profile::Profile& profile, size_t n) {
  return std::span(profile.kernels).first(std::min(n, profile.kernels.size()));
}

std::string kernel_totals_sentence(const profile::Profile& profile) {
  const profile::Totals& totals = profile.totals;
  std::string devices;
  for (const profile::DeviceTotals& device : totals.devices) {
    if (!devices.empty()) devices += ", ";
    devices += device.device;
    if (device.name) devices += " (" + *device.name + ")";
  }
  return fmt::format("{}, {} ms of kernel time{}{}{}.", counted(totals.kernel_count, "kernel"),
                     ms(totals.kernel_sum), busy_words(profile), devices.empty() ? "" : " on ",
                     devices);
}

std::string metric_join_sentence(const profile::Profile& profile) {
  const auto& join = profile.totals.metric_join;
  if (!join) return {};
  const profile::KernelSource source = profile.totals.source;
  const std::string unmatched =
      join->unjoined == 0
          ? ""
          : fmt::format(" {} {} not matched.", grouped(join->unjoined), were(join->unjoined));
  if (source == profile::KernelSource::summary) {
    return fmt::format(
        "{} of {} {} matched to the kernel summary by kernel name; they represent {} of its {}.{}",
        grouped(join->joined), counted(join->profiled_launches, "profiled launch"),
        were(join->joined), grouped(join->timeline_kernels_covered),
        counted(profile.totals.kernel_count, "kernel"), unmatched);
  }
  if (source != profile::KernelSource::timeline) {
    return fmt::format("Profiled one by one: {}.", counted(join->profiled_launches, "launch"));
  }
  return fmt::format(
      "{} of {} {} matched to the timeline by kernel name, grid, block and range; they represent "
      "{} of its {}.{}",
      grouped(join->joined), counted(join->profiled_launches, "profiled launch"),
      were(join->joined), grouped(join->timeline_kernels_covered),
      counted(profile.totals.kernel_count, "kernel"), unmatched);
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
  document.add(kernel_table(shown));
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
  add_capture_diagnostics(profile, document);
  return document;
}

Result<void> write_kernel_markdown(const profile::Profile& profile,
                                   const std::filesystem::path& path, size_t top) {
  return write_file_atomically(path, to_markdown(kernel_document(profile, top)));
}

}  // namespace llmprof::report
