#pragma once

#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace llmprof::capture {

// A workload that never ends by itself: it is profiled while `client` runs, then told to stop.
struct ServerWorkload {
  std::string ready_url;          // answers with a status below 500 once it serves; or
  std::string ready_log_pattern;  // a regular expression that its output matches then
  std::chrono::milliseconds ready_timeout = std::chrono::minutes(10);
  std::vector<std::string> warm_up;  // argv, run once before the client; empty: none
  std::vector<std::string> client;   // argv
  int stop_signal = SIGINT;
};

// What is profiled, before a tool is put in front of it.
struct WorkloadCommand {
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> environment;  // beside ours
  std::filesystem::path working_folder;                          // empty: ours
  bool uses_cuda = true;  // then a timeline without GPU kernels is a failure
  std::optional<ServerWorkload> server;
};

}  // namespace llmprof::capture
