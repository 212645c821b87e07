// Prints what docs/ says about profile.json, from the description of its structs:
//   describe_profile schema   docs/profile.schema.json
//   describe_profile tables   the tables of docs/profile-schema.md
#include <cstdio>
#include <string>
#include <string_view>

#include "profile/json/schema.h"

int main(int argc, char** argv) {
  const std::string_view what = argc == 2 ? argv[1] : "";
  std::string text;
  if (what == "schema") text = llmprof::profile::json_schema();
  if (what == "tables") text = llmprof::profile::field_tables();
  if (text.empty()) {
    std::fputs("usage: describe_profile schema|tables\n", stderr);
    return 2;
  }
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
