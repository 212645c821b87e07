#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "exports/clocks/own_axes.h"
#include "exports/exports.h"
#include "exports/shared_rows.h"
#include "exports/timeline/column.h"

// What the parts of a timeline share while it is made.
namespace llmprof::exports {

struct Table {
  std::string name;
  size_t rows = 0;
  std::vector<std::pair<std::string, Column>> columns;

  [[nodiscard]] Column& column(std::string_view of);
  // Values of one row, in the order of the columns. Who adds them counts the rows.
  void add(auto... values) {
    auto next = columns.begin();
    ((next++)->second.add(values), ...);
  }
};

// A level of a track's pyramid: bins of equal width from the origin on.
struct Level {
  Nanoseconds bin = 0;
  size_t first = 0;  // in the columns of the pyramid
  size_t count = 0;
};

struct Track {
  size_t source = 0;  // the rank's place among those of the file
  std::string id;
  std::string kind;
  std::string label;
  std::string group;
  std::string device;  // as profile.json has it; empty of threads
  std::string table;
  size_t first = 0;  // row
  size_t count = 0;
  std::optional<std::string> unit;  // of counters
  std::optional<double> max;        // likewise
  std::vector<Level> levels;
};

struct Window {
  Nanoseconds origin = 0;
  Nanoseconds end = 0;

  [[nodiscard]] Nanoseconds span() const { return end - origin; }
};

// Where the rows of other tables are that GPU work refers to.
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

struct ColumnSpec {
  std::string_view name;
  Coding coding;
};

// Idle gaps of one cause inside the measured instances of a stage, in ns.
struct GapsOfCause {
  uint64_t count = 0;
  uint64_t total = 0;
  uint64_t longest = 0;
  Nanoseconds longest_start = 0;  // since the window's origin
};

struct Draft {
  Window window;                  // on the clock of the file
  std::vector<ClockSpan> clocks;  // of captures that each begin at 0; empty where all share one
  Names names;
  std::vector<Track> tracks;
  std::deque<Table> tables;  // who adds rows holds on to a table while others are made
  std::vector<KernelEntry> kernels;
  std::vector<trace::LaunchShape> shapes;
  std::map<std::pair<std::string, uint8_t>, GapsOfCause> gaps;  // by stage and BudgetPart
  // Of the source that is being added.
  size_t source = 0;
  job::JobClock clock;
  RowsOf rows;

  // The table of that name, to which each source adds its rows.
  Table& table(std::string_view name, std::initializer_list<ColumnSpec> columns);
  void add_track(Track track);
  // The row of an entry in `kernels`: ranks that run the same kernel share it.
  uint32_t kernel(const KernelEntry& entry);

  // Since the window's origin.
  [[nodiscard]] Nanoseconds at(Nanoseconds time) const {
    return clock.job_time(time) - window.origin;
  }
  [[nodiscard]] uint64_t length(Nanoseconds start, Nanoseconds end) const {
    return end <= start ? 0 : static_cast<uint64_t>(clock.job_time(end) - clock.job_time(start));
  }

 private:
  std::map<KernelEntry, uint32_t> known_kernels_;
};

// "GPU 0", "rank 3 / GPU 0"; "CPU" where the processors compute.
std::string group_of(const ExportSource& source, trace::DeviceId device);
// The same as profile.json's kernels name it: "cuda:0", "rank3/cuda:0"; empty of none.
std::string device_of(const ExportSource& source, trace::DeviceId device);

// Fills the columns of rows that are known and have their tracks; may run beside all but another
// one of the same table. The source and the draft must outlive it.
using EncodeRows = std::function<void()>;

// Each adds rows to its tables, and a track for each stream, thread, stage level and counter.
// Calls, stages and steps come before the GPU's work, which refers to them.
void add_stage_rows(const ExportSource& source, Draft& draft);
[[nodiscard]] EncodeRows add_call_rows(const ExportSource& source, Draft& draft);
[[nodiscard]] EncodeRows add_range_rows(const ExportSource& source, Nanoseconds last, Draft& draft);
void add_layer_rows(const ExportSource& source, Draft& draft);
void add_gpu_rows(const ExportSource& source, Draft& draft);
void add_counter_rows(const ExportSource& source, Draft& draft);
void add_gap_summary(const ExportSource& source, Draft& draft);

// Levels of detail of one stream: how much of each bin is busy, and which class took most of it.
// Work is added in order of its start.
class Pyramid {
 public:
  static constexpr size_t kFewestRows = 4096;  // fewer are drawn one by one
  static constexpr size_t kClasses = 16;

  explicit Pyramid(const Window& window);

  void add(Nanoseconds start, Nanoseconds end, uint8_t kernel_class);
  // Appends the levels, the finest first.
  std::vector<Level> write(Column& busy, Column& classes, size_t& written);

 private:
  static constexpr size_t kFinestBins = 65536;
  static constexpr size_t kWider = 4;        // each level than the one before
  static constexpr size_t kFewestBins = 64;  // of the coarsest level

  struct Bin {
    uint32_t busy = 0;
    uint32_t classes = 0;  // the bits of those that have time
    std::array<uint32_t, kClasses> by_class{};

    void add(size_t kernel_class, uint32_t time);
    void add(const Bin& other);
    // Of equal ones the first; the first of all where none has time.
    [[nodiscard]] uint8_t longest_class() const;
  };
  // What is known of a level: its finished bins, and the sum of those that begin the next level's.
  struct OpenLevel {
    Nanoseconds width = 0;
    size_t bins = 0;  // when it is complete
    std::string busy;
    std::string classes;
    Bin wider;
  };

  // No more work begins before that bin.
  void close_before(size_t bin);
  Bin& open_bin(size_t bin);
  void finish_bin(size_t level, const Bin& bin);

  Nanoseconds origin_;
  Nanoseconds bin_;
  uint32_t shift_;  // times are counted in units of 2^shift ns, so that a bin's fit 32 bits
  Nanoseconds busy_until_;
  size_t bin_of_start_ = 0;  // of the work added last
  std::vector<OpenLevel> levels_;
  std::vector<Bin> open_;  // of the finest level, from closed_of_open_ on
  size_t closed_of_open_ = 0;
};

}  // namespace llmprof::exports
