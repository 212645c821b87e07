#include "session/bundle/run_dir.h"

#include <fmt/format.h>

#include <array>
#include <ctime>

#include "base/files.h"
#include "session/bundle/earlier_run.h"

namespace llmprof::session {
namespace {

Error cannot_make(const std::filesystem::path& folder, const std::error_code& trouble) {
  return {ErrorKind::tool, fmt::format("{}: cannot make the folder: {}; name another with --out",
                                       folder.string(), trouble.message())};
}

}  // namespace

Result<void> Artifacts::check_free(const std::filesystem::path& root, bool force) {
  std::error_code trouble;
  if (!std::filesystem::exists(root, trouble)) return {};
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
  return {};
}

Result<Artifacts> Artifacts::create(std::filesystem::path root, bool force) {
  if (auto free = check_free(root, force); !free) return fail_with(free.error());
  std::error_code trouble;
  std::filesystem::create_directories(root, trouble);
  if (trouble) return fail_with(cannot_make(root, trouble));
  auto claim = FolderClaim::take(root);
  if (!claim) return fail_with(claim.error());
  // Once more: until now another process could fill it, or remove the folder as its own.
  if (auto free = check_free(root, force); !free) return fail_with(free.error());
  if (!std::filesystem::is_directory(root, trouble)) return create(std::move(root), force);
  Artifacts artifacts;
  artifacts.root_ = std::move(root);
  artifacts.claim_ = std::move(*claim);
  return artifacts;
}

Result<Artifacts> Artifacts::create_shared(std::filesystem::path root) {
  if (auto free = check_free(root, true); !free) return fail_with(free.error());
  std::error_code trouble;
  std::filesystem::create_directories(root, trouble);
  if (trouble) return fail_with(cannot_make(root, trouble));
  Artifacts artifacts;
  artifacts.root_ = std::move(root);
  return artifacts;
}

Result<Artifacts> Artifacts::create_fresh(const std::filesystem::path& parent) {
  std::error_code trouble;
  std::filesystem::create_directories(parent, trouble);
  if (trouble) return fail_with(cannot_make(parent, trouble));
  const std::string id = new_run_id();
  Artifacts artifacts;
  artifacts.root_ = parent / id;
  // Making it is the test: only one of two runs that begin at once can.
  for (int number = 2; !std::filesystem::create_directory(artifacts.root_, trouble); ++number) {
    if (trouble) return fail_with(cannot_make(artifacts.root_, trouble));
    artifacts.root_ = parent / fmt::format("{}-{}", id, number);
  }
  auto claim = FolderClaim::take(artifacts.root_);
  if (!claim) return fail_with(claim.error());
  artifacts.claim_ = std::move(*claim);
  return artifacts;
}

Result<Artifacts> Artifacts::from_root(std::filesystem::path root) {
  std::error_code trouble;
  if (!std::filesystem::is_directory(root, trouble)) {
    return fail_input(fmt::format("{}: {}", root.string(),
                                  trouble ? trouble.message() : "is not a run's folder"));
  }
  Artifacts artifacts;
  artifacts.root_ = std::move(root);
  return artifacts;
}

Result<void> Artifacts::make_folder(std::string_view name) const {
  return make_own_folder(path(name));
}

Result<void> Artifacts::write(std::string_view name, std::string_view content) const {
  return write_file_atomically(path(name), content);
}
Result<void> Artifacts::write_env(std::string_view json) const { return write("env.json", json); }
Result<void> Artifacts::write_config(std::string_view yaml) const {
  return write("config.yaml", yaml);
}
Result<void> Artifacts::write_inputs(std::string_view yaml) const {
  return write("inputs.yaml", yaml);
}

Result<RunFolder> create_stage2_root(const std::filesystem::path& parent,
                                     const std::filesystem::path& chosen, bool force) {
  auto artifacts =
      chosen.empty() ? Artifacts::create_fresh(parent) : Artifacts::create(chosen, force);
  if (!artifacts) return fail_with(artifacts.error());
  auto earlier = move_earlier_run_aside(artifacts->root());
  if (!earlier) return fail_with(earlier.error());
  for (const std::string_view folder : {"nsys", "ncu"}) {
    if (const auto made = artifacts->make_folder(folder); !made) return fail_with(made.error());
  }
  return RunFolder{std::move(*artifacts), std::move(*earlier)};
}

std::string new_run_id() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 32> text{};
  const size_t length = std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &local);
  return {text.data(), length};
}

}  // namespace llmprof::session
