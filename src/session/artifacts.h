#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"

namespace llmprof {

// The folder that one run or analysis leaves behind.
class Artifacts {
 public:
  // Makes the folder. One that exists and is not empty is refused unless `force`: nothing that a
  // user captured is overwritten by accident.
  static Result<Artifacts> create(std::filesystem::path root, bool force);

  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  [[nodiscard]] std::filesystem::path path(std::string_view name) const { return root_ / name; }

 private:
  std::filesystem::path root_;
};

// "20261115-013000" in local time.
std::string new_run_id();

// `parent`/<run id>, with a number behind it where that exists already.
std::filesystem::path fresh_run_folder(const std::filesystem::path& parent);

}  // namespace llmprof
