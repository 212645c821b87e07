#include "capture/ncu/ncu_failures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "capture/shell.h"

namespace llmprof::capture {
namespace {

std::string printed(const CommandRecord& record) {
  return printed_words(record.result.output_tail);
}

std::string limited(const CommandRecord& record) {
  switch (record.result.end) {
    case ProcessEnd::stopped:
      return "the recording was interrupted; the same command with the same --out and --force "
             "continues "
             "where it stopped";
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
      "process only with ncu.target_processes=all. To measure whatever runs, without a "
      "timeline: pipeline.nsys.enable=false, ncu.gating_nvtx=false",
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
           "machine (`nvidia-smi` must work; start a container with --gpus all). Without "
           "one, set pipeline.ncu.enable=false";
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
