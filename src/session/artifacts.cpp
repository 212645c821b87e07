#include "session/artifacts.h"

#include <fmt/format.h>

#include <array>
#include <ctime>

namespace llmprof {

Result<Artifacts> Artifacts::create(std::filesystem::path root, bool force) {
  std::error_code trouble;
  if (std::filesystem::exists(root, trouble)) {
    if (!std::filesystem::is_directory(root, trouble)) {
      return fail(
          ErrorKind::usage,
          fmt::format("{}: exists and is not a folder; name another with --out", root.string()));
    }
    if (!force && !std::filesystem::is_empty(root, trouble)) {
      return fail(ErrorKind::usage,
                  fmt::format("{}: exists and is not empty; name another folder with --out, or "
                              "write into this one with --force",
                              root.string()));
    }
  }
  std::filesystem::create_directories(root, trouble);
  if (trouble) {
    return fail(ErrorKind::tool,
                fmt::format("{}: cannot make the folder: {}", root.string(), trouble.message()));
  }
  Artifacts artifacts;
  artifacts.root_ = std::move(root);
  return artifacts;
}

std::string new_run_id() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 32> text{};
  const size_t length = std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &local);
  return {text.data(), length};
}

std::filesystem::path fresh_run_folder(const std::filesystem::path& parent) {
  const std::filesystem::path first = parent / new_run_id();
  std::filesystem::path folder = first;
  for (int number = 2; std::filesystem::exists(folder); ++number) {
    folder = first.string() + "-" + std::to_string(number);
  }
  return folder;
}

}  // namespace llmprof
