// Prints what docs/ and ui/ say about profile.json and diff.json, from the description of their
// structs:
//   describe_profile schema        docs/profile.schema.json
//   describe_profile tables        the tables of docs/profile-schema.md
//   describe_profile types         ui/src/generated/profile.ts
//   describe_profile diff-schema   docs/diff.schema.json
//   describe_profile diff-tables   the tables of docs/diff-schema.md
//   describe_profile diff-types    ui/src/generated/diff.ts
#include <cstdio>
#include <string>
#include <string_view>

#include "compare/model/diff.h"
#include "describe_profile/schema.h"

int main(int argc, char** argv) {
  const std::string_view what = argc == 2 ? argv[1] : "";
  std::string text;
  if (what == "schema") text = llmprof::profile::json_schema();
  if (what == "tables") text = llmprof::profile::field_tables();
  if (what == "types") text = llmprof::profile::typescript_types();
  const auto& diff = llmprof::profile::json::type_of<llmprof::compare::Diff>();
  if (what == "diff-schema") {
    text = llmprof::profile::json::json_schema_of(diff, "diff.json of llmprof");
  }
  if (what == "diff-tables") text = llmprof::profile::json::field_tables_of(diff);
  if (what == "diff-types") {
    text = llmprof::profile::json::typescript_types_of(
        diff, "Diff", "src/compare/model: python3 tests/end_to_end/test_diff_schema.py --rewrite");
  }
  if (text.empty()) {
    std::fputs("usage: describe_profile schema|tables|types|diff-schema|diff-tables|diff-types\n",
               stderr);
    return 2;
  }
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
