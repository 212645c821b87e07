#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "trace/interner.h"
#include "trace/string_pool.h"

namespace llmprof::readers::nsys_csv {

// A StringPool with a memory of recent texts: kernel names are long and few, so looking at a sample
// of their bytes and comparing once costs less than hashing them whole in every row.
class RecentStrings {
 public:
  trace::StringId intern(std::string_view text) {
    Entry& entry = entries_[slot_of(text)];
    if (entry.id.valid() && entry.text == text) return entry.id;
    entry.id = pool_.intern(text);
    entry.text = pool_[entry.id];
    return entry.id;
  }
  [[nodiscard]] std::string_view operator[](trace::StringId id) const { return pool_[id]; }
  [[nodiscard]] size_t size() const { return pool_.size(); }

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
};

// Remembers what a stretch of a row's text was read as, so that fields which repeat from row to row
// (grid, block, registers; device, context, stream) are not parsed again.
template <class IdType>
class ByText {
 public:
  template <class Read>
  IdType find(std::string_view text, Read read) {
    const trace::StringId key = texts_.intern(text);
    if (known_.size() < texts_.size()) known_.resize(texts_.size());
    IdType& id = known_[key.index()];
    if (!id.valid()) id = read();
    return id;
  }
  void clear() {
    if (texts_.size() > 0) *this = {};
  }

 private:
  RecentStrings texts_;
  std::vector<IdType> known_;
};

}  // namespace llmprof::readers::nsys_csv
