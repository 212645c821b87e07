#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"

namespace llmprof::capture {

// finished.txt: which stages are recorded, and by which command, so that an interrupted recording
// can be continued by another run. Only a hash of the command is kept.
class FinishedRuns {
 public:
  explicit FinishedRuns(std::filesystem::path file);

  [[nodiscard]] bool has(const std::string& run, const std::vector<std::string>& command) const;
  Result<void> add(const std::string& run, const std::vector<std::string>& command);

 private:
  std::filesystem::path file_;
  std::map<std::string, std::string> hash_of_;
};

}  // namespace llmprof::capture
