#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/passes/results.h"
#include "base/error.h"
#include "exports/exports.h"
#include "page/page.h"
#include "profile/profile.h"
#include "session/bundle/export_rows.h"

namespace llmprof::session {

struct Analysis;

// The source of single events: the analyzed trace, or those of all ranks of a job if a page and
// memory can hold that many.
class KeptTraces {
 public:
  // `rank` is none if there is no job.
  void keep(std::optional<uint64_t> rank, trace::Trace&& trace, analysis::Results&& results);

  // Includes ranks that are not kept.
  [[nodiscard]] uint64_t kernel_count() const { return kernels_; }

  // Adds the timeline to the page's content, or the reason why there is none. Ranks are aligned to
  // the clocks that the job's profile names.
  void add_timeline(page::Content& content) const;
  // Writes the requested files for other viewers into the folder of `analysis`, replacing earlier
  // ones, and lists them there. A job has one Perfetto file for all ranks and a flame graph per
  // rank (trace.rank3.speedscope.json).
  void write_exports(const Exports& wanted, const profile::Profile& profile,
                     Analysis& analysis) const;

 private:
  struct Kept {
    std::optional<uint64_t> rank;
    trace::Trace trace;
    analysis::Results results;
  };
  // They refer to data kept here. The error says why there are none.
  [[nodiscard]] Result<exports::ExportSources> sources(const profile::Profile& profile) const;

  std::vector<Kept> kept_;
  uint64_t kernels_ = 0;
};

}  // namespace llmprof::session
