#include "session/analyze.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/streams/byte_stream.h"
#include "capture/convert.h"
#include "config/conf_files.h"
#include "readers/collector_log/collector_log.h"
#include "readers/detect.h"
#include "report/documents/bundle_reports.h"
#include "report/word.h"
#include "session/captures_record.h"
#include "session/inputs.h"
#include "session/overhead.h"
#include "session/run_dir.h"
#include "session/run_inputs.h"
#include "session/run_timeline.h"

namespace llmprof::session {
namespace {

// Makes the bundle's folder when the first file goes into it.
class BundleFolder {
 public:
  explicit BundleFolder(const AnalyzeOptions& options)
      : wanted_(options.in_place ? options.inputs.front() : options.out),
        force_(options.force || options.in_place) {}

  // Again and again the same folder, made anew where it was removed because it was empty.
  Result<Artifacts> open() {
    auto artifacts = wanted_ ? Artifacts::create(*wanted_, force_)
                             : Artifacts::create_fresh(std::filesystem::path("tmp") / "analyze");
    if (artifacts) {
      wanted_ = artifacts->root();
      force_ = true;
    }
    return artifacts;
  }

 private:
  std::optional<std::filesystem::path> wanted_;
  bool force_;
};

// Where reports are converted to; gone when the reading is done, because nsys puts the program's
// whole environment into its exports.
class ConversionFolder {
 public:
  static Result<ConversionFolder> open(BundleFolder& bundle) {
    auto artifacts = bundle.open();
    if (!artifacts) return fail_with(artifacts.error());
    auto folder = Artifacts::create(artifacts->path("converting.tmp"), true);
    if (!folder) return fail_with(folder.error());
    return ConversionFolder(folder->root());
  }
  ConversionFolder(ConversionFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ConversionFolder& operator=(ConversionFolder&&) = delete;
  ConversionFolder(const ConversionFolder&) = delete;
  ConversionFolder& operator=(const ConversionFolder&) = delete;
  ~ConversionFolder() {
    std::error_code ignored;
    if (path_.empty()) return;
    std::filesystem::remove_all(path_, ignored);
    std::filesystem::remove(path_.parent_path(),
                            ignored);  // the bundle, where nothing else is in it
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit ConversionFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

// Reads with whichever reader recognizes the content; none where nobody does.
std::optional<Result<void>> read_recognised(const std::filesystem::path& path,
                                            std::string_view head, trace::TraceBuilder& builder,
                                            const Progress& progress) {
  const readers::Reader* reader = readers::find_reader(head);
  if (reader == nullptr) return std::nullopt;
  progress(fmt::format("reading {} ({})", path.string(), reader->format));
  return reader->read(path, builder);
}

Result<void> read_report(const std::filesystem::path& report, capture::ReportKind kind,
                         trace::TraceBuilder& builder, BundleFolder& bundle,
                         const Progress& progress) {
  progress(fmt::format("converting {}", report.string()));
  auto folder = ConversionFolder::open(bundle);
  if (!folder) return fail_with(folder.error());
  const auto converted = capture::convert_report(report, kind, folder->path());
  if (!converted) return fail_with(converted.error());
  const auto head = read_head(*converted, readers::kHeadBytes);
  if (!head) return fail_with(head.error());
  const size_t before = builder.trace().captures.size();
  const auto done = read_recognised(*converted, *head, builder, progress);
  if (!done) return fail_with(readers::unreadable(report, *head));
  // The converted file is gone soon; the capture is the report.
  auto& captures = builder.trace().captures;
  for (size_t i = before; i < captures.size(); ++i) captures[i].path = report.string();
  return *done;
}

Result<void> read_input(const Input& input, trace::TraceBuilder& builder, BundleFolder& bundle,
                        const Progress& progress) {
  const auto head = read_head(input.path, readers::kHeadBytes);
  if (!head) return fail_with(head.error());
  if (auto done = read_recognised(input.path, *head, builder, progress)) return *done;
  if (const auto kind = capture::report_kind(input.path, *head)) {
    return read_report(input.path, *kind, builder, bundle, progress);
  }
  return fail_with(readers::unreadable(input.path, *head));
}

bool has_device_work(const trace::Trace& trace) {
  return trace.kernels.size() > 0 || trace.graph_replays.size() > 0;
}

// All that was read.
struct Reading {
  trace::TraceBuilder timeline;
  std::optional<trace::TraceBuilder> operators;  // of a run's torch pass, beside a timeline
  std::optional<Error> incomplete;
};

// The torch pass ran the program once more: beside a timeline only its operators are told.
trace::TraceBuilder& builder_for(const Input& input, Reading& reading) {
  if (input.role != RunRole::torch || !has_device_work(reading.timeline.trace())) {
    return reading.timeline;
  }
  if (!reading.operators) reading.operators.emplace();
  return *reading.operators;
}

// The capture stands among the others with what was wrong with it; its work does not.
void note_operator_capture(Reading& reading) {
  if (!reading.operators) return;
  const trace::Trace& from = reading.operators->trace();
  for (const trace::Capture& capture : from.captures) {
    reading.timeline.diagnostics().info(
        "operators_of_another_pass",
        fmt::format("{}: its operators are told; its kernels are those of another run of the same "
                    "program and are in no total",
                    capture.path));
    reading.timeline.begin_capture(capture);
  }
  reading.timeline.diagnostics().merge(from.diagnostics);
}

// Reads all that can be read. A file that the user named and that cannot be read makes the result
// incomplete; one that only lay in a named folder is a note.
Result<Reading> read_inputs(const std::vector<Input>& inputs, BundleFolder& bundle,
                            const Progress& progress) {
  Reading reading;
  std::optional<Error> passed_over;
  size_t read = 0;
  for (const Input& input : inputs) {
    const auto done = read_input(input, builder_for(input, reading), bundle, progress);
    if (done) {
      ++read;
      continue;
    }
    const Error& error = done.error();
    if (input.named) {
      reading.timeline.diagnostics().error("input_unreadable", error.message);
      if (!reading.incomplete) reading.incomplete = error;
    } else {
      reading.timeline.diagnostics().info("file_passed_over", error.message);
      if (!passed_over) passed_over = error;
    }
  }
  if (read == 0) return fail_with(reading.incomplete ? *reading.incomplete : *passed_over);
  note_operator_capture(reading);
  return reading;
}

// Unless the log says itself why.
bool is_log_without_work(const trace::Trace& trace, const Diagnostics& diagnostics) {
  if (diagnostics.has("collector_never_armed") || diagnostics.has("collector_stood_down")) {
    return false;
  }
  return std::any_of(
      trace.captures.begin(), trace.captures.end(),
      [](const trace::Capture& capture) { return capture.tool == trace::kCollectorTool; });
}

// Why there is no kernel to rank, from what the readers noticed.
// Of a run that is on, failures are told by themselves.
Error nothing_to_rank(const trace::Trace& trace, const profile::Profile& profile,
                      bool tell_failures) {
  std::string files;
  for (const trace::Capture& capture : trace.captures) {
    if (!files.empty()) files += ", ";
    files += capture.path;
  }
  std::string message = fmt::format("{}: no kernels to analyse", files);
  if (trace.profiled_launches.size() > 0) {
    message += fmt::format(
        "\n  {} launches were profiled, but not their durations; profile again with `--metrics "
        "gpu__time_duration.sum` or `--section SpeedOfLight`",
        trace.profiled_launches.size());
  } else if (!trace.call_summaries.empty()) {
    message +=
        "\n  the file holds reports on ranges or API calls only; add a kernel report: `nsys stats "
        "--report cuda_gpu_kern_sum --format csv REPORT.nsys-rep`";
  } else if (is_log_without_work(trace, trace.diagnostics)) {
    message +=
        "\n  the program's own log holds ranges but no operators: record them with "
        "llmprof_operator (docs/collector.md), or capture the kernels of a GPU program with nsys "
        "beside it (`nsys profile --trace cuda,nvtx`)";
  } else if (trace.workload) {
    message +=
        "\n  Stage 1 metrics are what the workload measured of itself; name a capture of the same "
        "program beside them (nsys, ncu, or a PyTorch trace)";
  }
  for (const profile::CaptureFailure& failure : profile.captures_failed) {
    if (!tell_failures) break;
    message += fmt::format("\n  {} failed: {}", failure.backend, failure.message);
  }
  for (const profile::Diagnostic& item : profile.diagnostics) {
    if (item.severity != to_string(Severity::info)) message += "\n  " + item.message;
  }
  return {ErrorKind::input, message};
}

// The run folder that all inputs come from; empty where they come from elsewhere.
std::filesystem::path run_folder(const AnalyzeOptions& options) {
  const bool one_run = options.inputs.size() == 1 && is_run_folder(options.inputs.front());
  return one_run ? options.inputs.front() : std::filesystem::path();
}

struct Plan {
  std::vector<Input> inputs;
  RunInputs run;      // what the run folder says of itself
  Diagnostics notes;  // of the plan itself
  analysis::AnalysisRules rules;
  analysis::AnalysisOptions options;
};

analysis::AnalysisOptions wanted_analysis(const AnalyzeOptions& options) {
  analysis::AnalysisOptions wanted;
  wanted.use_annotations = options.use_annotations;
  wanted.gpu = options.gpu;
  wanted.selection.device = options.device;
  wanted.selection.stage = options.stage;
  const auto told = [](const std::optional<uint64_t>& value, std::string flag) {
    return value ? std::optional<analysis::TokenCount>({*value, std::move(flag)}) : std::nullopt;
  };
  wanted.workload.prompt_tokens = told(options.prompt_tokens, "--prompt-tokens");
  wanted.workload.new_tokens = told(options.new_tokens, "--new-tokens");
  wanted.workload.batch = told(options.batch, "--batch");
  wanted.workload.parallel = {options.tp, options.pp, options.ep};
  return wanted;
}

// Everything that can be wrong with the request itself, before a large file is read for it.
Result<Plan> plan_analysis(const AnalyzeOptions& options) {
  auto inputs = expand_inputs(options.inputs);
  if (!inputs) return fail_with(inputs.error());
  const auto conf = config::ConfFiles::open(options.config_folder);
  if (!conf) return fail_with(conf.error());
  auto kernels = analysis::KernelRules::load(*conf);
  if (!kernels) return fail_with(kernels.error());
  auto stages = analysis::StageRules::load(*conf);
  if (!stages) return fail_with(stages.error());
  auto gpus = llm::GpuSpecs::load(*conf);
  if (!gpus) return fail_with(gpus.error());
  Plan plan{std::move(*inputs),
            {},
            {},
            {std::move(*kernels), std::move(*stages), std::move(*gpus)},
            wanted_analysis(options)};
  if (options.steps) {
    const auto steps = analysis::parse_step_range(*options.steps);
    if (!steps) return fail_with(steps.error());
    plan.options.selection.steps = *steps;
  }
  if (const auto run = run_folder(options); !run.empty()) {
    plan.run = read_run_inputs(run, *conf, plan.notes);
    plan.options.model = plan.run.model;
    plan.options.workload.command = plan.run.command;
    CapturesRecord captures = read_captures_record(run, plan.notes);
    plan.options.run.captures_failed = std::move(captures.failures);
    plan.options.run.overhead = measure_overhead(run);
    plan.notes.merge(captures.notes);
  }
  if (options.model_spec) plan.options.model = options.model_spec;
  if (options.model) {
    auto model = llm::load_model_spec(*options.model, *conf);
    if (!model) return fail_with(model.error());
    plan.options.model = std::move(*model);
  }
  return plan;
}

// The workload's own record says what really ran; what it leaves out is as it was asked for.
void complete_from_run(const RunInputs& run, const std::optional<trace::WorkloadMetrics>& metrics,
                       analysis::Workload& workload) {
  const auto fill = [](std::optional<analysis::TokenCount>& into, bool measured,
                       const std::optional<uint64_t>& from) {
    if (!into && !measured && from) into = analysis::TokenCount{*from, "the run's inputs.yaml"};
  };
  fill(workload.prompt_tokens, metrics && metrics->prompt_tokens, run.prompt_tokens);
  fill(workload.new_tokens, metrics && metrics->new_tokens, run.new_tokens);
  fill(workload.batch, metrics && metrics->batch, run.batch);
}

// The model that the workload wrote down with its times, where nobody named one.
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

Result<Analysis> analyze(const AnalyzeOptions& options, std::string_view version,
                         const Progress& progress) {
  auto plan = plan_analysis(options);
  if (!plan) return fail_with(plan.error());
  BundleFolder bundle(options);
  choose_timelines(plan->inputs, plan->notes);
  auto reading = read_inputs(plan->inputs, bundle, progress);
  if (!reading) return fail_with(reading.error());
  reading->timeline.diagnostics().merge(plan->notes);
  const auto& metrics = reading->timeline.trace().workload;
  complete_from_run(plan->run, metrics, plan->options.workload);
  complete_model(metrics, reading->timeline.diagnostics(), plan->options.model);

  Analysis analysis;
  analysis.incomplete = std::move(reading->incomplete);
  auto trace = std::make_unique<trace::Trace>(std::move(reading->timeline).freeze());
  std::optional<trace::Trace> operators;
  if (reading->operators) operators = std::move(*reading->operators).freeze();
  if (operators) plan->options.operators_of = &*operators;
  progress("analyzing");
  plan->options.tool_version = version;
  auto analyzed = analysis::analyze(*trace, plan->rules, plan->options);
  if (!analyzed) return fail_with(analyzed.error());
  analysis.trace = std::move(trace);
  analysis.results = std::move(analyzed->results);
  analysis.profile = std::move(analyzed->profile);
  analysis.timings = std::move(analyzed->timings);
  if (analysis.profile.kernels.empty()) {
    return fail_with(nothing_to_rank(*analysis.trace, analysis.profile, !options.in_place));
  }
  report::word(analysis.profile);

  progress("writing the bundle");
  auto artifacts = bundle.open();
  if (!artifacts) return fail_with(artifacts.error());
  analysis.folder = artifacts->root();
  auto written = report::write_reports(analysis.profile, analysis.folder,
                                       options.top.value_or(report::kAllKernels));
  if (!written) return fail_with(written.error());
  analysis.files = std::move(written->files);
  analysis.json = std::move(written->json);
  return analysis;
}

}  // namespace llmprof::session
