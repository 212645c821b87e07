#pragma once

#include "job/packed/packed_steps.h"
#include "job/partial/columns.h"

namespace llmprof::job {

void write_step_columns(const PackedSteps& from, ColumnWriter& out);

// None where the bytes are no steps.
std::optional<PackedSteps> read_step_columns(ColumnReader& in);

}  // namespace llmprof::job
