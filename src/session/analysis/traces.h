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

// What single events are taken from: the trace that was analyzed, or those of all ranks of a job,
// as long as one page, and memory, hold that many.
class KeptTraces {
 public:
  // Of one rank of a job, or of no job.
  void keep(std::optional<uint64_t> rank, trace::Trace&& trace, analysis::Results&& results);

  // Of all ranks, also where they are not kept.
  [[nodiscard]] uint64_t kernel_count() const { return kernels_; }

  // Puts the timeline into what a page holds, or says why there is none. Ranks are on the clocks
  // that the job's profile names.
  void add_timeline(page::Content& content) const;
  // Writes the files for other viewers that were asked for into the folder of `analysis`, in place
  // of those of an earlier analysis, and says there which: of a job one Perfetto file of all ranks,
  // and a flame graph per rank (trace.rank3.speedscope.json).
  void write_exports(const Exports& wanted, const profile::Profile& profile,
                     Analysis& analysis) const;

 private:
  struct Kept {
    std::optional<uint64_t> rank;
    trace::Trace trace;
    analysis::Results results;
  };
  // They refer to what is kept here. An error says why there are none.
  [[nodiscard]] Result<exports::ExportSources> sources(const profile::Profile& profile) const;

  std::vector<Kept> kept_;
  uint64_t kernels_ = 0;
};

}  // namespace llmprof::session
