#include "analysis/budget/charge_once.h"

#include <algorithm>

namespace llmprof::analysis {
namespace {

constexpr auto kCommunicationClass = static_cast<size_t>(KernelClass::communication);
constexpr auto kMemory = static_cast<size_t>(BudgetPart::memory_operations);

}  // namespace

void ChargeOnce::Waiting::charge_until(Nanoseconds time, Nanoseconds& part) {
  const Nanoseconds until = std::min(to, time);
  if (until > from) {
    part += until - from;
    from = until;
  }
}

void ChargeOnce::Waiting::cover(Nanoseconds start, Nanoseconds end, Nanoseconds& part) {
  charge_until(start, part);
  from = std::max(from, end);
}

// What comes later starts later, so a gap before `start` is settled.
void ChargeOnce::Waiting::extend(Nanoseconds start, Nanoseconds end, Nanoseconds& part) {
  if (start > to) {
    charge_until(to, part);
    from = std::max(from, start);
  }
  to = std::max(to, end);
}

void ChargeOnce::kernel(Nanoseconds start, Nanoseconds end, size_t part, PartTimes& times) {
  const Nanoseconds from = std::max(start, kernels_until_);
  if (end > from) {
    times[part] += end - from;
    kernels_until_ = end;
  }
  communication_.cover(start, end, times[kCommunicationClass]);
  memory_.cover(start, end, times[kMemory]);
}

void ChargeOnce::communication(Nanoseconds start, Nanoseconds end, PartTimes& times) {
  communication_.extend(std::max(start, kernels_until_), end, times[kCommunicationClass]);
  memory_.cover(start, end, times[kMemory]);
  communication_until_ = std::max(communication_until_, end);
}

void ChargeOnce::memory(Nanoseconds start, Nanoseconds end, PartTimes& times) {
  const Nanoseconds free = std::max({start, kernels_until_, communication_until_});
  memory_.extend(free, end, times[kMemory]);
}

void ChargeOnce::finish(PartTimes& times) {
  communication_.charge_until(INT64_MAX, times[kCommunicationClass]);
  memory_.charge_until(INT64_MAX, times[kMemory]);
}

}  // namespace llmprof::analysis
