#include "capture/launcher.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string_view>

#include "base/text.h"
#include "capture/executables.h"

namespace llmprof::capture {
namespace {

using Words = std::span<const std::string>;

struct LauncherName {
  std::string_view name;
  LauncherKind kind;
};
constexpr std::array kLaunchers = {
    LauncherName{"mpirun", LauncherKind::mpi},
    LauncherName{"mpiexec", LauncherKind::mpi},
    LauncherName{"mpirun.openmpi", LauncherKind::mpi},
    LauncherName{"mpiexec.openmpi", LauncherKind::mpi},
    LauncherName{"mpirun.mpich", LauncherKind::mpi},
    LauncherName{"mpiexec.mpich", LauncherKind::mpi},
    LauncherName{"mpiexec.hydra", LauncherKind::mpi},
    LauncherName{"orterun", LauncherKind::mpi},
    LauncherName{"prterun", LauncherKind::mpi},
    LauncherName{"torchrun", LauncherKind::torchrun},
    LauncherName{"srun", LauncherKind::srun},
};

// How many words follow an option. Options that are not listed are looked at more closely.
struct LauncherOption {
  std::string_view name;
  size_t values;
};
constexpr std::array kMpiOptions = {
    LauncherOption{"--mca", 2},
    LauncherOption{"-mca", 2},
    LauncherOption{"--prtemca", 2},
    LauncherOption{"--pmixmca", 2},
    LauncherOption{"-x", 1},
    LauncherOption{"--map-by", 1},
    LauncherOption{"--bind-to", 1},
    LauncherOption{"--rank-by", 1},
    LauncherOption{"--host", 1},
    LauncherOption{"-host", 1},
    LauncherOption{"-H", 1},
    LauncherOption{"--hostfile", 1},
    LauncherOption{"-hostfile", 1},
    LauncherOption{"--machinefile", 1},
    LauncherOption{"-machinefile", 1},
    LauncherOption{"-hosts", 1},
    LauncherOption{"-f", 1},
    LauncherOption{"--wdir", 1},
    LauncherOption{"-wdir", 1},
    LauncherOption{"--prefix", 1},
    LauncherOption{"--output", 1},
    LauncherOption{"-ppn", 1},
    LauncherOption{"-genv", 2},
    LauncherOption{"-env", 2},
    LauncherOption{"-genvlist", 1},
    LauncherOption{"--timeout", 1},
    LauncherOption{"--oversubscribe", 0},
    LauncherOption{"-oversubscribe", 0},
    LauncherOption{"--allow-run-as-root", 0},
    LauncherOption{"--enable-recovery", 0},
    LauncherOption{"--tag-output", 0},
    LauncherOption{"--quiet", 0},
    LauncherOption{"-q", 0},
    LauncherOption{"-v", 0},
    LauncherOption{"--report-bindings", 0},
};
constexpr std::array kHostOptions = {
    std::string_view("--host"),       std::string_view("-host"),
    std::string_view("-H"),           std::string_view("--hostfile"),
    std::string_view("-hostfile"),    std::string_view("--machinefile"),
    std::string_view("-machinefile"), std::string_view("-hosts"),
    std::string_view("-f"),
};

std::string file_name(const std::string& word) {
  return std::filesystem::path(word).filename().string();
}

std::optional<uint64_t> as_count(std::string_view text) {
  const auto number = parse_int(text);
  return number && *number > 0 ? std::optional(static_cast<uint64_t>(*number)) : std::nullopt;
}

// The option's name and its value, where both are one word: "--ntasks=4".
struct SplitWord {
  std::string_view name;
  std::optional<std::string_view> value;
};
SplitWord split(std::string_view word) {
  const size_t equals = word.find('=');
  if (!word.starts_with("--") || equals == std::string_view::npos) return {word, std::nullopt};
  return {word.substr(0, equals), word.substr(equals + 1)};
}

bool is_program(const std::string& word) {
  const char* path_list = std::getenv("PATH");
  return find_executable(word, path_list == nullptr ? "" : path_list).has_value();
}

// The options of a launcher end where its program begins, which may have a `-n` of its own.
void read_mpi_words(Words words, Launcher& launcher) {
  uint64_t ranks = 0;
  bool told = false;
  bool is_certain = true;
  bool in_program = false;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == ":") {  // another program of the same job
      is_certain = is_certain && told;
      told = false;
      in_program = false;
      continue;
    }
    if (in_program) continue;
    const auto [name, value] = split(words[i]);
    if (name == "-n" || name == "-np" || name == "--np" || name == "--n" || name == "-c") {
      const auto count =
          value ? as_count(*value) : (i + 1 < words.size() ? as_count(words[++i]) : std::nullopt);
      is_certain = is_certain && count.has_value();
      ranks += count.value_or(0);
      told = true;
      continue;
    }
    if (!name.starts_with('-')) {
      in_program = true;
      continue;
    }
    if (std::find(kHostOptions.begin(), kHostOptions.end(), name) != kHostOptions.end()) {
      launcher.names_hosts = true;
    }
    if (value) continue;
    const auto* known = std::find_if(
        kMpiOptions.begin(), kMpiOptions.end(),
        [&, wanted = name](const LauncherOption& option) { return option.name == wanted; });
    if (known != kMpiOptions.end()) {
      i += known->values;
    } else if (i + 1 < words.size() && !words[i + 1].starts_with('-') &&
               !is_program(words[i + 1])) {
      ++i;  // what is neither an option nor a program is its value
    }
  }
  if (is_certain && told) launcher.ranks = ranks;
}

void read_torchrun_words(Words words, Launcher& launcher) {
  std::optional<uint64_t> per_node = 1;
  std::optional<uint64_t> nodes = 1;
  for (size_t i = 0; i < words.size() && words[i].starts_with('-'); ++i) {
    const auto [name, joined] = split(words[i]);
    constexpr std::array<std::string_view, 5> kFlags = {"--standalone", "--no-python",
                                                        "--no_python", "-m", "--module"};
    if (joined == std::nullopt && std::find(kFlags.begin(), kFlags.end(), name) != kFlags.end()) {
      continue;
    }
    if (!joined && i + 1 >= words.size()) break;
    const std::string_view value = joined ? *joined : std::string_view(words[++i]);
    if (name == "--nproc-per-node" || name == "--nproc_per_node") per_node = as_count(value);
    if (name == "--nnodes") nodes = as_count(value);
  }
  launcher.one_of_several = nodes != std::optional<uint64_t>(1);
  if (!launcher.one_of_several) launcher.ranks = per_node;
}

void read_srun_words(Words words, Launcher& launcher) {
  for (size_t i = 0; i < words.size(); ++i) {
    const auto [name, joined] = split(words[i]);
    if (name == "--ntasks" || name == "-n") {
      if (joined) {
        launcher.ranks = as_count(*joined);
      } else if (i + 1 < words.size()) {
        launcher.ranks = as_count(words[i + 1]);
      }
      return;
    }
    if (name.starts_with("-n") && as_count(name.substr(2))) {
      launcher.ranks = as_count(name.substr(2));
      return;
    }
    if (!name.starts_with('-') && is_program(words[i])) return;
  }
}

// Behind `env`, its options and variables.
Words without_env(Words words) {
  if (words.empty() || file_name(words.front()) != "env") return words;
  size_t begin = 1;
  while (begin < words.size() && (words[begin].starts_with('-') || contains(words[begin], "="))) {
    ++begin;
  }
  return words.subspan(begin);
}

// `python -m torch.distributed.run ...`: the words behind it, and its name.
std::optional<size_t> torch_module_end(Words words) {
  constexpr std::array<std::string_view, 2> kModules = {"torch.distributed.run",
                                                        "torch.distributed.launch"};
  if (words.empty() || !file_name(words.front()).starts_with("python")) return std::nullopt;
  for (size_t i = 1; i + 1 < words.size() && words[i].starts_with('-'); ++i) {
    if (words[i] != "-m") continue;
    const bool known = std::find(kModules.begin(), kModules.end(), words[i + 1]) != kModules.end();
    return known ? std::optional(i + 2) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Launcher> find_launcher(const std::vector<std::string>& argv) {
  const Words words = without_env(argv);
  if (words.empty()) return std::nullopt;
  Launcher launcher;
  if (const auto behind = torch_module_end(words)) {
    launcher.kind = LauncherKind::torchrun;
    launcher.name = words[*behind - 1];
    read_torchrun_words(words.subspan(*behind), launcher);
    return launcher;
  }
  launcher.name = file_name(words.front());
  const auto* known =
      std::find_if(kLaunchers.begin(), kLaunchers.end(),
                   [&](const LauncherName& candidate) { return candidate.name == launcher.name; });
  if (known == kLaunchers.end()) return std::nullopt;
  launcher.kind = known->kind;
  const Words options = words.subspan(1);
  switch (launcher.kind) {
    case LauncherKind::mpi:
      read_mpi_words(options, launcher);
      break;
    case LauncherKind::torchrun:
      read_torchrun_words(options, launcher);
      break;
    case LauncherKind::srun:
      read_srun_words(options, launcher);
      break;
  }
  return launcher;
}

}  // namespace llmprof::capture
