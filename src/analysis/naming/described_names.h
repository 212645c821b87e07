#pragma once

#include <vector>

#include "analysis/naming/classes.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// Descriptions of all kernel names in a trace, each looked up once. Different kernels get different
// short names, whatever the rules call them.
class DescribedNames {
 public:
  DescribedNames(const trace::Trace& trace, const KernelRules& rules);

  // `name` must occur in a kernel, profiled launch or kernel summary of the trace.
  [[nodiscard]] const KernelDescription& operator[](trace::StringId name) const {
    return descriptions_[row_[name.index()]];
  }

 private:
  std::vector<uint32_t> row_;  // by string
  std::vector<KernelDescription> descriptions_;
};

}  // namespace llmprof::analysis
