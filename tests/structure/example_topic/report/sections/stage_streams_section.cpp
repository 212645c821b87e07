#include "report/format/figures.h"
#include "report/sections/sections.h"

namespace llmprof::report {

void add_section(Topic<"stage streams"> /*topic*/, const Profile& profile, Document& document) {
  if (profile.stage_streams.empty()) return;
  document.add(Heading{2, "CUDA streams"});
  Table table;
  table.columns = {text_column("stage"), text_column("device"), text_column("stream"),
                   number_column("kernels"), number_column("total (ms)")};
  for (const profile::StageStream& row : profile.stage_streams) {
    table.rows.push_back(
        {row.stage, row.device, std::to_string(row.stream), grouped(row.kernels), ms(row.total)});
  }
  document.add(std::move(table));
}

}  // namespace llmprof::report
