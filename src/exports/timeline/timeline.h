#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "exports/export_source.h"

namespace llmprof::exports {

// The timeline of report.html (docs/report-html.md): a header in JSON and the columns of its
// tables.
struct Timeline {
  struct NamedColumn {
    std::string name;  // "slices.start"
    std::string bytes;
  };
  std::string header;
  std::vector<NamedColumn> columns;
};

// An error where the trace holds nothing with a place in time (totals, or what ncu measured kernel
// by kernel), or times too far apart for one axis.
Result<Timeline> make_timeline(const ExportSource& source);

// Of several ranks on the job's clock: the tracks of each are in groups of its own ("rank 1 / GPU
// 0"), the GPUs of all ranks above the threads of all.
Result<Timeline> make_timeline(std::span<const RankSource> ranks);

}  // namespace llmprof::exports
