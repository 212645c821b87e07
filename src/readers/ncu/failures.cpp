#include "readers/ncu/failures.h"

#include "base/text.h"

namespace llmprof::readers {
namespace {

constexpr std::string_view kNoPermission =
    "ncu was not allowed to read the GPU's performance counters (ERR_NVGPUCTRPERM). Either run it "
    "as root (start a container with --cap-add SYS_ADMIN), or allow all users to read the "
    "counters: put the line\n"
    "  options nvidia NVreg_RestrictProfilingToAdminUsers=0\n"
    "into a file in /etc/modprobe.d, then reload the nvidia module or reboot";
constexpr std::string_view kDriverInUse =
    "ncu could not get the GPU's performance counters because another tool uses them, most often "
    "DCGM monitoring. Run `dcgmi profile --pause`, record again, then `dcgmi profile --resume`; "
    "otherwise end the other profiler";
constexpr std::string_view kNoSuchSection =
    "ncu does not know a requested section. `ncu --list-sections` prints those of this version; "
    "correct --section or --set and record again";
constexpr std::string_view kNothingProfiled =
    "ncu ran the program but profiled no kernel. Check the filters: an NVTX range is spelled "
    "`--nvtx --nvtx-include \"Domain@Range/\"` (default domain: \"Range/\"), a kernel filter "
    "`--kernel-name regex:...`, and --launch-skip must be below the number of matching launches; "
    "--target-processes all follows child processes";
constexpr std::string_view kTextPage =
    "this is ncu's text output. Export the report as CSV: `ncu --import REPORT.ncu-rep --page raw "
    "--csv > raw.csv`, or record again with `--csv --page raw`";

constexpr size_t kLongestError = 300;

}  // namespace

bool is_ncu_message(std::string_view line) {
  return line.starts_with("==PROF==") || line.starts_with("==WARNING==") ||
         line.starts_with("==ERROR==");
}

bool is_ncu_text_table(std::string_view line) {
  line = trim(line);
  return line.starts_with("Metric Name ") && contains(line, " Metric Unit ") &&
         line.ends_with("Metric Value");
}

void NcuMessages::note_line(std::string_view line) {
  line = trim(line);
  if (is_ncu_text_table(line)) text_page = true;
  if (line.starts_with("Version ") && contains(line, "(build ")) {
    version = shortened(to_printable(line.substr(8, line.find(' ', 8) - 8)), 40);
  }
  if (!is_ncu_message(line)) return;
  if (contains(line, "ERR_NVGPUCTRPERM")) no_permission = true;
  if (contains(line, "were profiled") && contains(line, " No ")) nothing_profiled = true;
  if (contains(line, "driver resource") || contains(line, "Driver resource")) driver_in_use = true;
  if (!line.starts_with("==ERROR==")) return;
  // The wording about sections differs between versions of ncu; its error lines mention sections
  // only if one is missing or broken.
  if (contains(line, "section") || contains(line, "Section")) no_such_section = true;
  ++errors;
  if (first_error.empty()) {
    first_error = shortened(to_printable(trim(line.substr(line.find("== ") + 3))), kLongestError);
  }
}

void NcuMessages::merge(const NcuMessages& later) {
  no_permission |= later.no_permission;
  driver_in_use |= later.driver_in_use;
  no_such_section |= later.no_such_section;
  nothing_profiled |= later.nothing_profiled;
  text_page |= later.text_page;
  header |= later.header;
  errors += later.errors;
  if (first_error.empty()) first_error = later.first_error;
  if (version.empty()) version = later.version;
}

std::string ncu_failure(const NcuMessages& messages) {
  if (messages.no_permission) return std::string(kNoPermission);
  if (messages.driver_in_use) return std::string(kDriverInUse);
  if (messages.no_such_section) {
    return std::string(kNoSuchSection) + " (ncu said: " + messages.first_error + ")";
  }
  if (messages.errors > 0) return "ncu reported an error: " + messages.first_error;
  return {};
}

std::string ncu_refusal(const NcuMessages& messages, uint64_t bad_rows) {
  if (messages.no_permission || messages.driver_in_use || messages.no_such_section) {
    return ncu_failure(messages);
  }
  if (messages.text_page) return std::string(kTextPage);
  if (bad_rows > 0) {
    return "an ncu table without a single complete row (" + std::to_string(bad_rows) +
           " damaged). Export it again: `ncu --import REPORT.ncu-rep --page raw --csv > raw.csv`";
  }
  // An error explains an empty run better than the warning that it causes.
  if (messages.errors > 0) return ncu_failure(messages);
  if (messages.nothing_profiled) return std::string(kNothingProfiled);
  return messages.header
             ? "an ncu CSV header without any row: the capture or its export was truncated, or no "
               "kernel matched the filters. Export it again: `ncu --import REPORT.ncu-rep --page "
               "raw --csv > raw.csv`"
             : "output of ncu without a table of kernels. Record with `--csv --page raw`, or "
               "export a report: `ncu --import REPORT.ncu-rep --page raw --csv > raw.csv`";
}

}  // namespace llmprof::readers
