#include "session/analysis/reading.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "base/files.h"
#include "base/needed.h"
#include "base/streams/byte_stream.h"
#include "capture/convert.h"
#include "capture/shell.h"
#include "job/partial/partial.h"
#include "readers/shared/reader.h"
#include "readers/shared/tool_words.h"

namespace llmprof::session {
namespace {

// The kind of work that a file adds to a timeline.
enum class Work : uint8_t { none, cpu, gpu };

// The work in `trace` that `before`, an earlier state of it, does not have.
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

// Lists the capture with its diagnostics; its work is not part of any total.
void list_operator_capture(const trace::Trace& operators, trace::TraceBuilder& timeline) {
  for (const trace::Capture& capture : operators.captures) {
    timeline.diagnostics().info(
        "operators_of_another_pass",
        fmt::format("{}: only its operators are reported; its kernels come from another run of "
                    "the same program and are excluded from all totals",
                    capture.path));
    timeline.begin_capture(capture);
  }
  timeline.diagnostics().merge(operators.diagnostics);
}

// False if no reader recognizes the content.
bool read_recognized(const fs::path& path, std::string_view head, trace::TraceBuilder& builder,
                     Progress& progress) {
  const readers::Reader* reader = readers::find_reader(head);
  if (reader == nullptr) return false;
  std::error_code unknown;
  const uintmax_t bytes = fs::file_size(path, unknown);
  progress.begin_reading(fmt::format("reading {} ({})", path.string(), reader->format),
                         unknown ? 0 : bytes);
  needed(reader->read(path, builder));
  return true;
}

// SQLite needs random access, so it cannot read a compressed file.
bool is_compressed_database(const fs::path& path, std::string_view head) {
  constexpr std::string_view kDatabase = "SQLite format 3";
  return head.starts_with(kDatabase) && capture::file_part(path, 0, kDatabase.size()) != kDatabase;
}

// If a gzip stream is damaged, the content before the damage is kept.
fs::path decompress(const fs::path& path, const fs::path& folder, Diagnostics& diagnostics) {
  constexpr size_t kBlock = 1UL << 20U;
  const auto stream = needed(open_byte_stream(path));
  fs::path plain = folder / path.stem();  // diagnostics show this name
  std::ofstream file(plain, std::ios::binary);
  std::vector<char> block(kBlock);
  while (file) {
    const size_t bytes = needed(stream->read(block));
    file.write(block.data(), static_cast<std::streamsize>(bytes));
    if (bytes < block.size()) break;
  }
  file.close();
  if (!file) give_up(ErrorKind::tool, fmt::format("{}: cannot be written", plain.string()));
  if (const std::string damage = stream->damage(); !damage.empty()) {
    diagnostics.error("nsys_damaged_table", fmt::format("{}: {}; what precedes that was read",
                                                        path.filename().string(), damage));
  }
  return plain;
}

// Attributes an error in a temporary file to the file it was made from.
Error about(const fs::path& from, const fs::path& converted, Error error) {
  const std::string temporary = converted.string();
  if (const size_t at = error.message.find(temporary); at != std::string::npos) {
    error.message.replace(at, temporary.size(), from.string());
  }
  return error;
}

// Reads a file that `convert` makes in a temporary folder; the capture names the original file.
template <class Convert>
void read_converted(const fs::path& from, Convert convert, trace::TraceBuilder& builder,
                    OutputFolder& out, Progress& progress) {
  progress.begin(fmt::format("converting {}", from.string()));
  // Other ranks may convert theirs in the same folder.
  const auto path = out.open().path(fmt::format("converting-{}.tmp", ::getpid()));
  needed(make_own_folder(path));
  // Removed after reading, because nsys puts the program's entire environment into exports.
  const ScratchFolder folder(path);
  const fs::path converted = convert(folder.path());
  const std::string head = needed(read_head(converted, readers::kHeadBytes));
  const size_t before = builder.trace().captures.size();
  const auto known = attempt([&] { return read_recognized(converted, head, builder, progress); });
  if (!known) throw Failure(about(from, converted, known.error()));
  if (!*known) throw Failure(readers::unreadable(from, head));
  auto& captures = builder.trace().captures;
  for (size_t i = before; i < captures.size(); ++i) {
    captures[i].path = from.string();
    if (!captures[i].rank) captures[i].rank = readers::rank_of_path(from);
  }
}

// Reads one file with the reader that recognizes its content. Reports of nsys and ncu are converted
// first, in a temporary folder in `out`.
void read_input(const fs::path& path, trace::TraceBuilder& builder, OutputFolder& out,
                Progress& progress) {
  const std::string head = needed(read_head(path, readers::kHeadBytes));
  if (is_compressed_database(path, head)) {
    const auto plain = [&](const fs::path& folder) {
      return decompress(path, folder, builder.diagnostics());
    };
    return read_converted(path, plain, builder, out, progress);
  }
  if (read_recognized(path, head, builder, progress)) return;
  if (const auto kind = capture::report_kind(path, head)) {
    const auto converted = [&](const fs::path& folder) {
      return needed(capture::convert_report(path, *kind, folder));
    };
    return read_converted(path, converted, builder, out, progress);
  }
  if (job::is_partial(head)) {
    give_up(ErrorKind::input,
            fmt::format("{}: a partial profile of one rank, not a capture; `llmprof "
                        "merge` combines the partial profiles of all ranks",
                        path.string()));
  }
  throw Failure(readers::unreadable(path, head));
}

}  // namespace

Content content_of(const fs::path& path) {
  const auto head = read_head(path, readers::kHeadBytes);
  if (!head) return {};
  const readers::Reader* reader = readers::find_reader(*head);
  return {reader, reader == nullptr && capture::report_kind(path, *head)};
}

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

// Keeps the state before the logs. The copy costs nothing if they are read first.
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
  const auto done = attempt([&] { read_input(input.path, builder_for(input), out, progress); });
  timings_.push_back({"reading " + input.path.string(), watch.elapsed()});
  if (done) {
    ++state_.files_read;
    return;
  }
  const Error& error = done.error();
  Diagnostics& diagnostics = state_.timeline.diagnostics();
  const Content content = input.named || input.run ? Content{} : content_of(input.path);
  if (input.named || content.reader != nullptr) {
    diagnostics.error("input_unreadable", error.message);
    if (!state_.incomplete) state_.incomplete = error;
    return;
  }
  if (content.is_report) {
    diagnostics.warn("report_not_converted", error.message);
  } else {
    diagnostics.info("file_passed_over", error.message);
  }
  if (!state_.passed_over) state_.passed_over = error;
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

void Reading::pass_over(const fs::path& path, std::string_view why) {
  notes_.info("capture_passed_over", fmt::format("{}: not used: {}", path.string(), why));
}

void Reading::pass_over_logs(std::string_view why) {
  for (const fs::path& log : logs_->paths) pass_over(log, why);
}

FrozenReading Reading::freeze(const Diagnostics& notes) && {
  if (state_.files_read == 0) {
    if (state_.incomplete) throw Failure(*state_.incomplete);
    if (state_.passed_over) throw Failure(*state_.passed_over);
    give_up(ErrorKind::input, "no capture to analyze");
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
