#include "config/conf_files.h"

#include <fmt/format.h>

#include <set>

#include "base/files.h"
#include "base/streams/byte_stream.h"
#include "base/text.h"

namespace llmprof::config {
namespace fs = std::filesystem;
namespace {

constexpr size_t kLargestConf = 16UL << 20U;
constexpr std::string_view kYaml = ".yaml";

}  // namespace

Result<ConfFiles> ConfFiles::open(const std::optional<fs::path>& user) {
  ConfFiles files;
  if (user && !is_folder(*user)) {
    return fail(ErrorKind::usage, fmt::format("--config-dir {}: no such folder", user->string()));
  }
  files.user_ = user;
  const fs::path program = own_program();
  const fs::path beside = program.parent_path().parent_path() / "conf";
  if (!program.empty() && is_file(beside / "kernels.yaml")) {
    files.shipped_ = beside;
  }
  return files;
}

Result<std::vector<ConfText>> ConfFiles::layers(std::string_view name) const {
  std::vector<ConfText> texts;
  for (const auto& conf : {user_, shipped_}) {
    if (!conf) continue;
    const fs::path path = *conf / name;
    std::error_code ignored;
    // A dangling link is an error, not a missing file.
    if (!fs::exists(fs::symlink_status(path, ignored))) continue;
    auto text = read_all(path, kLargestConf);
    if (!text) return fail(ErrorKind::usage, text.error().message);
    texts.push_back({path.string(), std::move(*text)});
  }
  if (!shipped_) {
    if (auto text = built_in_conf(name)) texts.push_back(std::move(*text));
  }
  return texts;
}

std::vector<std::string> ConfFiles::names_in(std::string_view folder) const {
  std::vector<std::string> names = names_under(folder);
  std::erase_if(names, [](const std::string& name) { return contains(name, "/"); });
  return names;
}

std::vector<std::string> ConfFiles::names_under(std::string_view folder) const {
  std::set<std::string> names;
  const auto add = [&](const fs::path& path) {
    if (path.extension() == kYaml) names.insert(fs::path(path).replace_extension().string());
  };
  for (const auto& conf : {user_, shipped_}) {
    if (!conf) continue;
    std::error_code ignored;
    for (fs::recursive_directory_iterator at(*conf / folder, ignored), end; at != end;
         at.increment(ignored)) {
      add(at->path().lexically_relative(*conf / folder));
    }
  }
  if (!shipped_) {
    const std::string within = folder.empty() ? std::string() : std::string(folder) + "/";
    for (const std::string_view name : built_in_conf_names()) {
      if (name.starts_with(within)) add(fs::path(name.substr(within.size())));
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace llmprof::config
