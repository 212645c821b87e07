#include "job/profile/amounts.h"

#include <algorithm>

namespace llmprof::job::result {

std::string device_of_rank(uint64_t rank, const std::string& device) {
  return "rank" + std::to_string(rank) + "/" + device;
}

void NamedTimes::add(const std::string& name, Nanoseconds time) {
  auto known =
      std::find_if(rows_.begin(), rows_.end(), [&](const auto& row) { return row.first == name; });
  if (known == rows_.end()) known = rows_.insert(known, {name, {}});
  known->second.value += time;
}

void NamedTimes::add(const profile::ByName<profile::WholeNanoseconds>& times) {
  for (const auto& [name, time] : times) add(name, time.value);
}

Nanoseconds NamedTimes::total() const {
  Nanoseconds sum = 0;
  for (const auto& [name, time] : rows_) sum += time.value;
  return sum;
}

profile::ByName<profile::WholeNanoseconds> NamedTimes::mean(size_t ranks) const {
  const auto count = static_cast<Nanoseconds>(ranks);
  profile::ByName<profile::WholeNanoseconds> means;
  Nanoseconds sum = 0;
  for (const auto& [name, time] : rows_) {
    const Nanoseconds before = sum / count;
    sum += time.value;
    if (const Nanoseconds share = sum / count - before; share != 0) {
      means.emplace_back(name, profile::WholeNanoseconds{share});
    }
  }
  return means;
}

}  // namespace llmprof::job::result
