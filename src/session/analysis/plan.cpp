#include "session/analysis/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "analysis/requests/objectives.h"
#include "analysis/stages/selection.h"
#include "base/needed.h"
#include "base/streams/byte_stream.h"
#include "base/text.h"
#include "config/conf_files.h"
#include "report/reasons/word_reasons.h"

namespace llmprof::session {
namespace {

// The run folder that all inputs come from; empty if they do not share one.
fs::path run_folder(const AnalyzeOptions& options) {
  const bool one_run = options.inputs.size() == 1 && is_run_folder(options.inputs.front());
  return one_run ? options.inputs.front() : fs::path();
}

analysis::AnalysisRules load_rules(const config::ConfFiles& conf) {
  return {needed(analysis::KernelRules::load(conf)), needed(analysis::StageRules::load(conf)),
          needed(llm::GpuSpecs::load(conf)), needed(analysis::EngineRules::load(conf))};
}

LoadingRules begin_to_load_rules(const config::ConfFiles& conf) {
  return std::async(std::launch::async, [conf] {
    return attempt(
        [&] { return std::make_shared<const analysis::AnalysisRules>(load_rules(conf)); });
  });
}

// Waits for the rules only if they may be wrong: the user's own files, or an unknown GPU.
void check_rules(const AnalyzeOptions& options, const LoadingRules& loading) {
  const auto& gpu = options.requested.gpu;
  if (!options.config_folder && !gpu) return;
  const llm::GpuSpecs& gpus = needed(loading.get())->gpus;
  if (!gpu || gpus.find(*gpu)) return;
  give_up(ErrorKind::usage, fmt::format("unknown value '{}' for --gpu; available: {}. Others "
                                        "are added in gpus.yaml (--config-dir)",
                                        to_printable(*gpu), fmt::join(gpus.names(), ", ")));
}

// Engines state their memory when they start.
std::vector<analysis::ProgramOutput> program_outputs(const fs::path& run) {
  constexpr size_t kStart = size_t{16} << 20U;
  const fs::path file = run / "collector" / "record.log";
  if (!is_file(file)) return {};
  auto text = read_head(file, kStart);
  if (!text) return {};
  return {{"collector/record.log", std::move(*text)}};
}

void add_run_records(const fs::path& run, const config::ConfFiles& conf, AnalysisPlan& plan) {
  plan.run = read_run_inputs(run, conf, plan.notes);
  plan.options.model = plan.run.model;
  if (!plan.run.command.empty()) plan.options.workload.command = to_printable(plan.run.command);
  CapturesRecord captures = read_captures_record(run, plan.notes);
  plan.options.run.captures_failed = std::move(captures.failures);
  plan.options.run.overhead = measure_overhead(run);
  plan.options.run.load = machine_load(run);
  plan.options.run.outputs = program_outputs(run);
  plan.notes.merge(captures.notes);
}

// A model named by the user replaces the one that a run recorded.
void add_named_model(const AnalyzeOptions& options, const config::ConfFiles& conf,
                     AnalysisPlan& plan) {
  if (options.model) plan.options.model = needed(llm::load_model_spec(*options.model, conf));
}

void complete_workload(const std::optional<trace::WorkloadMetrics>& metrics, const RunInputs& run,
                       profile::Workload& workload) {
  const auto fill = [](std::optional<uint64_t>& into, std::optional<std::string>& source,
                       bool measured, const std::optional<uint64_t>& from) {
    if (into || measured || !from) return;
    into = from;
    source = "the run's inputs.yaml";
  };
  fill(workload.prompt_tokens, workload.prompt_tokens_source, metrics && metrics->prompt_tokens,
       run.prompt_tokens);
  fill(workload.new_tokens, workload.new_tokens_source, metrics && metrics->new_tokens,
       run.new_tokens);
  fill(workload.batch, workload.batch_source, metrics && metrics->batch, run.batch);
}

// The model that the workload recorded with its times, if the user named none.
void complete_model(const std::optional<trace::WorkloadMetrics>& metrics, Diagnostics& diagnostics,
                    std::optional<llm::ModelSpec>& model) {
  if (model || !metrics || metrics->model_config.empty()) return;
  auto spec = llm::parse_hugging_face_config(metrics->model_config, metrics->path);
  if (!spec) {
    diagnostics.warn("model_of_workload_unusable",
                     fmt::format("{}: its model configuration cannot be used: {}", metrics->path,
                                 spec.error().message));
    return;
  }
  if (!metrics->model.empty()) spec->name = metrics->model;
  model = std::move(*spec);
}

}  // namespace

analysis::AnalysisRules load_analysis_rules(const std::optional<fs::path>& config_folder) {
  return load_rules(needed(config::ConfFiles::open(config_folder)));
}

AnalysisPlan plan_analysis(const AnalyzeOptions& options) {
  AnalysisPlan plan;
  plan.inputs = expand_inputs(options.inputs, plan.notes);
  const auto conf = needed(config::ConfFiles::open(options.config_folder));
  plan.rules = begin_to_load_rules(conf);
  check_rules(options, plan.rules);
  plan.options = options.requested;
  plan.options.reason_words = report::reason_words;
  if (options.steps) {
    plan.options.selection.steps = needed(analysis::parse_step_range(*options.steps));
  }
  if (options.slo) plan.options.objectives = needed(analysis::parse_objectives(*options.slo));
  if (const auto run = run_folder(options); !run.empty()) add_run_records(run, conf, plan);
  add_named_model(options, conf, plan);
  return plan;
}

void read_run_records(const fs::path& run, const AnalyzeOptions& options, AnalysisPlan& plan) {
  const auto conf = needed(config::ConfFiles::open(options.config_folder));
  add_run_records(run, conf, plan);
  add_named_model(options, conf, plan);
}

void complete_plan(const std::optional<trace::WorkloadMetrics>& metrics, AnalysisPlan& plan) {
  complete_workload(metrics, plan.run, plan.options.workload);
  complete_model(metrics, plan.notes, plan.options.model);
}

}  // namespace llmprof::session
