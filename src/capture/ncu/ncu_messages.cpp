#include "capture/ncu/ncu_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>

#include "base/secrets/secrets.h"
#include "base/text.h"
#include "capture/shell.h"

namespace llmprof::capture {
namespace {

constexpr std::string_view kErrorMark = "==ERROR==";
constexpr size_t kLongestError = 300;
constexpr size_t kLongestLine = 4096;
constexpr size_t kChunk = 256UL << 10U;

std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
  const size_t begin = text.find(before);
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin + before.size());
  const size_t end = text.find(after);
  return end == std::string_view::npos ? std::string_view{} : text.substr(0, end);
}

// Calls use(line) for each line of a text that comes in parts. `begun` is the last line, which may
// continue; only the start of an endless line is kept.
template <class Use>
void each_line(std::string& begun, std::string_view text, const Use& use) {
  while (true) {
    const size_t end = text.find('\n');
    const std::string_view part = text.substr(0, end);
    if (begun.size() < kLongestLine) begun += part.substr(0, kLongestLine - begun.size());
    if (end == std::string_view::npos) return;
    use(begun);
    begun.clear();
    text.remove_prefix(end + 1);
  }
}

// Reads the file in parts, from an offset that it advances.
template <class Use>
void each_part(const std::filesystem::path& file, uint64_t& offset, const Use& use) {
  std::ifstream stream(file, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(offset));
  std::string part(kChunk, '\0');
  while (stream) {
    stream.read(part.data(), static_cast<std::streamsize>(part.size()));
    const std::string_view text =
        std::string_view(part).substr(0, static_cast<size_t>(stream.gcount()));
    offset += text.size();
    use(text);
  }
}

// `==PROF== Profiling "gemm": 0%....50%....100% - 18 passes`
bool reports_measured_launch(std::string_view line) {
  return line.starts_with("==PROF== Profiling ") && contains(line, "100%");
}

std::string printed(const CommandRecord& record) {
  return printed_words(record.result.output_tail);
}

std::string limited(const CommandRecord& record) {
  switch (record.result.end) {
    case ProcessEnd::stopped:
      return "the recording was interrupted; the same command with the same --out and --force "
             "continues where it stopped";
    case ProcessEnd::timed_out:
      return fmt::format(
          "ncu did not finish: {}. It replays every launch many times: measure fewer launches or "
          "fewer sections (profiling/ncu=light), or allow more time (run.timeout_s)",
          describe_end(record.result));
    case ProcessEnd::over_limit:
      return "ncu's report grew beyond the size limit: measure fewer launches "
             "(profiling/ncu=light), or raise run.max_trace_mb";
    case ProcessEnd::not_started:
      return fmt::format("ncu could not be started: {}. Set LLMPROF_NCU to a working one",
                         describe_end(record.result));
    case ProcessEnd::signalled:
      return fmt::format(
          "ncu crashed: {}; {}. Try another version of ncu (set LLMPROF_NCU to its path), or "
          "profiling/ncu=light",
          describe_end(record.result), printed(record));
    case ProcessEnd::exited:
      break;
  }
  return {};
}

std::string nothing_matched(const NcuRun& run) {
  return fmt::format(
      "ncu ran the program but profiled no kernel (filter: {}). The program must launch the same "
      "kernels in every run; a range is gated on only by its NVTX domain and name, and a child "
      "process only with ncu.target_processes=all. To measure whatever runs, without a timeline: "
      "pipeline.nsys.enable=false, ncu.gating_nvtx=false",
      describe_filter(run));
}

std::string explanation(const CommandRecord& record, const NcuRunMessages& messages,
                        const NcuRun& run) {
  if (messages.no_permission) {
    return "ncu was not allowed to read the GPU's performance counters (ERR_NVGPUCTRPERM): " +
           counter_permission_remedy();
  }
  if (messages.driver_in_use) {
    return "ncu could not get the GPU's performance counters because another tool uses them, most "
           "often DCGM monitoring: " +
           counters_in_use_remedy();
  }
  if (std::string limit = limited(record); !limit.empty()) return limit;
  if (messages.no_driver) {
    return "ncu found no CUDA driver to connect to: it needs an NVIDIA GPU and its driver on this "
           "machine (`nvidia-smi` must work; start a container with --gpus all). Without one, set "
           "pipeline.ncu.enable=false";
  }
  if (!messages.unknown_sections.empty()) {
    return fmt::format(
        "ncu does not know the section {}. `ncu --list-sections` prints those of this version: "
        "correct ncu.sections",
        fmt::join(messages.unknown_sections, ", "));
  }
  if (!messages.first_error.empty()) {
    return fmt::format("ncu failed ({}): {}", describe_end(record.result), messages.first_error);
  }
  if (messages.program_exit_code) {
    return fmt::format(
        "the workload failed under ncu with exit code {}, though it may run without ncu; its "
        "output is in {}",
        *messages.program_exit_code, record.log.string());
  }
  if (messages.nothing_profiled) return nothing_matched(run);
  if (!record.result.succeeded()) {
    return fmt::format("ncu failed: {}; {}", describe_end(record.result), printed(record));
  }
  return fmt::format("ncu ended without a report; {}. Its log: {}", printed(record),
                     record.log.string());
}

}  // namespace

void NcuRunMessages::note_line(std::string_view line) {
  line = trim(line);
  if (line.starts_with("==PROF== Profiling ")) ++launches;
  const bool is_error = line.starts_with(kErrorMark);
  const auto keep_first = [&](std::string_view error) {
    if (!first_error.empty()) return;
    first_error = shortened(to_printable(without_secrets(error)), kLongestError);
  };
  if (!is_error && !line.starts_with("==WARNING==")) {
    // A wrong option is reported without a prefix.
    if (line.starts_with("the argument for option") || line.starts_with("unrecognised option")) {
      keep_first(line);
    }
    return;
  }
  no_permission |= contains(line, "ERR_NVGPUCTRPERM");
  nothing_profiled |= contains(line, "No kernels were profiled");
  nothing_profiled |= contains(line, "No ranges were profiled");
  driver_in_use |= contains(line, "river resource");
  if (!is_error) return;
  no_driver |= contains(line, "failed to connect to the CUDA driver");
  no_driver |= contains(line, "Cuda driver is not compatible");
  if (contains(line, "did not match any section")) {
    unknown_sections.emplace_back(between(line, "--section ", "'"));
    return;
  }
  if (const auto code = between(line, "returned an error code (", ")"); !code.empty()) {
    program_exit_code = parse_int(code).value_or(1);
    return;
  }
  keep_first(trim(line.substr(kErrorMark.size())));
}

NcuRunMessages read_ncu_messages(const std::filesystem::path& log) {
  NcuRunMessages messages;
  const auto note = [&](std::string_view line) { messages.note_line(line); };
  std::string line;
  uint64_t offset = 0;
  each_part(log, offset, [&](std::string_view text) { each_line(line, text, note); });
  note(line);
  return messages;
}

std::string counter_permission_remedy() {
  return "run as root (start a container with --cap-add SYS_ADMIN), or allow all users to read the "
         "counters: put the line\n"
         "  options nvidia NVreg_RestrictProfilingToAdminUsers=0\n"
         "into a file in /etc/modprobe.d, then reload the nvidia module or reboot";
}

std::string counters_in_use_remedy() {
  return "run `dcgmi profile --pause`, record again, then `dcgmi profile --resume`; otherwise end "
         "the other profiler";
}

uint64_t MeasuredLaunches::count(const std::filesystem::path& log) {
  each_part(log, read_, [&](std::string_view text) {
    each_line(line_, text, [&](std::string_view line) {
      if (reports_measured_launch(line)) ++measured_;
    });
  });
  return measured_;
}

std::string describe_filter(const NcuRun& run) {
  std::vector<std::string> parts;
  parts.reserve(run.nvtx_include.size() + 3);
  for (const std::string& range : run.nvtx_include) parts.push_back("--nvtx-include " + range);
  if (!run.kernels.empty()) parts.push_back(fmt::format("{} kernels by name", run.kernels.size()));
  if (run.launch_skip > 0) parts.push_back(fmt::format("--launch-skip {}", run.launch_skip));
  if (run.launch_count > 0) {
    parts.push_back(fmt::format("--launch-count {}{}", run.launch_count,
                                run.count_per_shape ? " for each launch shape" : ""));
  }
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
}

Error failed_ncu_run(const CommandRecord& record, const NcuRunMessages& messages,
                     const NcuRun& run) {
  return Error{ErrorKind::tool, explanation(record, messages, run)}.within("ncu, " + run.name);
}

bool concerns_all_stages(const CommandRecord& record, const NcuRunMessages& messages) {
  return messages.no_permission || messages.driver_in_use || messages.no_driver ||
         record.result.end == ProcessEnd::stopped || record.result.end == ProcessEnd::not_started ||
         record.result.end == ProcessEnd::over_limit;
}

}  // namespace llmprof::capture
