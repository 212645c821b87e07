#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/diagnostics.h"
#include "base/error.h"
#include "readers/ncu/columns.h"
#include "readers/ncu/failures.h"
#include "readers/ncu/record.h"
#include "trace/builder.h"

namespace llmprof::readers {

// A launch of the details page whose rows are not yet complete.
struct OpenLaunch {
  std::string id;
  std::string process;
  std::string kernel_name;
  trace::ProfiledIdentity identity;
  trace::LaunchShape shape;
  std::vector<std::pair<trace::MetricId, double>> values;  // each metric once
  int duration_rank = 0;
  std::optional<double> duration;  // ns
  bool rounded = false;            // printed in a larger unit, to two decimals
};

// The launches of an ncu table, collected row by row in the order of the file: one duration each,
// and each metric's count, sum, minimum and maximum over launches of the same identity.
class NcuLaunches {
 public:
  explicit NcuLaunches(DecimalConvention convention) : convention_(convention) {}

  // Rows of the raw page, or of the details page, on which the rows of a launch are consecutive.
  void add(const NcuTable& table);
  // The following rows belong to another launch, even if it has the same number.
  void close_launch();

  NcuMessages messages;
  uint64_t bad_rows = 0;
  uint64_t other_convention = 0;  // values that can be read only with the other decimal convention
  std::string damage;             // why the content ended early

  // Writes everything to the builder, as one capture; an error says why there is nothing. Frees its
  // own memory on the way.
  Result<void> write(const std::filesystem::path& path, std::string_view format,
                     trace::TraceBuilder& builder) &&;

 private:
  struct Values {
    double sum = 0;
    double min = std::numeric_limits<double>::infinity();
    double max = -std::numeric_limits<double>::infinity();
    uint64_t count = 0;

    void add(double value);  // NaN: no value
  };
  struct Unit {
    trace::StringId base;
    double scale = 1;
  };

  void add_raw(const NcuColumns& columns, const NcuRecord& record, std::span<const double> values);
  void add_detail(const NcuColumns& columns, const NcuRecord& record);
  void add_detail_value(const NcuRecord& record);
  trace::ProfiledIdentity identity_of(const NcuRecord& record);
  trace::LaunchShape shape_of(const NcuColumns& columns, const NcuRecord& record) const;
  trace::StringId name_of(std::string_view printed);
  trace::StringId ranges_of(const NcuRecord& record);
  [[nodiscard]] uint32_t whole_number(std::string_view cell, double scale) const;
  const Unit& unit(std::string_view printed);
  void learn_columns(const NcuColumnsPtr& columns);
  void note_device(const NcuColumns& columns, const NcuRecord& record);
  // The values of an identity's metrics; null if the limit is reached.
  std::vector<Values>* values_of(trace::IdentityId identity);
  void push_launch(trace::IdentityId identity, std::optional<double> duration);
  void write_metrics(trace::Trace& trace, const std::vector<trace::IdentityId>& identities);
  void report(std::string_view file, Diagnostics& diagnostics) const;

  DecimalConvention convention_;
  trace::StringPool strings_;
  trace::Interner<trace::ShapeId, trace::LaunchShape> shapes_;
  // Here, DeviceId is CUDA's device number, and the capture is none.
  trace::Interner<trace::IdentityId, trace::ProfiledIdentity> identities_;
  trace::Interner<trace::MetricId, trace::Metric> metrics_;
  std::vector<std::vector<Values>> values_;  // by identity, then metric
  size_t value_count_ = 0;
  std::vector<trace::IdentityId> launches_;
  std::vector<Nanoseconds> durations_;
  std::map<uint32_t, trace::Device> devices_;  // by CUDA's device number

  NcuColumnsPtr known_columns_;  // the columns that metric_ids_ is for
  std::vector<trace::MetricId> metric_ids_;
  bool ids_in_a_row_ = false;
  std::unordered_map<std::string, Unit> units_;
  std::unordered_map<std::string, trace::StringId> names_of_symbols_;
  std::optional<OpenLaunch> open_;
  std::vector<uint64_t> last_launch_;  // by metric: the last launch (counted from 1) that had it
  std::string last_push_pop_;
  std::string last_start_stop_;
  trace::StringId last_ranges_;

  uint64_t without_duration_ = 0;
  uint64_t without_unit_ = 0;
  uint64_t rounded_ = 0;
  uint64_t without_metrics_ = 0;
};

// Reads an entire file with one decimal convention.
using NcuPass = Result<NcuLaunches> (*)(const std::filesystem::path& path, DecimalConvention);

// Reads a file into the builder with the decimal convention that leaves fewer values unreadable;
// point if both leave the same number (number.h).
Result<void> read_ncu_file(const std::filesystem::path& path, std::string_view format, NcuPass pass,
                           trace::TraceBuilder& builder);

}  // namespace llmprof::readers
