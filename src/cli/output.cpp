#include "cli/output.h"

#include <cstdio>
#include <string>

#include "base/text.h"
#include "cli/messages.h"

namespace llmprof::cli {
namespace {

// What fails shows in finish_output.
void print(std::string_view text) {
  [[maybe_unused]] const size_t written = std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

void print_text(std::string_view text) { print(to_printable_lines(text)); }

void print_rendered(std::string_view text) { print(text); }

void print_json(std::string_view json) { print(to_printable_json(json)); }

int finish_output() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return 0;
  return complain({ErrorKind::tool, "cannot write to standard output"});
}

}  // namespace llmprof::cli
