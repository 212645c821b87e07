#include <fmt/format.h>

#include "base/text.h"
#include "capture/probes/probe_families.h"

namespace llmprof::capture {

std::vector<Probe> probe_sampling(const DoctorOptions& options) {
  constexpr const char* kName = "CPU sampling";
  constexpr int64_t kMostAllowed = 2;  // nsys samples its own user's processes up to this level
  const auto text = system_file(options, "proc/sys/kernel/perf_event_paranoid");
  if (!text) {
    return {missing(kName, "this kernel has no perf events; nsys can trace nevertheless",
                    "keep nsys.sample=none")};
  }
  const int64_t level = parse_int(trim(*text)).value_or(kMostAllowed + 1);
  if (level <= kMostAllowed) {
    return {found(kName, fmt::format("allowed (perf_event_paranoid {})", level))};
  }
  return {trouble(kName,
                  fmt::format("not allowed (perf_event_paranoid {}, nsys needs at most {}); nsys "
                              "can trace nevertheless",
                              level, kMostAllowed),
                  fmt::format("as root: sysctl kernel.perf_event_paranoid={}; or leave "
                              "nsys.sample=none",
                              kMostAllowed))};
}

}  // namespace llmprof::capture
