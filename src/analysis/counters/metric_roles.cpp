#include "analysis/counters/metric_roles.h"

#include <array>

namespace llmprof::analysis {
namespace {

// Chips differ in prefixes and suffixes: a name that holds `part` and has the unit has the role.
struct Known {
  std::string_view part;
  std::string_view unit;
  CounterRole role;
};
constexpr std::array kKnown = {
    Known{"dram__bytes_read.sum", "byte", CounterRole::dram_read},
    Known{"dram__bytes_write.sum", "byte", CounterRole::dram_write},
    Known{"pipe_tensor", "%", CounterRole::tensor_active},
    Known{"sm__cycles_active", "%", CounterRole::sm_active},
    Known{"sm_clock", "MHz", CounterRole::sm_clock},
    Known{"memory_clock", "MHz", CounterRole::memory_clock},
    Known{"power", "W", CounterRole::power},
    Known{"temperature", "C", CounterRole::temperature},
    Known{"energy", "J", CounterRole::energy},
    Known{"throttle_reasons", "", CounterRole::throttle_reasons},
};

// Bits of nvmlClocksEventReasons.
constexpr std::array kReasons = {
    ThrottleReason{0x1, "GPU idle", false},
    ThrottleReason{0x2, "application clocks setting", false},
    ThrottleReason{0x4, "power cap", true},
    ThrottleReason{0x8, "hardware slowdown", true},
    ThrottleReason{0x10, "sync boost", false},
    ThrottleReason{0x20, "thermal slowdown (software)", true},
    ThrottleReason{0x40, "thermal slowdown (hardware)", true},
    ThrottleReason{0x80, "power brake (hardware)", true},
    ThrottleReason{0x100, "display clock setting", false},
};

}  // namespace

std::optional<CounterRole> counter_role(std::string_view name, std::string_view unit) {
  for (const Known& known : kKnown) {
    const bool unit_fits = known.unit.empty() || known.unit == unit;
    if (unit_fits && name.find(known.part) != std::string_view::npos) return known.role;
  }
  return std::nullopt;
}

std::vector<ThrottleReason> throttle_reasons(uint64_t mask) {
  std::vector<ThrottleReason> found;
  for (const ThrottleReason& reason : kReasons) {
    if ((mask & reason.bit) == 0) continue;
    found.push_back(reason);
    mask &= ~reason.bit;
  }
  if (mask != 0) found.push_back({mask, "other reasons", false});
  return found;
}

}  // namespace llmprof::analysis
