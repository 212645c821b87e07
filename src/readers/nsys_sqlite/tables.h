#pragma once

#include <memory>
#include <string>

#include "readers/nsys_sqlite/keys.h"
#include "readers/nsys_sqlite/scan.h"
#include "readers/nsys_sqlite/schema.h"
#include "readers/nsys_sqlite/strings.h"
#include "trace/builder.h"

namespace llmprof::readers {

// What the tables of one export share while they are read.
struct NsysReading {
  const NsysSchema& schema;
  trace::TraceBuilder& builder;
  NsysPlaces places;
  NsysStrings strings;
  unsigned workers = 1;
};

// A table that wants texts of the string table: tells which once the rows are read.
class NsysTable : public ScannedTable {
 public:
  virtual void want_strings(NsysStrings& strings) const = 0;
  // Puts the settled rows into the trace.
  virtual void deliver() = 0;
};

std::unique_ptr<NsysTable> nsys_kernel_table(NsysReading& reading, const std::string& table);
std::unique_ptr<NsysTable> nsys_launch_table(NsysReading& reading, const std::string& table);
std::unique_ptr<NsysTable> nsys_memory_table(NsysReading& reading, const std::string& table,
                                             trace::MemoryKind kind);
std::unique_ptr<NsysTable> nsys_graph_replay_table(NsysReading& reading, const std::string& table);
std::unique_ptr<NsysTable> nsys_range_table(NsysReading& reading, const std::string& table);

}  // namespace llmprof::readers
