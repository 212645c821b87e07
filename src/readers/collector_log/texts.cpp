#include "readers/collector_log/texts.h"

#include "base/text.h"

namespace llmprof::readers::collector_log {

void Texts::add(const Record& record, Findings& findings) {
  wire::Text head{};
  if (!take(record, head, findings)) return;
  const std::span<const char> bytes = record.payload.subspan(sizeof head);
  if (bytes.size() < head.length) {
    ++findings.bad_values;
    return;
  }
  if (head.cut != 0) ++findings.cut_names;
  const std::string_view text(bytes.data(), head.length);
  texts_.add(head.key, builder_.string(to_printable(text)));
}

trace::StringId Texts::find(wire::StringKey key, Findings& findings) const {
  if (key == 0) return {};
  if (const trace::StringId* known = texts_.find(key)) return *known;
  ++findings.lost_names;
  return {};
}

trace::StringId Texts::find_name(wire::StringKey key, Findings& findings) {
  const trace::StringId name = find(key, findings);
  return name.valid() ? name : builder_.string("(name lost)");
}

}  // namespace llmprof::readers::collector_log
