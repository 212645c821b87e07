#pragma once

#include <string>
#include <vector>

#include "compare/model/diff.h"
#include "compare/model/sides.h"

namespace llmprof::compare {

// Compared steps or instances of one run, by time.
template <class Row>
struct RowsOfRun {
  std::vector<const Row*> rows;
  std::vector<uint32_t> groups;  // one per row; instances are one group
};
template <class Row>
struct ComparableRows {
  std::vector<StepGroup> groups;     // of steps
  std::vector<RowsOfRun<Row>> base;  // one per run
  std::vector<RowsOfRun<Row>> now;
};
using ComparableSteps = ComparableRows<profile::Step>;
using ComparableInstances = ComparableRows<profile::Instance>;

// Groups steps by kind, batch, tokens and range of context. Excluded ones are added to `left_out`.
ComparableSteps comparable_steps(const Sides& sides, const std::string& stage,
                                 std::vector<LeftOut>& left_out);
ComparableInstances comparable_instances(const Sides& sides, const std::string& stage,
                                         std::vector<LeftOut>& left_out);

}  // namespace llmprof::compare
