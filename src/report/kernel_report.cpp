#include "report/kernel_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "base/text.h"
#include "report/capture_words.h"
#include "report/markdown.h"
#include "report/numbers.h"
#include "report/sections/sections.h"
#include "report/stage_overview.h"

namespace llmprof {
namespace {

// A name longer than this is cut in Markdown, where it could not be read; profile.json has all of
// it.
constexpr size_t kLongestName = 4000;
constexpr size_t kOpenedKernels = 20;

std::string_view source_sentence(const Profile& profile) {
  if (profile.device == DeviceKind::cpu) {
    return "The kernels of a CPU are the operators that the program recorded, the innermost ones.";
  }
  switch (profile.ranking.source) {
    case KernelSource::timeline:
      return "Every kernel of the timeline counts once.";
    case KernelSource::profiler:
      return "Times are those of single launches that a kernel profiler measured (it replays them, "
             "and may lock clocks): good for comparing kernels, not for the program's speed.";
    case KernelSource::summary:
      return "Only totals per kernel were captured: no percentiles, no busy time.";
    case KernelSource::none:
      return "";
  }
  return "";
}

std::string captures_sentence(const Trace& trace) {
  std::string text = trace.captures.size() == 1 ? "Capture: " : "Captures: ";
  for (size_t i = 0; i < trace.captures.size(); ++i) {
    if (i > 0) text += "; ";
    text += capture_words(trace.captures[i]);
  }
  return text + ".";
}

std::string totals_sentence(const Profile& profile) {
  const Totals& totals = profile.totals;
  std::string text = fmt::format("{}, {} ms of kernel time", counted(totals.kernel_count, "kernel"),
                                 exact_ms(totals.kernel_sum));
  if (totals.busy && totals.span) {
    const size_t gpus = totals.devices.size();
    const std::string_view device = device_words(profile.device).device;
    text += gpus > 1 ? fmt::format(
                           "; busy with kernels {} ms, summed over {} {}s (overlap on each "
                           "counted once), of a span of {} x {} ms",
                           exact_ms(*totals.busy), gpus, device, gpus, exact_ms(*totals.span))
                     : fmt::format(
                           "; {} busy with kernels {} ms (overlap counted once) of a span of {} ms",
                           device, exact_ms(*totals.busy), exact_ms(*totals.span));
  }
  std::string devices;
  for (const DeviceTotals& device : totals.devices) {
    if (!devices.empty()) devices += ", ";
    devices += device.device;
    if (!device.name.empty()) devices += " (" + device.name + ")";
  }
  return text + (devices.empty() ? "" : " on " + devices) + ".";
}

std::string join_sentence(const MetricJoin& join, KernelSource source) {
  if (source != KernelSource::timeline) {
    return fmt::format("Profiled one by one: {}.", counted(join.profiled, "launch", "launches"));
  }
  return fmt::format(
      "{} of {} profiled launches joined the timeline by kernel name, grid, block and range; they "
      "stand for {} timeline kernels. {} did not.",
      grouped(join.joined), grouped(join.profiled), grouped(join.timeline_covered),
      grouped(join.profiled - join.joined));
}

std::string rest_sentence(const KernelRanking& ranking, size_t shown) {
  Nanoseconds rest = 0;
  for (size_t i = shown; i < ranking.rows.size(); ++i) rest += ranking.rows[i].total;
  const double share =
      ranking.total > 0 ? static_cast<double>(rest) / static_cast<double>(ranking.total) : 0;
  return fmt::format("In profile.json: {}, {} ms ({} of kernel time).",
                     counted(ranking.rows.size() - shown, "more kernel"), exact_ms(rest),
                     percent(share));
}

std::vector<std::string> diagnostic_lines(const Diagnostics& diagnostics) {
  std::vector<std::string> lines;
  for (const Diagnostic& item : diagnostics.items()) {
    std::string line =
        fmt::format("{} ({}): {}", to_string(item.severity), item.code, item.message);
    if (item.count > 1) line += fmt::format(" [{} times]", grouped(item.count));
    lines.push_back(std::move(line));
  }
  return lines;
}

Table class_table(const KernelRanking& ranking) {
  Table table;
  table.columns = {{"class"},
                   {"total_ms", Column::Kind::number},
                   {"share of kernel time", Column::Kind::number},
                   {"calls", Column::Kind::number}};
  for (const ClassRow& row : ranking.classes) {
    table.rows.push_back({std::string(to_string(row.kernel_class)), exact_ms(row.total),
                          percent(row.share), std::to_string(row.calls)});
  }
  return table;
}

}  // namespace

std::vector<KernelRecord> kernel_records(const Profile& profile) {
  std::vector<KernelRecord> records;
  records.reserve(profile.ranking.rows.size());
  for (const KernelRow& row : profile.ranking.rows) {
    records.push_back({std::string(profile.trace->strings[row.name]), row.device,
                       static_cast<double>(row.total) / 1e6, row.calls, row.mean_ns() / 1e6});
  }
  return records;
}

std::vector<KernelRecord> top_n_kernels(std::vector<KernelRecord> records, size_t n) {
  std::stable_sort(
      records.begin(), records.end(),
      [](const KernelRecord& a, const KernelRecord& b) { return a.total_ms > b.total_ms; });
  records.resize(std::min(n, records.size()));
  return records;
}

Document kernel_document(const Profile& profile, size_t top) {
  const KernelRanking& ranking = profile.ranking;
  Document document;
  document.add(Heading{1, "Kernels"});
  add_selection(profile, document);
  document.add(Paragraph{captures_sentence(*profile.trace)});
  document.add(Paragraph{totals_sentence(profile) + " " + std::string(source_sentence(profile))});
  if (profile.join) document.add(Paragraph{join_sentence(*profile.join, ranking.source)});
  if (profile.hidden_graphs) {
    document.add(Callout{Callout::Kind::warning, profile.hidden_graphs->message + "."});
  }
  Table table;
  table.columns = {{"kernel_name", Column::Kind::code},
                   {"total_ms", Column::Kind::number},
                   {"calls", Column::Kind::number},
                   {"mean_ms", Column::Kind::number},
                   {"device"},
                   {"share", Column::Kind::number},
                   {"class"},
                   {"short_name"}};
  const size_t shown = std::min(top, ranking.rows.size());
  for (size_t i = 0; i < shown; ++i) {
    const KernelRow& row = ranking.rows[i];
    table.rows.push_back(
        {shortened(profile.trace->strings[row.name], kLongestName), exact_ms(row.total),
         std::to_string(row.calls), rounded_ms(row.mean_ns()), row.device, percent(row.share),
         std::string(to_string(row.description.kernel_class)), row.description.short_name});
  }
  document.add(std::move(table));
  if (shown < ranking.rows.size()) document.add(Paragraph{rest_sentence(ranking, shown)});
  document.add(Paragraph{
      "total_ms is the sum over all calls, mean_ms is total_ms over calls, share is total_ms over "
      "the kernel time of this table (all rows)."});
  document.add(Heading{2, "By class"});
  document.add(class_table(ranking));
  if (Table shapes = shape_table(Reported(profile), kOpenedKernels, false); !shapes.rows.empty()) {
    document.add(Heading{2, "By launch shape"});
    document.add(std::move(shapes));
    document.add(Paragraph{
        "The longest kernels, opened by grid and block, the longest shapes of each; profile.json "
        "opens all. ms per token is the time in decode over its steps, warm-ups left out."});
  }
  if (!profile.diagnostics.items().empty()) {
    document.add(Heading{2, "About this capture"});
    document.add(BulletList{diagnostic_lines(profile.diagnostics)});
  }
  return document;
}

Result<void> write_kernel_markdown(const Profile& profile, const std::filesystem::path& path,
                                   size_t top) {
  return write_file_atomically(path, to_markdown(kernel_document(profile, top)));
}

Document kernel_overview(const Profile& profile, size_t top) {
  const KernelRanking& ranking = profile.ranking;
  Document document;
  document.add(Paragraph{captures_sentence(*profile.trace)});
  add_selection(profile, document);
  document.add(Paragraph{totals_sentence(profile)});
  if (profile.join) document.add(Paragraph{join_sentence(*profile.join, ranking.source)});
  const Reported reported(profile);
  add_stage_overview(reported, document);
  const bool several = profile.totals.devices.size() > 1;
  Table table;
  table.columns = {{"total_ms", Column::Kind::number, 1}, {"share", Column::Kind::number},
                   {"calls", Column::Kind::number, -2},   {"mean_ms", Column::Kind::number, -3},
                   {"class", Column::Kind::text, -1},     {"kernel", Column::Kind::code, 1}};
  if (several) table.columns.insert(table.columns.begin() + 4, Column{"device"});
  const size_t shown = std::min(top, ranking.rows.size());
  for (size_t i = 0; i < shown; ++i) {
    const KernelRow& row = ranking.rows[i];
    table.rows.push_back(
        {exact_ms(row.total), percent(row.share), grouped(row.calls), rounded_ms(row.mean_ns()),
         std::string(to_string(row.description.kernel_class)), row.description.short_name});
    if (several) table.rows.back().insert(table.rows.back().begin() + 4, row.device);
  }
  document.add(std::move(table));
  if (shown < ranking.rows.size()) document.add(Paragraph{rest_sentence(ranking, shown)});
  add_finding_overview(reported, document);
  for (std::string& words : std::vector<std::string>{
           measured_words(reported), overhead_words(profile), collector_overhead_words(profile)}) {
    if (!words.empty()) document.add(Paragraph{std::move(words)});
  }
  add_failed_captures(profile, document);
  for (const Diagnostic& item : profile.diagnostics.items()) {
    if (item.severity == Severity::info) continue;
    std::string text = item.message;
    if (item.count > 1) text += fmt::format(" [{} times]", grouped(item.count));
    document.add(Callout{Callout::Kind::warning, text});
  }
  return document;
}

}  // namespace llmprof
