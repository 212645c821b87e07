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

// Cuts text into lines as it comes; of an endless line only the beginning counts.
class Lines {
 public:
  explicit Lines(NcuRunMessages& messages) : messages_(messages) {}
  void add(std::string_view text) {
    while (!text.empty()) {
      const size_t end = text.find('\n');
      const std::string_view part = text.substr(0, end);
      if (line_.size() < kLongestLine) line_ += part.substr(0, kLongestLine - line_.size());
      if (end == std::string_view::npos) return;
      finish();
      text.remove_prefix(end + 1);
    }
  }
  void finish() {
    messages_.note_line(line_);
    line_.clear();
  }

 private:
  NcuRunMessages& messages_;
  std::string line_;
};

}  // namespace

void NcuRunMessages::note_line(std::string_view line) {
  line = trim(line);
  if (line.starts_with("==PROF== Profiling ")) ++launches;
  const bool is_error = line.starts_with("==ERROR==");
  if (!is_error && !line.starts_with("==WARNING==")) {
    // A wrong option is told without any mark.
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
  Lines lines(messages);
  std::ifstream stream(log, std::ios::binary);
  std::string chunk(kChunk, '\0');
  while (stream) {
    stream.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    lines.add(std::string_view(chunk).substr(0, static_cast<size_t>(stream.gcount())));
  }
  lines.finish();
  return messages;
}

NcuRunMessages ncu_messages_in(std::string_view text) {
  NcuRunMessages messages;
  Lines lines(messages);
  lines.add(text);
  lines.finish();
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

}  // namespace llmprof::capture
