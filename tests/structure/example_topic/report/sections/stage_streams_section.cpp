#include "report/format/figures.h"
#include "report/sections/sections.h"

namespace llmprof::report {

void add_section(Topic<"stage streams"> /*topic*/, const Profile& profile, Document& document) {
  if (profile.stage_streams.empty()) return;
  document.add(Heading{2, "CUDA streams"});
  document.add(table_of("stage | device | stream | #kernels | #total (ms)", profile.stage_streams,
                        [](const profile::StageStream& row) {
                          return cells(row.stage, row.device, std::to_string(row.stream),
                                       grouped(row.kernels), ms(row.total));
                        }));
}

}  // namespace llmprof::report
