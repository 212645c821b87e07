#include <charconv>

#include "base/text.h"
#include "capture/ncu/ncu_messages.h"
#include "capture/probes/probe_families.h"

namespace llmprof::capture {
namespace {

constexpr unsigned kSysAdmin = 21;  // CAP_SYS_ADMIN
constexpr int kHex = 16;

// The rest of the line that begins with `key`.
std::string_view line_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (line.starts_with(key)) return trim(line.substr(key.size()));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

// Being root is not enough in a container: the driver asks for the capability.
bool may_administer(const DoctorOptions& options) {
  const std::string status = system_file(options, "proc/self/status").value_or("");
  const std::string_view effective = line_of(status, "CapEff:");
  uint64_t capabilities = 0;
  std::from_chars(effective.data(), effective.data() + effective.size(), capabilities, kHex);
  return ((capabilities >> kSysAdmin) & 1U) != 0;
}

}  // namespace

std::vector<Probe> probe_counters(const DoctorOptions& options) {
  constexpr const char* kName = "counter permission";
  const auto params = system_file(options, "proc/driver/nvidia/params");
  if (!params) {
    return {
        missing(kName, "no NVIDIA driver is loaded (/proc/driver/nvidia/params)", "see driver")};
  }
  const std::string_view restricted = line_of(*params, "RmProfilingAdminOnly:");
  if (restricted == "0") return {found(kName, "available to all users (RmProfilingAdminOnly 0)")};
  if (may_administer(options)) {
    return {found(kName, "restricted to administrators; this user is one (CAP_SYS_ADMIN)")};
  }
  return {trouble(kName,
                  "restricted to administrators (RmProfilingAdminOnly 1): ncu will fail with "
                  "ERR_NVGPUCTRPERM; timelines are not affected",
                  counter_permission_remedy())};
}

}  // namespace llmprof::capture
