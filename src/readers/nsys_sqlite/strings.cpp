#include "readers/nsys_sqlite/strings.h"

namespace llmprof::readers {

void NsysStrings::load(const NsysSchema& schema, trace::TraceBuilder& builder) {
  SqliteRows rows = schema.file().query("SELECT id, value FROM StringIds");
  while (rows.valid() && ids_.size() < wanted_.size() && rows.next()) {
    const int64_t id = rows.integer(0);
    if (wanted_.contains(id)) ids_.emplace(id, builder.string(rows.text(1)));
  }
  if (!rows.damage().empty()) {
    builder.diagnostics().error(
        "nsys_damaged_table",
        "the export's table StringIds is damaged (" + rows.damage() + "); some names are missing");
  }
  if (ids_.size() < wanted_.size()) {
    builder.diagnostics().warn("nsys_missing_strings",
                               "names that the export refers to but does not contain",
                               wanted_.size() - ids_.size());
  }
}

}  // namespace llmprof::readers
