#include "capture/ncu/ncu_messages.h"

#include <fstream>

#include "base/secrets/secrets.h"
#include "base/text.h"

namespace llmprof::capture {
namespace {

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

// Calls use(line) for each line of a text that comes in parts. `begun` is the last one, which may
// go on; of an endless line only the beginning counts.
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

// The file from an offset on, in parts; the offset moves on.
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

}  // namespace

void NcuRunMessages::note_line(std::string_view line) {
  line = trim(line);
  if (line.starts_with("==PROF== Profiling ")) ++launches;
  const bool is_error = line.starts_with("==ERROR==");
  if (!is_error && !line.starts_with("==WARNING==")) {
    // A wrong option is reported without any mark.
    if (line.starts_with("the argument for option") || line.starts_with("unrecognised option")) {
      if (first_error.empty())
        first_error = shortened(to_printable(without_secrets(line)), kLongestError);
    }
    return;
  }
  if (contains(line, "ERR_NVGPUCTRPERM")) no_permission = true;
  if (contains(line, "No kernels were profiled") || contains(line, "No ranges were profiled")) {
    nothing_profiled = true;
  }
  if (contains(line, "river resource")) driver_in_use = true;
  if (!is_error) return;
  if (contains(line, "failed to connect to the CUDA driver") ||
      contains(line, "Cuda driver is not compatible")) {
    no_driver = true;
  }
  if (contains(line, "did not match any section")) {
    unknown_sections.emplace_back(between(line, "--section ", "'"));
    return;
  }
  if (const auto code = between(line, "returned an error code (", ")"); !code.empty()) {
    program_exit_code = parse_int(code).value_or(1);
    return;
  }
  if (first_error.empty()) {
    constexpr std::string_view kMark = "==ERROR==";
    first_error =
        shortened(to_printable(without_secrets(trim(line.substr(kMark.size())))), kLongestError);
  }
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

}  // namespace llmprof::capture
