#pragma once

#include "analysis/communication/collectives.h"
#include "job/partial/columns.h"

namespace llmprof::job {

void write_collectives(const analysis::Collectives& from, ColumnWriter& out);

// None where the bytes are no collectives of a rank with that many steps.
std::optional<analysis::Collectives> read_collectives(ColumnReader& in, size_t steps);

}  // namespace llmprof::job
