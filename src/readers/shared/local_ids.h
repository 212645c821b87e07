#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "trace/interner.h"
#include "trace/tables.h"

// Threads that read parts of a capture concurrently share nothing: each assigns its own ids, and
// its rows get the trace's ids when they are merged.
namespace llmprof::readers {

// A StringPool with a cache of recent texts: kernel names are long and few, so hashing a sample of
// their bytes and comparing once costs less than hashing each in full in every row.
class RecentStrings {
 public:
  trace::StringId intern(std::string_view text) {
    Entry& entry = entries_[slot_of(text)];
    if (entry.id.valid() && entry.text == text) return entry.id;
    const size_t known = pool_.size();
    entry.id = pool_.intern(text);
    entry.text = pool_[entry.id];
    if (pool_.size() > known) bytes_ += text.size();
    return entry.id;
  }
  [[nodiscard]] std::string_view operator[](trace::StringId id) const { return pool_[id]; }
  [[nodiscard]] size_t size() const { return pool_.size(); }
  [[nodiscard]] size_t bytes() const { return bytes_; }

 private:
  static constexpr size_t kEntries = 1024;
  struct Entry {
    std::string_view text;
    trace::StringId id;
  };

  static size_t slot_of(std::string_view text) {
    constexpr size_t kSample = sizeof(uint64_t);
    uint64_t mixed = text.size();
    if (text.size() >= kSample) {
      for (const size_t at : {size_t{0}, text.size() / 4, text.size() / 2, text.size() * 3 / 4,
                              text.size() - kSample}) {
        uint64_t sample = 0;
        std::memcpy(&sample, text.data() + std::min(at, text.size() - kSample), kSample);
        mixed = (mixed ^ sample) * 0x9E3779B97F4A7C15ULL;
        mixed ^= mixed >> 32U;
      }
    } else {
      for (const char c : text) mixed = mixed * 131 + static_cast<unsigned char>(c);
    }
    return mixed % kEntries;
  }

  trace::StringPool pool_;
  std::array<Entry, kEntries> entries_;
  size_t bytes_ = 0;
};

// Values with one thread's ids, and the trace's ids for them, looked up on first use.
template <class Id, class Value, class Values = trace::Interner<Id, Value>>
class LocalIds {
 public:
  Id intern(const Value& value) { return values_.intern(value); }

  // None stays none.
  template <class Find>
  Id settle(Id local, const Find& find) {
    if (!local.valid()) return local;
    if (local.index() >= ids_.size()) ids_.resize(values_.size());
    Id& id = ids_[local.index()];
    if (!id.valid()) id = find(values_[local]);
    return id;
  }
  template <class Find>
  void settle(std::span<Id> column, const Find& find) {
    for (Id& id : column) id = settle(id, find);
  }
  // In the order in which the thread first saw them.
  template <class Find>
  void settle_all(const Find& find) {
    for (size_t i = ids_.size(); i < values_.size(); ++i) ids_.push_back(find(values_[Id(i)]));
  }
  // Forgets the trace's ids; the thread's own ids stay.
  void unsettle() { ids_.clear(); }

  [[nodiscard]] const Values& values() const { return values_; }
  [[nodiscard]] size_t size() const { return values_.size(); }

 private:
  Values values_;
  std::vector<Id> ids_;
};

using LocalStrings = LocalIds<trace::StringId, std::string_view, RecentStrings>;
using LocalShapes = LocalIds<trace::ShapeId, trace::LaunchShape>;

}  // namespace llmprof::readers
