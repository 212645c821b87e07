#include "capture/ncu/measured_launches.h"

#include <array>
#include <fstream>

#include "base/text.h"

namespace llmprof::capture {
namespace {

constexpr size_t kLongestTold = 4096;

// `==PROF== Profiling "gemm": 0%....50%....100% - 18 passes`
bool tells_measured_launch(std::string_view line) {
  return line.starts_with("==PROF== Profiling ") && contains(line, "100%");
}

}  // namespace

uint64_t MeasuredLaunches::count(const std::filesystem::path& log) {
  std::ifstream stream(log, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(read_));
  std::array<char, 64UL << 10U> buffer;
  while (stream) {
    stream.read(buffer.data(), buffer.size());
    std::string_view text(buffer.data(), static_cast<size_t>(stream.gcount()));
    read_ += text.size();
    while (!text.empty()) {
      const size_t end = text.find('\n');
      if (line_.size() < kLongestTold) line_ += text.substr(0, end);
      if (end == std::string_view::npos) break;
      if (tells_measured_launch(line_)) ++measured_;
      line_.clear();
      text.remove_prefix(end + 1);
    }
  }
  return measured_;
}

}  // namespace llmprof::capture
