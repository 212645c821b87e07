#include "capture/tools.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <span>
#include <system_error>

#include "base/files.h"
#include "base/machine.h"
#include "base/text.h"
#include "capture/process.h"
#include "capture/shell.h"

namespace llmprof::capture {
namespace {

using std::filesystem::path;

// Below the search's root; `*` stands for versions and machines.
constexpr std::array kNsysPlaces = {
    "opt/nvidia/nsight-systems*/*/bin/nsys",
    "opt/nvidia/nsight-systems*/*/target-linux-*/nsys",
    "usr/local/cuda*/bin/nsys",
    "usr/local/cuda*/nsight-systems*/bin/nsys",
    "usr/local/cuda*/nsight-systems*/target-linux-*/nsys",
    "opt/nvidia/hpc_sdk/Linux_*/*/profilers/Nsight_Systems/bin/nsys",
    "usr/lib/nsight-systems/bin/nsys",
    "usr/lib/*/nsight-systems/target-linux-*/nsys",
    // A complete nsys comes with ncu, but is not on PATH.
    "opt/nvidia/nsight-compute*/*/host/target-linux-*/nsys",
    "usr/local/cuda*/nsight-compute*/host/target-linux-*/nsys",
    "usr/local/NVIDIA-Nsight-Compute*/host/target-linux-*/nsys",
};
constexpr std::array kNcuPlaces = {
    "opt/nvidia/nsight-compute*/*/ncu",
    "usr/local/cuda*/bin/ncu",
    "usr/local/cuda*/nsight-compute*/ncu",
    "usr/local/NVIDIA-Nsight-Compute*/ncu",
    "opt/nvidia/hpc_sdk/Linux_*/*/profilers/Nsight_Compute/ncu",
    "usr/lib/nsight-compute/ncu",
};
constexpr std::array kImporterPlaces = {
    "opt/nvidia/nsight-systems*/*/host-linux-*/QdstrmImporter",
    "usr/local/cuda*/nsight-systems*/host-linux-*/QdstrmImporter",
    "opt/nvidia/hpc_sdk/Linux_*/*/profilers/Nsight_Systems/host-linux-*/QdstrmImporter",
    "usr/lib/nsight-systems/host-linux-*/QdstrmImporter",
    "usr/lib/*/nsight-systems/host-linux-*/QdstrmImporter",
    "opt/nvidia/nsight-compute*/*/host/linux-desktop-*/QdstrmImporter",
    "usr/local/cuda*/nsight-compute*/host/linux-desktop-*/QdstrmImporter",
    "usr/local/NVIDIA-Nsight-Compute*/host/linux-desktop-*/QdstrmImporter",
};
// Relative to the folder of an nsys.
constexpr std::array kImporterBesideNsys = {
    "../host-linux-*/QdstrmImporter",
    "../linux-desktop-*/QdstrmImporter",
};

struct KindOfTool {
  std::string_view name;
  const char* variable;
  std::string_view where_to_get;
  std::span<const char* const> usual_places;
};
const KindOfTool& about(Tool tool) {
  static constexpr std::array<KindOfTool, 3> kTools = {{
      {"nsys", "LLMPROF_NSYS",
       "nsys is part of NVIDIA Nsight Systems: in the CUDA toolkit, in NVIDIA's package "
       "nsight-systems-cli, in Debian's nsight-systems (non-free).",
       kNsysPlaces},
      {"ncu", "LLMPROF_NCU",
       "ncu is part of NVIDIA Nsight Compute: in the CUDA toolkit, in NVIDIA's packages "
       "nsight-compute-*, in Debian's nsight-compute (non-free).",
       kNcuPlaces},
      {"QdstrmImporter", "LLMPROF_QDSTRM_IMPORTER",
       "QdstrmImporter is in the folder host-linux-* of NVIDIA Nsight Systems (CUDA toolkit, "
       "NVIDIA's package nsight-systems-*, Debian's nsight-systems in non-free), and in "
       "host/linux-desktop-* of Nsight Compute.",
       kImporterPlaces},
  }};
  return kTools.at(static_cast<size_t>(tool));
}

// "2025.10" before "2025.9".
bool newer_first(const std::string& a, const std::string& b) {
  return ::strverscmp(a.c_str(), b.c_str()) > 0;
}

// An installation also contains programs for other machine types.
bool fits_machine(std::string_view folder, std::string_view machine) {
  const bool names_one = folder.starts_with("target-linux-") || folder.starts_with("host-linux-") ||
                         folder.starts_with("linux-desktop-");
  if (!names_one) return true;
  if (folder.ends_with("x64")) return machine == "x86_64";
  if (folder.ends_with("armv8") || folder.ends_with("a64")) return machine == "aarch64";
  if (folder.ends_with("ppc64le")) return machine == "ppc64le";
  return true;
}

std::vector<std::string> folders_matching(const path& folder, const std::string& pattern,
                                          std::string_view machine) {
  std::vector<std::string> names;
  for (const path& entry : entries_of(folder)) {
    std::string name = entry.filename().string();
    if (::fnmatch(pattern.c_str(), name.c_str(), 0) == 0 && fits_machine(name, machine)) {
      names.push_back(std::move(name));
    }
  }
  std::sort(names.begin(), names.end(), newer_first);
  return names;
}

// The executables that a place with `*` in its folders stands for. Written by hand because the C
// library's glob sorts by locale and, if linked statically, needs the user database.
void expand(const path& folder, std::string_view place, std::string_view machine,
            std::vector<path>& found) {
  const size_t slash = place.find('/');
  if (slash == std::string_view::npos) {
    if (path file = folder / place; is_executable_file(file)) found.push_back(std::move(file));
    return;
  }
  const std::string segment(place.substr(0, slash));
  const std::string_view rest = place.substr(slash + 1);
  if (segment.find('*') == std::string::npos) return expand(folder / segment, rest, machine, found);
  for (const std::string& name : folders_matching(folder, segment, machine)) {
    expand(folder / name, rest, machine, found);
  }
}

// The same program is often reached by several links.
std::vector<path> without_repeats(const std::vector<path>& found) {
  std::vector<path> kept;
  std::vector<path> seen;
  for (const path& file : found) {
    std::error_code status;
    path real = std::filesystem::canonical(file, status);
    if (status || std::find(seen.begin(), seen.end(), real) != seen.end()) continue;
    seen.push_back(std::move(real));
    kept.push_back(std::filesystem::absolute(file, status));
  }
  return kept;
}

Result<void> add_importers_beside_nsys(const ToolSearch& search, std::vector<path>& found) {
  const auto nsys = find_tool(Tool::nsys, search);
  if (!nsys) return fail_with(nsys.error());
  for (const path& file : *nsys) {
    std::error_code status;
    const path real = std::filesystem::canonical(file, status);
    for (const char* place : kImporterBesideNsys) {
      expand(file.parent_path(), place, search.machine, found);
      if (!status) expand(real.parent_path(), place, search.machine, found);
    }
  }
  return {};
}

// The tools answer within a second; the first start from a cold disk takes longer.
constexpr std::chrono::seconds kAnswerTime(60);

Error not_installed(Tool tool) {
  return {ErrorKind::tool,
          fmt::format("{0} was found neither on PATH nor in the usual places. Install it, or, if "
                      "it is installed elsewhere, set {1} to its path. {2}",
                      tool_name(tool), tool_variable(tool), where_to_get(tool))};
}

Error does_not_answer(Tool tool, const std::filesystem::path& executable,
                      const ProcessResult& result) {
  const std::string words = last_words(result.output_tail);
  return {ErrorKind::tool,
          fmt::format("{} does not work: `{} --version` ended with {}{}. Install it again, or set "
                      "{} to another one. {}",
                      executable.string(), executable.string(), describe_end(result),
                      words.empty() ? "" : fmt::format(" and printed \"{}\"", words),
                      tool_variable(tool), where_to_get(tool))};
}

}  // namespace

std::string_view tool_name(Tool tool) { return about(tool).name; }
std::string_view tool_variable(Tool tool) { return about(tool).variable; }
std::string_view where_to_get(Tool tool) { return about(tool).where_to_get; }

ToolSearch tool_search_here() {
  ToolSearch search;
  for (const Tool tool : {Tool::nsys, Tool::ncu, Tool::qdstrm_importer}) {
    const std::string value = environment_variable(about(tool).variable);
    if (!value.empty()) search.chosen[tool] = value;
  }
  search.path_list = environment_variable("PATH");
  utsname system{};
  if (::uname(&system) == 0) search.machine = system.machine;
  return search;
}

Result<std::vector<path>> find_tool(Tool tool, const ToolSearch& search) {
  if (const auto chosen = search.chosen.find(tool); chosen != search.chosen.end()) {
    const auto file = find_executable(chosen->second.string(), search.path_list);
    if (!file) {
      return fail(ErrorKind::usage,
                  fmt::format("{} names '{}', which is not an executable file; correct or unset it",
                              tool_variable(tool), chosen->second.string()));
    }
    return without_repeats({*file});
  }
  std::vector<path> found;
  if (auto file = find_executable(tool_name(tool), search.path_list)) found.push_back(*file);
  if (tool == Tool::qdstrm_importer) {
    if (auto added = add_importers_beside_nsys(search, found); !added) {
      return fail_with(added.error());
    }
  }
  for (const char* place : about(tool).usual_places)
    expand(search.root, place, search.machine, found);
  return without_repeats(found);
}

std::string tool_version(std::string_view answer) {
  for (const std::string_view word : {"version ", "Version "}) {
    const size_t place = answer.find(word);
    if (place == std::string_view::npos) continue;
    const std::string_view rest = answer.substr(place + word.size());
    const std::string_view version = rest.substr(0, rest.find_first_not_of("0123456789."));
    if (!version.empty()) return std::string(version);
  }
  return {};
}

bool is_at_least(std::string_view version, int64_t year, int64_t release) {
  const size_t dot = version.find('.');
  const auto has_year = parse_int(version.substr(0, dot));
  if (!has_year || dot == std::string_view::npos) return true;
  const std::string_view rest = version.substr(dot + 1);
  const auto has_release = parse_int(rest.substr(0, rest.find('.')));
  return *has_year > year || (*has_year == year && has_release.value_or(0) >= release);
}

Result<InstalledTool> ensure_tool(Tool tool, const ToolSearch& search) {
  const auto found = find_tool(tool, search);
  if (!found) return fail_with(found.error());
  std::optional<Error> first_failure;
  for (const std::filesystem::path& executable : *found) {
    const auto answered = ask_program({executable.string(), "--version"}, kAnswerTime);
    if (!answered) return fail_with(answered.error());
    if (answered->succeeded()) {
      return InstalledTool{executable, tool_version(answered->output_tail)};
    }
    if (!first_failure) first_failure = does_not_answer(tool, executable, *answered);
  }
  return fail_with(first_failure.value_or(not_installed(tool)));
}

}  // namespace llmprof::capture
