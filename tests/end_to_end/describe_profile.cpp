// Prints what docs/ and ui/ say about profile.json, from the description of its structs:
//   describe_profile schema   docs/profile.schema.json
//   describe_profile tables   the tables of docs/profile-schema.md
//   describe_profile types    ui/src/generated/profile.ts
#include <cstdio>
#include <string>
#include <string_view>

#include "profile/json/schema.h"

int main(int argc, char** argv) {
  const std::string_view what = argc == 2 ? argv[1] : "";
  std::string text;
  if (what == "schema") text = llmprof::profile::json_schema();
  if (what == "tables") text = llmprof::profile::field_tables();
  if (what == "types") text = llmprof::profile::typescript_types();
  if (text.empty()) {
    std::fputs("usage: describe_profile schema|tables|types\n", stderr);
    return 2;
  }
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
