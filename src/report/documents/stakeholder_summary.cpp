#include "report/documents/documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "report/documents/add_plot.h"
#include "report/format/figures.h"
#include "report/format/part_names.h"
#include "report/format/sentences.h"
#include "report/markdown/markdown.h"
#include "report/sections/reasons.h"
#include "report/sections/section_words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

constexpr size_t kShownRows = 10;

Paragraph not_available(const std::string& reason) { return {"Not available because " + reason}; }

void add_executive_summary(const profile::Profile& profile, Document& document) {
  document.add(Heading{2, "Executive Summary"});
  std::string text;
  for (const std::string& each : executive_sentences(profile)) {
    if (!text.empty()) text += ' ';
    text += each;
  }
  document.add(Paragraph{text});
}

// Rows of a name and a value; one whose value is not known is left out.
class Facts {
 public:
  void add(std::string_view what, const std::optional<std::string>& value) {
    if (value && !value->empty()) table_.rows.push_back({std::string(what), *value});
  }
  void add(std::string_view what, Figure value) {
    table_.rows.push_back({std::string(what), value});
  }
  void add_count(std::string_view what, const std::optional<uint64_t>& value,
                 const std::optional<std::string>& source) {
    if (value) add(what, token_count_words(*value, source));
  }
  [[nodiscard]] Table take() {
    table_.columns = columns("what | value");
    return std::move(table_);
  }

 private:
  Table table_;
};

void add_environment(const profile::Profile& profile, Document& document) {
  Facts facts;
  for (const profile::DeviceTotals& device : profile.totals.devices) {
    facts.add(device_word(profile),
              device.name ? fmt::format("{} ({})", *device.name, device.device) : device.device);
  }
  for (const profile::Capture& capture : profile.context.captures) {
    facts.add("capture", capture_words(capture));
    facts.add("driver", capture.driver);
    facts.add("CUDA", capture.cuda);
  }
  if (!on_cpu(profile)) facts.add("engine", engine_words(profile));
  if (profile.model) {
    facts.add("model", profile.model->name);
    facts.add("parameters", grouped(profile.model->params));
    facts.add("weights", profile.model->weights_dtype);
  } else {
    facts.add("model", "not given (--model)");
  }
  if (profile.stages_found.confidence) {
    facts.add("stages",
              fmt::format("detected in the kernel sequence, {}: {}", confidence_words(profile),
                          clause(profile.stages_found.reason.value_or(""))));
  }
  if (!profile.stages.empty()) {
    const profile::Workload& workload = profile.workload;
    facts.add_count("batch (sequences)", workload.batch, workload.batch_source);
    facts.add_count("prompt tokens per sequence", workload.prompt_tokens,
                    workload.prompt_tokens_source);
    facts.add_count("new tokens per sequence", workload.new_tokens, workload.new_tokens_source);
  }
  document.add(Heading{2, "Environment"});
  document.add(facts.take());
}

void add_aggregates(const profile::Profile& profile, Document& document) {
  document.add(Heading{2, "Aggregates"});
  const bool unprofiled = profile.stage1.has_value();
  Table table{columns("metric")};
  if (unprofiled) table.columns.push_back(number_column("unprofiled"));
  table.columns.push_back(number_column("this capture"));
  if (unprofiled) table.columns.push_back(number_column("capture over unprofiled"));
  for (AggregateRow& row : map_stage1_metrics_to_stats(profile)) {
    if (unprofiled) {
      table.rows.push_back(
          {row.metric, row.unprofiled, row.captured, row.captured_over_unprofiled});
    } else {
      table.rows.push_back({row.metric, row.captured});
    }
  }
  document.add(std::move(table));
  for (std::string& words : std::vector<std::string>{
           measured_words(profile), overhead_words(profile), collector_overhead_words(profile)}) {
    if (!words.empty()) document.add(Paragraph{std::move(words)});
  }
  if (!unprofiled) {
    document.add(Paragraph{
        "Unprofiled timings are missing: the inputs contain no metrics.json of the workload "
        "(`llmprof run` records one)."});
  }
}

void add_stage_timings_table(const profile::Profile& profile, Document& document) {
  document.add(Heading{2, "Per-Stage Timings"});
  if (profile.stages.empty()) {
    document.add(not_available(why_no_stages(profile)));
    return;
  }
  const bool serving = is_serving(profile);
  Table table{{text_column("stage"),
               number_column(serving ? "engine steps measured" : "instances measured"),
               number_column("wall, mean ± std (ms)"), number_column("p50 (ms)"),
               number_column("min to max (ms)"), number_column("share of all stages' wall time"),
               number_column("busy share of wall time")}};
  if (!serving) table.columns.push_back(number_column("steps"));
  for (const profile::Stage& stage : profile.stages) {
    const profile::StageShown& shown = stage.shown;
    std::vector<Cell> row = {stage.name,
                             grouped(shown.wall.count),
                             mean_and_std(shown.wall),
                             ms(shown.wall.p50),
                             range_ms(shown.wall),
                             percent(shown.share_of_stage_time),
                             percent(shown.gpu_busy_share_of_wall)};
    if (!serving) row.push_back(step_count_cell(stage));
    table.rows.push_back(std::move(row));
  }
  document.add(std::move(table));
  std::vector<std::string> notes;
  notes.reserve(profile.stage_notes.size());
  for (const profile::StageNote& note : profile.stage_notes) {
    notes.push_back(fmt::format("{}, inside {}: {} ms of kernel time in {}.", note.name, note.stage,
                                ms(note.gpu_sum), counted(note.kernel_count, "kernel")));
  }
  if (!notes.empty()) document.add(BulletList{std::move(notes)});
}

std::optional<profile::Share> unprofiled_mfu(const profile::Profile& profile,
                                             const std::string& stage) {
  if (!profile.stage1) return std::nullopt;
  for (const profile::Stage1Stage& own : profile.stage1->stages) {
    if (own.name == stage) return own.mfu;
  }
  return std::nullopt;
}

// Why a stage has no figure, each reason once.
std::vector<std::string> missing_figures(const profile::Profile& profile) {
  std::vector<std::string> lines;
  const auto& for_all = profile.utilization.why_not;
  if (for_all) lines.push_back("Not available because " + clause(*for_all));
  for (const profile::Stage& stage : profile.stages) {
    if (!stage.why_not || stage.why_not == for_all) continue;
    lines.push_back(
        fmt::format("{}: not available because {}", stage.name, clause(*stage.why_not)));
  }
  return lines;
}

std::string mfu_words(const profile::Profile& profile) {
  const bool cpu = on_cpu(profile);
  const bool by_model = profile.model || !cpu;
  return fmt::format(
      "MFU: FLOPs of {0} over what the {2}'s {3} peak could compute in that time. MBU: {1} bytes "
      "over what its {4} memory bandwidth could move. On wall time, and on the time the {2} was "
      "busy.",
      by_model ? "the model" : "the recorded operators", by_model ? "the model's" : "their",
      device_word(profile), cpu ? "measured" : "dense", cpu ? "measured" : "peak");
}

void add_mfu(const profile::Profile& profile, Document& document) {
  document.add(Heading{2, "MFU"});
  const bool unprofiled =
      profile.stage1 &&
      std::any_of(profile.stage1->stages.begin(), profile.stage1->stages.end(),
                  [](const profile::Stage1Stage& stage) { return stage.mfu.has_value(); });
  Table table{columns(
      "stage | #MFU on wall | #MFU on busy | #MBU on wall | #MBU on busy | bound by | #lower bound "
      "(ms)")};
  if (unprofiled) table.columns.push_back(number_column("MFU, unprofiled"));
  bool known = unprofiled;
  for (const profile::Stage& stage : profile.stages) {
    const profile::StageShown& shown = stage.shown;
    known = known || shown.mfu.wall || shown.mbu.wall;
    std::vector<Cell> row = {stage.name,
                             percent(shown.mfu.wall),
                             percent(shown.mfu.gpu_busy),
                             percent(shown.mbu.wall),
                             percent(shown.mbu.gpu_busy),
                             bound_words(stage),
                             ms(known_floor(stage))};
    if (unprofiled) row.emplace_back(percent(unprofiled_mfu(profile, stage.name)));
    table.rows.push_back(std::move(row));
  }
  if (!known || table.rows.empty()) {
    document.add(not_available(why_no_utilization(profile)));
    return;
  }
  document.add(std::move(table));
  document.add(Paragraph{mfu_words(profile)});
  if (auto lines = missing_figures(profile); !lines.empty()) {
    document.add(BulletList{std::move(lines)});
  }
}

void add_takeaways(const profile::Profile& profile, Document& document) {
  document.add(Heading{2, "Stage Takeaways"});
  if (profile.stages.empty()) {
    document.add(not_available("there are no stages (see the per-stage timings)."));
    return;
  }
  Table table{columns("stage | what the numbers mean")};
  for (StageTakeaway& takeaway : heuristic_msgs(profile)) {
    table.rows.push_back({std::move(takeaway.stage), std::move(takeaway.message)});
  }
  document.add(std::move(table));
}

void add_top_operators(const profile::Profile& profile, Document& document) {
  document.add(Heading{2, "Top Operators"});
  if (profile.operators.empty()) {
    document.add(not_available(why_no_operators(profile)));
    return;
  }
  document.add(operator_table(profile, kShownRows));
}

// The class of a kernel that kernels_all_devices names.
std::string class_of(const profile::Profile& profile, const std::string& kernel_name) {
  const auto found = std::find_if(
      profile.kernels.begin(), profile.kernels.end(),
      [&](const profile::Kernel& kernel) { return kernel.kernel_name == kernel_name; });
  if (found == profile.kernels.end()) return std::string(kMissing);
  return std::string(shown_name(found->kernel_class));
}

void add_top_kernel_table(const profile::Profile& profile, Document& document) {
  document.add(Heading{2, "Top Kernels"});
  if (profile.kernels_all_devices.empty()) {
    document.add(not_available("the capture holds no kernel."));
    return;
  }
  const auto& measured = profile.measured_kernels_all_devices;
  Table table{{text_column("kernel"), text_column("class"), number_column("total_ms"),
               number_column(measured.empty() ? "share of kernel time"
                                              : "share of the measured stages' kernel time"),
               number_column("calls"), number_column("mean_ms"), text_column("device")}};
  for (const profile::KernelOnAllDevices& kernel :
       measured.empty() ? profile.kernels_all_devices : measured) {
    table.rows.push_back({kernel.short_name, class_of(profile, kernel.kernel_name),
                          exact_ms(kernel.total), percent(kernel.share), grouped(kernel.calls),
                          exact_ms(kernel.mean), kernel.devices});
  }
  document.add(std::move(table));
}

void add_hidden_graphs_row(const profile::HiddenGraphs& hidden, Table& table) {
  const std::string missing(kMissing);
  table.rows.push_back(
      {fmt::format("{} of the GPU time is in CUDA graphs whose kernels were not recorded",
                   percent(hidden.share_of_gpu_time)),
       std::string("Record again with nsys profile --cuda-graph-trace=node first: the rows below "
                   "are about the other kernels alone."),
       missing, missing, missing});
}

void add_recommendations(const profile::Profile& profile, Document& document) {
  document.add(Heading{2, "Recommendations"});
  const auto& findings = profile.findings;
  const auto& hidden = profile.totals.hidden_graphs;
  if (findings.empty() && !hidden) {
    document.add(not_available(why_no_findings(profile)));
    return;
  }
  const std::string unit = per_unit(profile);
  Table table{{text_column("what was found"), text_column("what to do"), text_column("stage"),
               number_column(fmt::format("potential saving, up to (ms {})",
                                         unit.empty() ? "per instance" : unit)),
               number_column("share of the stage's wall time")}};
  if (hidden && (findings.empty() || findings.front().recoverable)) {
    add_hidden_graphs_row(*hidden, table);
  }
  for (size_t i = 0; i < std::min(kShownRows, findings.size()); ++i) {
    const profile::Finding& finding = findings[i];
    table.rows.push_back(
        {finding.title, finding.advice, or_missing(finding.stage), ms(finding.recoverable),
         percent(finding.stage ? std::optional(finding.share_of_wall) : std::nullopt)});
  }
  document.add(std::move(table));
  std::string note =
      "Sorted by the potential saving over the whole capture, largest first. Savings overlap, so "
      "they do not add up.";
  const bool floors = std::any_of(findings.begin(), findings.end(), [](const auto& finding) {
    return finding.title.find(" floor") != std::string::npos;
  });
  if (floors) note += " A floor is the least time that the work could take on this hardware.";
  document.add(Paragraph{std::move(note)});
}

}  // namespace

Document stakeholder_document(const profile::Profile& profile) {
  Document document;
  document.add(Heading{1, "Stakeholder summary"});
  add_damage(profile, document);
  add_selection(profile, document);
  add_section(Topic<"failed captures">(), profile, document);
  add_executive_summary(profile, document);
  add_environment(profile, document);
  add_aggregates(profile, document);
  add_stage_timings_table(profile, document);
  add_plot(budget_plot(profile), document);
  add_plot(steps_plot(profile), document);
  add_mfu(profile, document);
  add_plot(roofline_plot(profile), document);
  add_takeaways(profile, document);
  add_top_operators(profile, document);
  add_top_kernel_table(profile, document);
  add_plot(top_kernels_plot(profile), document);
  add_recommendations(profile, document);
  return document;
}

Result<void> write_stakeholder_summary(const profile::Profile& profile,
                                       const std::filesystem::path& path) {
  return write_file_atomically(path, to_markdown(stakeholder_document(profile)));
}

}  // namespace llmprof::report
