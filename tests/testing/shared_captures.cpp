#include "testing/shared_captures.h"

#include <cstdlib>

namespace llmprof::testing {
namespace {

std::filesystem::path source_root() { return LLMPROF_SOURCE_ROOT; }

}  // namespace

std::optional<std::filesystem::path> shared_captures() {
  const char* named = std::getenv("LLMPROF_CAPTURES");
  std::filesystem::path folder =
      named != nullptr ? named : source_root().parent_path() / "shared" / "captures";
  if (!std::filesystem::is_directory(folder)) return std::nullopt;
  return folder;
}

std::filesystem::path test_data(std::string_view name) {
  return source_root() / "tests" / "data" / name;
}

std::filesystem::path h200_captures() { return LLMPROF_UNPACKED_CAPTURES; }

}  // namespace llmprof::testing
