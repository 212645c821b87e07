#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "readers/nsys_csv/findings.h"
#include "readers/nsys_csv/processes.h"
#include "readers/nsys_csv/window.h"
#include "trace/builder.h"

namespace llmprof::readers::nsys_csv {

// Puts the windows' rows, in the order of the file, into the trace. Reports of one export become
// one capture; a file that holds reports of several exports becomes several.
class Merge {
 public:
  Merge(std::filesystem::path path, trace::TraceBuilder& builder, size_t walks)
      : path_(std::move(path)), builder_(builder), processes_(builder), ids_(walks) {}

  // `walk_number` tells walks apart: each has its own ids.
  void add(WindowWalk& walk, size_t walk_number);

  // Closes the last capture and adds the diagnostics; an error when no row was usable.
  Result<void> finish(std::string damage);

 private:
  // The trace's ids of what one walk interned, filled as they are met.
  struct Ids {
    const RowPools* pools = nullptr;
    std::vector<trace::StringId> strings;
    std::vector<trace::ShapeId> shapes;
    std::vector<trace::QueueId> queues;
  };
  struct StagedExec {
    GpuRow kernel;
    CpuRow launch;
    Place place;
    bool has_launch = false;
  };

  void open_table(const TablePart& part);
  [[nodiscard]] bool claim(Subject subject, const std::string& report);
  [[nodiscard]] bool is_open(Subject subject) const { return open_[static_cast<size_t>(subject)]; }
  void add_rows(const Rows& rows, Ids& ids);
  void add_summary(const SummaryRow& row, Ids& ids);
  void add_gpu_work(const GpuRow& row, trace::QueueId queue);
  void add_launch(const CpuRow& row);
  void add_range(const CpuRow& row);
  void add_staged();
  void split_range_names();

  [[nodiscard]] trace::StringId string_of(trace::StringId local, Ids& ids);
  [[nodiscard]] trace::ShapeId shape_of(trace::ShapeId local, Ids& ids);
  [[nodiscard]] trace::QueueId queue_of(PlaceId local, Ids& ids);
  [[nodiscard]] Place own_place(PlaceId local, Ids& ids);
  [[nodiscard]] trace::QueueId queue_at(const Place& place);
  [[nodiscard]] trace::DeviceId device_at(const Place& place);
  [[nodiscard]] CpuRow own_row(CpuRow row, Ids& ids);
  [[nodiscard]] GpuRow own_row(GpuRow row, Ids& ids);

  void open_capture();
  void close_capture();

  std::filesystem::path path_;
  trace::TraceBuilder& builder_;
  Processes processes_;
  std::vector<Ids> ids_;
  Findings findings_;
  std::string tool_version_;

  // Of the capture that is open.
  bool capture_open_ = false;
  std::string source_;
  std::array<std::string, kSubjects> filled_by_;  // the report that describes a subject
  std::map<std::string, uint32_t> unnumbered_devices_;
  std::vector<StagedExec> staged_exec_;   // used where no GPU trace tells the same, and more
  std::vector<CpuRow> staged_projected_;  // used where no range trace does
  size_t first_range_ = 0;
  size_t first_call_summary_ = 0;

  // Of the table that is open.
  std::array<bool, kSubjects> open_{};
  std::string table_name_;
  std::string repeats_;  // the report that said the same before
};

}  // namespace llmprof::readers::nsys_csv
