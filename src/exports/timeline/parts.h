#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "exports/export_source.h"
#include "exports/timeline/column.h"

// What the parts of a timeline share while it is made.
namespace llmprof::exports {

// Texts that tracks refer to, each once.
class Names {
 public:
  uint32_t add(std::string_view text);
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
  std::unordered_map<std::string, uint32_t> known_;
};

struct Table {
  std::string name;
  size_t rows = 0;
  std::vector<std::pair<std::string, Column>> columns;
};

// A level of a track's pyramid: bins of equal width from the origin on.
struct Level {
  Nanoseconds bin = 0;
  size_t first = 0;  // in the columns of the pyramid
  size_t count = 0;
};

struct Track {
  std::string id;
  std::string kind;
  std::string label;
  std::string group;
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

struct Draft {
  Window window;
  Names names;
  std::vector<Track> tracks;
  std::vector<Table> tables;
  RowsOf rows;
};

// "GPU 0", "rank3 / GPU 0"; "CPU" where the processors compute.
std::string group_of(const trace::Trace& trace, trace::DeviceId device);

// Each adds its tables, and a track for each stream, thread, stage level and counter. Calls, stages
// and steps come before the GPU's work, which refers to them.
void add_stage_rows(const ExportSource& source, Draft& draft);
void add_call_rows(const ExportSource& source, Draft& draft);
void add_range_rows(const ExportSource& source, Draft& draft);
void add_layer_rows(const ExportSource& source, Draft& draft);
void add_counter_rows(const ExportSource& source, Draft& draft);

struct KernelEntry {
  uint32_t name = 0;
  uint32_t short_name = 0;
  uint8_t kernel_class = 0;
};
struct GpuRows {
  std::vector<KernelEntry> kernels;
  std::vector<trace::ShapeId> shapes;
};
GpuRows add_gpu_rows(const ExportSource& source, Draft& draft);

}  // namespace llmprof::exports
