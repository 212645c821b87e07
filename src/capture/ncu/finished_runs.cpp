#include "capture/ncu/finished_runs.h"

#include <fmt/format.h>

#include <fstream>

#include "base/files.h"

namespace llmprof::capture {
namespace {

// FNV-1a.
std::string hash(const std::vector<std::string>& command) {
  uint64_t value = 14695981039346656037U;
  const auto take = [&](char c) {
    value = (value ^ static_cast<unsigned char>(c)) * 1099511628211U;
  };
  for (const std::string& word : command) {
    for (const char c : word) take(c);
    take('\0');
  }
  return fmt::format("{:016x}", value);
}

}  // namespace

FinishedRuns::FinishedRuns(std::filesystem::path file) : file_(std::move(file)) {
  std::ifstream stream(file_);
  std::string run;
  std::string written;
  while (stream >> run >> written) hash_of_[run] = written;
}

bool FinishedRuns::has(const std::string& run, const std::vector<std::string>& command) const {
  const auto found = hash_of_.find(run);
  return found != hash_of_.end() && found->second == hash(command);
}

Result<void> FinishedRuns::add(const std::string& run, const std::vector<std::string>& command) {
  hash_of_[run] = hash(command);
  std::string text;
  for (const auto& [name, written] : hash_of_) text += fmt::format("{} {}\n", name, written);
  return write_file_atomically(file_, text);
}

}  // namespace llmprof::capture
