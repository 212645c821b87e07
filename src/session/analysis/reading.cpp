#include "session/analysis/reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "session/analysis/read_input.h"

namespace llmprof::session {
namespace {

// What a file holds of work on a timeline.
enum class Work : uint8_t { none, cpu, gpu };

// The work in `trace` beyond that of `before`, an earlier state of it.
Work work_added(const trace::Trace& before, const trace::Trace& trace) {
  if (trace.graph_replays.size() > before.graph_replays.size()) return Work::gpu;
  const auto& queues = trace.kernels.queue;
  const auto first = queues.begin() + static_cast<std::ptrdiff_t>(before.kernels.queue.size());
  if (first == queues.end()) return Work::none;
  const bool gpu = std::any_of(first, queues.end(), [&](trace::QueueId queue) {
    return trace.device_of(queue).kind == trace::DeviceKind::gpu;
  });
  return gpu ? Work::gpu : Work::cpu;
}

bool has_device_work(const trace::Trace& trace) {
  return trace.kernels.size() > 0 || trace.graph_replays.size() > 0;
}

// The capture is listed with its diagnostics; its work is in no total.
void list_operator_capture(const trace::Trace& operators, trace::TraceBuilder& timeline) {
  for (const trace::Capture& capture : operators.captures) {
    timeline.diagnostics().info(
        "operators_of_another_pass",
        fmt::format("{}: only its operators are reported; its kernels are those of another run of "
                    "the same program and are in no total",
                    capture.path));
    timeline.begin_capture(capture);
  }
  timeline.diagnostics().merge(operators.diagnostics);
}

}  // namespace

void Reading::add(const std::vector<Input>& inputs, OutputFolder& out, Progress& progress) {
  for (const Input& input : inputs) {
    if (!seen_.insert(input.path).second) continue;
    if (input.role == RunRole::log) note_log(input, inputs);
    const bool beside_logs = input.role == RunRole::nsys && logs_ && input.run == logs_->run;
    if (beside_logs) {
      choose_timeline(input, out, progress);
    } else {
      read(input, out, progress);
    }
  }
}

// Keeps what was read before the logs. That is a copy, which costs nothing where they are first.
void Reading::note_log(const Input& log, const std::vector<Input>& inputs) {
  if (!logs_ || logs_->run != log.run) {
    const bool replaceable =
        trace().captures.empty() || std::ranges::any_of(inputs, [&](const Input& input) {
          return input.role == RunRole::nsys && input.run == log.run;
        });
    logs_.reset();
    if (!replaceable || !log.run) return;
    logs_ = Logs{*log.run, state_, {}};
  }
  logs_->paths.push_back(log.path);
}

void Reading::choose_timeline(const Input& nsys, OutputFolder& out, Progress& progress) {
  const Work logs = work_added(logs_->before.timeline.trace(), trace());
  if (logs == Work::gpu) {
    return pass_over(nsys.path, "the collector's log of the same run is the timeline");
  }
  const State with_logs = std::exchange(state_, logs_->before);
  read(nsys, out, progress);
  if (logs == Work::none) {
    return pass_over_logs("it holds no operators; nsys's export is the timeline");
  }
  if (work_added(logs_->before.timeline.trace(), trace()) == Work::gpu) {
    return pass_over_logs("nsys's export holds the GPU's kernels and is the timeline");
  }
  state_ = with_logs;
  pass_over(nsys.path,
            "it holds no GPU work; the collector's log, with the program's operators, is the "
            "timeline");
}

void Reading::read(const Input& input, OutputFolder& out, Progress& progress) {
  const Stopwatch watch;
  const auto done = read_input(input.path, builder_for(input), out, progress);
  timings_.push_back({"reading " + input.path.string(), watch.elapsed()});
  if (done) {
    ++state_.files_read;
    return;
  }
  const Error& error = done.error();
  Diagnostics& diagnostics = state_.timeline.diagnostics();
  const Content content = input.named || input.run ? Content::unknown : content_of(input.path);
  if (input.named || content == Content::capture) {
    diagnostics.error("input_unreadable", error.message);
    if (!state_.incomplete) state_.incomplete = error;
  } else if (content == Content::report) {
    diagnostics.warn("report_not_converted", error.message);
    if (!state_.passed_over) state_.passed_over = error;
  } else {
    diagnostics.info("file_passed_over", error.message);
    if (!state_.passed_over) state_.passed_over = error;
  }
}

// torch.profiler recorded another run of the program: if there is a timeline, only its operators
// are reported.
trace::TraceBuilder& Reading::builder_for(const Input& input) {
  if (input.role == RunRole::control) {
    if (!state_.control) state_.control.emplace();
    return *state_.control;
  }
  if (input.role != RunRole::torch || !has_device_work(trace())) return state_.timeline;
  if (!state_.operators) state_.operators.emplace();
  return *state_.operators;
}

void Reading::pass_over(const std::filesystem::path& path, std::string_view why) {
  notes_.info("capture_passed_over", fmt::format("{}: not used: {}", path.string(), why));
}

void Reading::pass_over_logs(std::string_view why) {
  for (const std::filesystem::path& log : logs_->paths) pass_over(log, why);
}

Result<FrozenReading> Reading::freeze(const Diagnostics& notes) && {
  if (state_.files_read == 0) {
    if (state_.incomplete) return fail_with(*state_.incomplete);
    if (state_.passed_over) return fail_with(*state_.passed_over);
    return fail_input("no capture to analyze");
  }
  if (state_.operators) list_operator_capture(state_.operators->trace(), state_.timeline);
  state_.timeline.diagnostics().merge(notes);
  FrozenReading frozen;
  frozen.incomplete = std::move(state_.incomplete);
  frozen.trace = std::move(state_.timeline).freeze();
  if (state_.operators) frozen.operators = std::move(*state_.operators).freeze();
  if (state_.control) frozen.control = std::move(*state_.control).freeze();
  return frozen;
}

}  // namespace llmprof::session
