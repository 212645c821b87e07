#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/error.h"

namespace llmprof::session {

// The user's command line, or `server.load` of a workload, as written.
struct LoadArguments {
  std::string url;
  std::optional<std::string> rate;
  std::optional<uint64_t> concurrency;
  std::optional<uint64_t> requests;
  std::optional<std::string> duration;
  std::optional<std::string> prompt_tokens;
  std::optional<std::string> new_tokens;
  std::optional<std::string> prompt_as;  // words, tokens
  std::optional<std::filesystem::path> prompts;
  std::optional<std::filesystem::path> replay;
  std::optional<std::string> speed;
  std::optional<std::string> arrivals;
  uint64_t seed = 0;
  std::optional<std::string> api;
  std::string model;
  std::optional<std::filesystem::path> ca_file;
  uint64_t warm_up = 0;
  std::optional<std::string> timeout;
  std::optional<std::string> slo;
  std::optional<std::string> sweep;
  std::optional<std::filesystem::path> out;
  bool force = false;
};

// Only checks them, and reads the files that they name: an error of kind usage or input.
Result<void> check_load(const LoadArguments& arguments);

}  // namespace llmprof::session
