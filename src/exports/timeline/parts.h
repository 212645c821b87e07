#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exports/clocks/own_axes.h"
#include "exports/exports.h"
#include "exports/shared_rows.h"
#include "exports/timeline/column.h"
#include "profile/vocabulary.h"

// Shared by the parts of a timeline while it is built.
namespace llmprof::exports {

struct Table {
  std::string name;
  size_t rows = 0;
  std::vector<std::pair<std::string, Column>> columns;

  [[nodiscard]] Column& column(std::string_view of);
  // Adds the values of one row, in column order. The caller counts the rows.
  void add(auto... values) {
    auto next = columns.begin();
    ((next++)->second.add(values), ...);
  }
};

// A level of a track's pyramid: bins of equal width from the origin.
struct Level {
  Nanoseconds bin = 0;
  size_t first = 0;  // in the columns of the pyramid
  size_t count = 0;
};

// In this order within a GPU.
enum class TrackKind : uint8_t { stages, steps, layers, stream, counter, thread };

struct Track {
  size_t source = 0;  // the rank's place in the file
  std::string id;
  TrackKind kind{};
  std::string label;
  std::string group;
  std::string device;  // as in profile.json; empty for threads
  std::string table;
  size_t first = 0;  // row
  size_t count = 0;
  std::optional<std::string> unit;  // of counters
  std::optional<double> max;        // of counters
  std::vector<Level> levels;
};

struct Window {
  Nanoseconds origin = 0;
  Nanoseconds end = 0;

  [[nodiscard]] Nanoseconds span() const { return end - origin; }
};

// Rows of other tables that GPU work refers to.
struct RowsOf {
  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> call;      // by row of Trace::launches
  std::vector<uint32_t> instance;  // by InstanceId
  std::vector<uint32_t> step;      // by StepId
};

struct KernelEntry {
  uint32_t name = 0;
  uint32_t short_name = 0;
  uint8_t kernel_class = 0;

  auto operator<=>(const KernelEntry&) const = default;
};

// Idle gaps with one cause inside the measured instances of a stage, in ns.
struct GapsOfCause {
  uint64_t count = 0;
  uint64_t total = 0;
  uint64_t longest = 0;
  Nanoseconds longest_start = 0;  // from the window's origin
};

struct Draft {
  Window window;                  // on the file's clock
  std::vector<ClockSpan> clocks;  // of captures that each start at 0; empty if all share one
  trace::StringPool names;
  std::vector<Track> tracks;
  std::deque<Table> tables;  // a deque: references to tables stay valid while others are added
  std::vector<KernelEntry> kernels;
  std::vector<trace::LaunchShape> shapes;
  std::map<std::pair<std::string, uint8_t>, GapsOfCause> gaps;  // by stage and BudgetPart
  // The source being added.
  size_t source = 0;
  job::JobClock clock;
  RowsOf rows;

  // The table of that name, shared by all sources, with columns "start:sdelta duration:u".
  Table& table(std::string_view name, std::string_view columns);
  void add_track(Track track);
  // The row of an entry in `kernels`: ranks that run the same kernel share it.
  uint32_t kernel(const KernelEntry& entry);

  // Relative to the window's origin.
  [[nodiscard]] Nanoseconds at(Nanoseconds time) const {
    return clock.job_time(time) - window.origin;
  }
  [[nodiscard]] uint64_t length(Nanoseconds start, Nanoseconds end) const {
    return end <= start ? 0 : static_cast<uint64_t>(clock.job_time(end) - clock.job_time(start));
  }

 private:
  std::map<KernelEntry, uint32_t> known_kernels_;
};

// A track in the group of a device: "GPU 0", "rank 3 / GPU 0"; "CPU" if the program computes on the
// CPU. Its rows start where the table ends.
Track device_track(const ExportSource& source, trace::DeviceId device, TrackKind kind,
                   std::string_view label, const Table& table);

// Fills the columns of known rows that have their tracks. May run concurrently with everything
// except another one on the same table. The source and the draft must outlive it.
using EncodeRows = std::function<void()>;

// Each adds rows to its tables, and a track for each stream, thread, stage level and counter.
// Calls, stages and steps come before the GPU work, which refers to them.
void add_stage_rows(const ExportSource& source, Draft& draft);
[[nodiscard]] EncodeRows add_call_rows(const ExportSource& source, Draft& draft);
[[nodiscard]] EncodeRows add_range_rows(const ExportSource& source, Nanoseconds last, Draft& draft);
void add_layer_rows(const ExportSource& source, Draft& draft);
void add_gpu_rows(const ExportSource& source, Draft& draft);
void add_counter_rows(const ExportSource& source, Draft& draft);
void add_gap_summary(const ExportSource& source, Draft& draft);

// Levels of detail of one stream: the busy share of each bin, and the class with the most time in
// it. Work must be added by start.
class Pyramid {
 public:
  static constexpr size_t kFewestRows = 4096;  // fewer are drawn individually
  static constexpr size_t kClasses = 16;

  explicit Pyramid(const Window& window);

  void add(Nanoseconds start, Nanoseconds end, uint8_t kernel_class);
  // Appends the levels, the finest first.
  std::vector<Level> write(Column& busy, Column& classes, size_t& written);

 private:
  static constexpr size_t kFinestBins = 65536;
  static constexpr size_t kWider = 4;        // than the previous level
  static constexpr size_t kFewestBins = 64;  // of the coarsest level

  struct Bin {
    uint32_t busy = 0;
    uint32_t classes = 0;  // bit set of the classes with time
    std::array<uint32_t, kClasses> by_class{};

    void add(size_t kernel_class, uint32_t time);
    void add(const Bin& other);
    // The first of equal ones; class 0 if none has time.
    [[nodiscard]] uint8_t longest_class() const;
  };
  // A level in progress: its finished bins, and the partial sum for the next level's bin.
  struct OpenLevel {
    Nanoseconds width = 0;
    size_t bins = 0;  // when complete
    std::string busy;
    std::string classes;
    Bin wider;
  };

  // No more work starts before that bin.
  void close_before(size_t bin);
  Bin& open_bin(size_t bin);
  void finish_bin(size_t level, const Bin& bin);

  Nanoseconds origin_;
  Nanoseconds bin_;
  uint32_t shift_;  // times are in units of 2^shift ns, so that a bin fits 32 bits
  Nanoseconds busy_until_;
  size_t bin_of_start_ = 0;  // of the most recently added work
  std::vector<OpenLevel> levels_;
  std::vector<Bin> open_;  // bins of the finest level, from closed_of_open_
  size_t closed_of_open_ = 0;
};

}  // namespace llmprof::exports
