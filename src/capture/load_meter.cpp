#include "capture/load_meter.h"

#include <algorithm>

namespace llmprof::capture {
namespace {

// The machine counts in ticks of 10 ms per CPU.
constexpr double kShortestSeconds = 0.2;

}  // namespace

LoadMeter::LoadMeter()
    : begin_(std::chrono::steady_clock::now()),
      machine_(usable_cpu_times()),
      own_(own_cpu_seconds()) {}

std::optional<CommandLoad> LoadMeter::read() const {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
  const auto machine = usable_cpu_times();
  if (!machine_ || !machine || machine->cpus != machine_->cpus) return std::nullopt;
  if (passed.count() < kShortestSeconds) return std::nullopt;
  const double used = own_cpu_seconds() - own_;
  const double others = std::max(machine->busy - machine_->busy - used, 0.0);
  return CommandLoad{static_cast<double>(machine->cpus), used / passed.count(),
                     others / passed.count()};
}

}  // namespace llmprof::capture
