#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "readers/nsys_csv/report.h"
#include "trace/interner.h"
#include "trace/string_pool.h"
#include "trace/tables.h"

namespace llmprof::readers::nsys_csv {

using PlaceId = trace::Id<struct PlaceKind>;

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

// Rows of the reports as one window has them. Their string, shape and place ids belong to the
// pools of the thread that parsed them; the merge turns them into the trace's own.

enum class GpuWork : uint8_t { kernel, copy, set };

// Where GPU work ran, as the report words it.
struct Place {
  trace::StringId device;      // "NVIDIA H200 (0)"; none: not said
  uint32_t device_number = 0;  // counts where `device` says nothing
  uint32_t process = 0;        // 0: not said
  uint32_t context = 0;
  uint32_t stream = 0;

  friend bool operator==(const Place&, const Place&) = default;
  [[nodiscard]] size_t hash() const {
    const size_t seed = trace::hash_mix(trace::hash_mix(device.value, device_number), process);
    return trace::hash_mix(trace::hash_mix(seed, context), stream);
  }
};

struct GpuRow {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  uint64_t bytes = 0;
  trace::StringId name;  // a memory operation's direction
  trace::ShapeId shape;
  PlaceId place;
  uint32_t correlation = 0;
  GpuWork work = GpuWork::kernel;
  trace::MemoryPlace from = trace::MemoryPlace::unknown;
  trace::MemoryPlace to = trace::MemoryPlace::unknown;
};

// An API call or a range.
struct CpuRow {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  trace::StringId name;
  trace::StringId thread_name;
  uint32_t process = 0;
  uint32_t thread = 0;
  uint32_t correlation = 0;
  trace::RangeKind range_kind = trace::RangeKind::push_pop;
};

struct ExecRow {
  GpuRow kernel;
  CpuRow launch;
  bool has_launch = false;
};

struct SummaryRow {
  ReportKind subject = ReportKind::kernel_summary;  // of a row of mixed_summary, what it is about
  trace::StringId name;
  trace::StringId kernel;
  uint64_t calls = 0;
  uint64_t range_instances = 0;
  Nanoseconds total = 0;
  double median = 0;
  Nanoseconds min = 0;
  Nanoseconds max = 0;
};

struct Rows {
  std::vector<GpuRow> gpu;
  std::vector<CpuRow> api;
  std::vector<CpuRow> ranges;
  std::vector<CpuRow> projected_ranges;
  std::vector<ExecRow> exec;
  std::vector<SummaryRow> summaries;
  uint64_t unused = 0;         // of reports that are not used
  uint64_t rounded_sizes = 0;  // copies whose size is known to the nearest 1000 bytes only

  [[nodiscard]] size_t used() const {
    return gpu.size() + api.size() + ranges.size() + projected_ranges.size() + exec.size() +
           summaries.size();
  }
};

struct RowPools {
  RecentStrings strings;
  trace::Interner<trace::ShapeId, trace::LaunchShape> shapes;
  trace::Interner<PlaceId, Place> places;
  // By the text of a row's shape and place columns; forgotten when the table changes.
  ByText<trace::ShapeId> shapes_by_text;
  ByText<PlaceId> places_by_text;

  void begin_table() {
    shapes_by_text.clear();
    places_by_text.clear();
  }
};

// Reads one row that is as wide as its header (`text` is the whole of it, its fields are views into
// it unless a quote was undone); false when a value it needs is missing or senseless.
bool read_row(const ReportLayout& layout, std::string_view text,
              const std::vector<std::string_view>& fields, RowPools& pools, Rows& rows);

}  // namespace llmprof::readers::nsys_csv
