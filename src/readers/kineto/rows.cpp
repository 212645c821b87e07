#include "readers/kineto/rows.h"

#include <cstring>

#include "base/text.h"
#include "readers/kineto/token.h"

namespace llmprof::readers {

void KinetoCounts::operator+=(const KinetoCounts& other) {
  usable += other.usable;
  bad += other.bad;
  repaired += other.repaired;
  skipped += other.skipped;
  python_functions += other.python_functions;
  gpu_annotations += other.gpu_annotations;
  for (const auto& [category, count] : other.unknown_categories) {
    unknown_categories[category] += count;
  }
  python_packages.insert(other.python_packages.begin(), other.python_packages.end());
}

size_t RawTextHash::operator()(std::string_view text) const {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15ULL;
  uint64_t even = text.size();
  uint64_t odd = kOdd;
  const char* at = text.data();
  size_t left = text.size();
  const auto word = [](const char* from, size_t count) {
    uint64_t value = 0;
    std::memcpy(&value, from, count);
    return value;
  };
  for (; left >= 16; left -= 16, at += 16) {
    even = (even ^ word(at, 8)) * kOdd;
    even ^= even >> 32U;
    odd = (odd ^ word(at + 8, 8)) * kOdd;
    odd ^= odd >> 32U;
  }
  if (left >= 8) {
    even = (even ^ word(at, 8)) * kOdd;
    at += 8;
    left -= 8;
  }
  if (left > 0) odd = (odd ^ word(at, left)) * kOdd;
  return trace::hash_mix(even, odd);
}

LocalString LocalStrings::intern(std::string_view raw) {
  if (const auto known = ids_.find(raw); known != ids_.end()) return known->second;
  const LocalString id(raw_.size());
  ids_.emplace(raw_.emplace_back(raw), id);
  bytes_ += raw.size();
  return id;
}

std::string LocalStrings::text(size_t i) const {
  const std::string& raw = raw_[i];
  const bool plain = raw.find('\\') == std::string::npos && is_printable_utf8(raw);
  return plain ? raw : unescaped(raw);
}

void KinetoRows::clear() {
  kernels.clear();
  memory_operations.clear();
  launches.clear();
  operators.clear();
  annotations.clear();
  modules.clear();
  collectives.clear();
  task_names.clear();
  counts = {};
  ends_within_event = false;
  constexpr size_t kMostEntries = 1UL << 15U;
  constexpr size_t kMostStringBytes = 8UL << 20U;
  if (strings.size() > kMostEntries || strings.bytes() > kMostStringBytes ||
      shapes.size() > kMostEntries || queues.size() > kMostEntries ||
      threads.size() > kMostEntries) {
    strings = {};
    shapes = {};
    queues = {};
    threads = {};
    ++numbering;
  }
}

}  // namespace llmprof::readers
