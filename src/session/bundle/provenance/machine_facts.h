#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmprof::session {

struct GpuFacts {
  std::string name;
  std::string uuid;
  std::string memory_mib;
  std::string max_sm_clock_mhz;
  std::string max_memory_clock_mhz;
  std::string compute_capability;
};

// Where a run took place. Empty where it could not be found out.
struct MachineFacts {
  std::string cpu;
  uint32_t cpu_count = 0;  // that this process may use
  uint64_t memory_bytes = 0;
  std::string os;      // "Debian GNU/Linux 12 (bookworm)"
  std::string kernel;  // "Linux 6.1.0 aarch64"
  std::string host;
  std::string driver;
  std::string cuda;  // the toolkit's, else the newest that the driver can
  std::vector<GpuFacts> gpus;
  std::string git_revision;  // of the folder the run was started in
  bool git_changed = false;  // it had changes that no commit holds
  // Of the variables that decide how a run goes, and no others: environments hold secrets.
  std::vector<std::pair<std::string, std::string>> environment;
};

MachineFacts machine_facts();

// The names of the variables that a record may hold.
std::span<const std::string_view> recorded_variables();

}  // namespace llmprof::session
