#include "testing/temporary_folder.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace llmprof::testing {
namespace {

[[noreturn]] void give_up(const std::string& what) {
  std::fprintf(stderr, "test set-up failed: %s\n", what.c_str());
  std::abort();
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  // In memory where possible: robustness tests write hundreds of thousands of files.
  const bool shm = std::filesystem::is_directory("/dev/shm");
  std::string pattern =
      (shm ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path()) /
      "llmprof-test-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) give_up("mkdtemp " + pattern);
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TemporaryFolder::write(std::string_view name,
                                             std::string_view content) const {
  const std::filesystem::path path = path_ / name;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  if (!out) give_up("write " + path.string());
  return path;
}

std::string file_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) give_up("read " + path.string());
  std::ostringstream content;
  content << in.rdbuf();
  return std::move(content).str();
}

}  // namespace llmprof::testing
