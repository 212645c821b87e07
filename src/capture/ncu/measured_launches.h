#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace llmprof::capture {

// How many launches ncu has measured, by the log that it is writing.
class MeasuredLaunches {
 public:
  // Reads what was added to the log since the last call.
  uint64_t count(const std::filesystem::path& log);

 private:
  uint64_t read_ = 0;  // bytes
  uint64_t measured_ = 0;
  std::string line_;  // the last one, which may go on
};

}  // namespace llmprof::capture
