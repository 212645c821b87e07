#pragma once

#include <unordered_map>
#include <unordered_set>

#include "readers/nsys_sqlite/schema.h"
#include "trace/builder.h"

namespace llmprof::readers {

// The export's string table. Only texts that rows refer to are taken: the table also holds the
// program's output and other things that are nobody's business.
class NsysStrings {
 public:
  // Call `want` for every id, then `load` once, then look up.
  void want(int64_t id) { wanted_.insert(id); }
  void load(const NsysSchema& schema, trace::TraceBuilder& builder);
  // None for an id that the export does not explain; counted once per id.
  [[nodiscard]] trace::StringId operator[](int64_t id) const {
    const auto known = ids_.find(id);
    return known == ids_.end() ? trace::StringId() : known->second;
  }

 private:
  std::unordered_set<int64_t> wanted_;
  std::unordered_map<int64_t, trace::StringId> ids_;
};

}  // namespace llmprof::readers
