#include "capture/launcher.h"

#include <fmt/format.h>
#include <regex.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <span>

#include "base/machine.h"
#include "base/text.h"
#include "capture/process.h"
#include "capture/shell.h"

namespace llmprof::capture {
namespace {

using Words = std::span<const std::string>;

constexpr WordList kMpiLaunchers = {
    "mpirun|mpiexec|mpirun.openmpi|mpiexec.openmpi|mpirun.mpich|mpiexec.mpich|mpiexec.hydra|"
    "orterun|prterun"};

// Options of MPI's launchers, by the number of words that follow them.
constexpr std::array<WordList, 3> kMpiOptions = {
    {{"--oversubscribe|-oversubscribe|--allow-run-as-root|--enable-recovery|--tag-output|--quiet|"
      "-q|-v|--report-bindings"},
     {"-x|--map-by|--bind-to|--rank-by|--host|-host|-H|--hostfile|-hostfile|--machinefile|"
      "-machinefile|-hosts|-f|--wdir|-wdir|--prefix|--output|-ppn|-genvlist|--timeout"},
     {"--mca|-mca|--prtemca|--pmixmca|-genv|-env"}}};
constexpr WordList kHostOptions = {
    "--host|-host|-H|--hostfile|-hostfile|--machinefile|-machinefile|-hosts|-f"};

std::string file_name(const std::string& word) {
  return std::filesystem::path(word).filename().string();
}

std::optional<uint64_t> as_count(std::string_view text) {
  const auto number = parse_int(text);
  return number && *number > 0 ? std::optional(static_cast<uint64_t>(*number)) : std::nullopt;
}

// The option's name and its value, if both are in one word: "--ntasks=4".
struct SplitWord {
  std::string_view name;
  std::optional<std::string_view> value;
};
SplitWord split_option(std::string_view word) {
  const size_t equals = word.find('=');
  if (!word.starts_with("--") || equals == std::string_view::npos) return {word, std::nullopt};
  return {word.substr(0, equals), word.substr(equals + 1)};
}

bool is_program(const std::string& word) {
  return find_executable(word, environment_variable("PATH")).has_value();
}

// A launcher's options end where its program starts, which may have its own `-n`.
void read_mpi_words(Words words, Launcher& launcher) {
  uint64_t ranks = 0;
  bool counted = false;
  bool is_certain = true;
  bool in_program = false;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == ":") {  // another program of the same job
      is_certain = is_certain && counted;
      counted = false;
      in_program = false;
      continue;
    }
    if (in_program) continue;
    const auto [name, value] = split_option(words[i]);
    if (WordList{"-n|-np|--np|--n|-c"}.contains(name)) {
      const auto count =
          value ? as_count(*value) : (i + 1 < words.size() ? as_count(words[++i]) : std::nullopt);
      is_certain = is_certain && count.has_value();
      ranks += count.value_or(0);
      counted = true;
      continue;
    }
    if (!name.starts_with('-')) {
      in_program = true;
      continue;
    }
    if (kHostOptions.contains(name)) launcher.names_hosts = true;
    if (value) continue;
    const auto* known = std::ranges::find_if(
        kMpiOptions, [wanted = name](const WordList& words) { return words.contains(wanted); });
    if (known != kMpiOptions.end()) {
      i += static_cast<size_t>(known - kMpiOptions.begin());
    } else if (i + 1 < words.size() && !words[i + 1].starts_with('-') &&
               !is_program(words[i + 1])) {
      ++i;  // a word that is neither an option nor a program is its value
    }
  }
  if (is_certain && counted) launcher.ranks = ranks;
}

void read_torchrun_words(Words words, Launcher& launcher) {
  std::optional<uint64_t> per_node = 1;
  std::optional<uint64_t> nodes = 1;
  for (size_t i = 0; i < words.size() && words[i].starts_with('-'); ++i) {
    const auto [name, joined] = split_option(words[i]);
    if (!joined && WordList{"--standalone|--no-python|--no_python|-m|--module"}.contains(name))
      continue;
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
    const auto [name, joined] = split_option(words[i]);
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

// The words after `env`, its options and its variables.
Words without_env(Words words) {
  if (words.empty() || file_name(words.front()) != "env") return words;
  size_t begin = 1;
  while (begin < words.size() && (words[begin].starts_with('-') || contains(words[begin], "="))) {
    ++begin;
  }
  return words.subspan(begin);
}

// `python -m torch.distributed.run ...`: the index after the module's name.
std::optional<size_t> torch_module_end(Words words) {
  if (words.empty() || !file_name(words.front()).starts_with("python")) return std::nullopt;
  for (size_t i = 1; i + 1 < words.size() && words[i].starts_with('-'); ++i) {
    if (words[i] != "-m") continue;
    const bool known =
        WordList{"torch.distributed.run|torch.distributed.launch"}.contains(words[i + 1]);
    return known ? std::optional(i + 2) : std::nullopt;
  }
  return std::nullopt;
}

bool is_open_mpi(const std::string& launcher) {
  const auto asked = ask_program({launcher, "--version"}, std::chrono::seconds(10));
  return asked && contains(asked->output_tail, "Open MPI");
}

constexpr size_t kMostGroups = 4;
constexpr size_t kMostRanks = 65536;  // that a list of tasks may name

// POSIX extended regular expressions of the C library: a few fixed ones do not justify another
// library.
class Pattern {
 public:
  explicit Pattern(const char* text) { regcomp(&compiled_, text, REG_EXTENDED); }
  ~Pattern() { regfree(&compiled_); }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  // Calls `visit` with the groups of every match and the text before it.
  template <class Visit>
  void each(const std::string& text, Visit&& visit) const {
    size_t from = 0;
    std::array<regmatch_t, kMostGroups + 1> found{};
    while (from < text.size() && regexec(&compiled_, text.c_str() + from, found.size(),
                                         found.data(), from == 0 ? 0 : REG_NOTBOL) == 0) {
      std::array<std::string, kMostGroups> groups;
      for (size_t i = 0; i < groups.size(); ++i) {
        const regmatch_t& group = found[i + 1];
        if (group.rm_so < 0) continue;
        groups[i] = text.substr(from + static_cast<size_t>(group.rm_so),
                                static_cast<size_t>(group.rm_eo - group.rm_so));
      }
      visit(groups, from + static_cast<size_t>(found[0].rm_so));
      from += static_cast<size_t>(std::max<regoff_t>(found[0].rm_eo, 1));
    }
  }

 private:
  regex_t compiled_{};
};

using Groups = std::array<std::string, kMostGroups>;

std::optional<uint64_t> rank_number(std::string_view text) {
  const auto number = parse_int(text);
  if (!number || *number < 0) return std::nullopt;
  return static_cast<uint64_t>(*number);
}

std::string signal_text(int64_t number) {
  const char* name = number > 0 && number < NSIG ? sigdescr_np(static_cast<int>(number)) : nullptr;
  return name == nullptr ? fmt::format("signal {}", number)
                         : fmt::format("signal {} ({})", number, name);
}

// "signal 9 (Killed)" from srun's words, which are the C library's description.
std::string signal_of_words(const std::string& words) {
  for (int number = 1; number < NSIG; ++number) {
    const char* name = sigdescr_np(number);
    if (name != nullptr && words.starts_with(name)) return signal_text(number);
  }
  return to_printable(words);
}

// "0,2-3"
std::vector<uint64_t> ranks_in_list(std::string_view list) {
  std::vector<uint64_t> ranks;
  for (const std::string_view part : split_at(list, ',')) {
    const size_t dash = part.find('-');
    const auto first = rank_number(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : rank_number(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last - *first >= kMostRanks) continue;
    for (uint64_t rank = *first; rank <= *last; ++rank) ranks.push_back(rank);
  }
  return ranks;
}

using RankEnds = std::vector<RankEnd>;

// Each rank once, with the first message about it.
void add(RankEnds& ends, RankEnd end) {
  const bool known = std::any_of(ends.begin(), ends.end(), [&](const RankEnd& other) {
    return other.rank == end.rank && other.process == end.process;
  });
  if (!known) ends.push_back(std::move(end));
}

// Open MPI 4 says "mpirun", 5 "prterun", and lines may break anywhere.
void read_open_mpi(const std::string& text, RankEnds& ends) {
  static const Pattern signaled(
      "process rank ([0-9]+) with PID [0-9]+ on node [^ \n]+ exited on[ \n]+signal ([0-9]+)");
  signaled.each(text, [&](const Groups& groups, size_t) {
    add(ends, {rank_number(groups[0]), {}, signal_text(parse_int(groups[1]).value_or(0)), false});
  });
  static const Pattern exited("Process name: \\[.*,([0-9]+)\\][ \n]+Exit code:[ ]+([0-9]+)");
  exited.each(text, [&](const Groups& groups, size_t) {
    add(ends, {rank_number(groups[0]), {}, "exit code " + groups[1], false});
  });
}

// MPICH and Intel MPI; MPICH names only the process.
void read_hydra(const std::string& text, RankEnds& ends) {
  static const Pattern ended(
      "= +(RANK ([0-9]+) )?PID ([0-9]+) RUNNING AT [^\n]+\n= +(EXIT CODE: [0-9]+|KILLED BY SIGNAL: "
      "[0-9]+)");
  ended.each(text, [&](const Groups& groups, size_t) {
    const std::string& how = groups[3];
    const auto number = parse_int(how.substr(how.rfind(' ') + 1)).value_or(0);
    RankEnd end;
    end.rank = rank_number(groups[1]);
    if (!end.rank) end.process = rank_number(groups[2]);
    // MPICH gives the status as wait() does: a number below 128 may be a signal.
    end.how = how.starts_with("KILLED") ? signal_text(number) : fmt::format("exit code {}", number);
    add(ends, std::move(end));
  });
}

// Once a task has ended badly, srun may end all others: with SIGTERM, then SIGKILL.
void read_srun(const std::string& text, RankEnds& ends) {
  static const Pattern ended("srun: error: [^ \n]+: tasks? ([0-9,-]+): ([^\n]+)");
  const size_t canceled = std::min(text.find("Terminating StepId"), text.find(" CANCELLED "));
  ended.each(text, [&](const Groups& groups, size_t at) {
    const bool exited = groups[1].starts_with("Exited with exit code ");
    const bool by_launcher = at > canceled && !exited;
    const std::string how = exited ? groups[1].substr(std::string_view("Exited with ").size())
                                   : signal_of_words(groups[1]);
    for (const uint64_t rank : ranks_in_list(groups[0])) add(ends, {rank, {}, how, by_launcher});
  });
}

// torchrun's table of failures; negative exit codes are signals, and it ends the other ranks by
// SIGTERM.
void read_torchrun(const std::string& text, RankEnds& ends) {
  static const Pattern failed(
      "rank +: ([0-9]+) \\(local_rank: [0-9]+\\)[ \n]+exitcode +: (-?[0-9]+)");
  failed.each(text, [&](const Groups& groups, size_t) {
    const int64_t code = parse_int(groups[1]).value_or(0);
    add(ends, {rank_number(groups[0]),
               {},
               code < 0 ? signal_text(-code) : fmt::format("exit code {}", code),
               code == -SIGTERM});
  });
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
  const Words options = words.subspan(1);
  if (kMpiLaunchers.contains(launcher.name)) {
    read_mpi_words(options, launcher);
  } else if (launcher.name == "torchrun") {
    launcher.kind = LauncherKind::torchrun;
    read_torchrun_words(options, launcher);
  } else if (launcher.name == "srun") {
    launcher.kind = LauncherKind::srun;
    read_srun_words(options, launcher);
  } else {
    return std::nullopt;
  }
  return launcher;
}

std::vector<std::string> exported_argv(
    const std::vector<std::string>& argv,
    const std::vector<std::pair<std::string, std::string>>& variables) {
  const auto launcher = find_launcher(argv);
  if (!launcher || launcher->kind != LauncherKind::mpi || !launcher->names_hosts) return argv;
  const auto at = std::find_if(argv.begin(), argv.end(), [&](const std::string& word) {
    return std::filesystem::path(word).filename() == launcher->name;
  });
  if (at == argv.end() || !is_open_mpi(*at)) return argv;
  std::vector<std::string> words(argv.begin(), at + 1);
  for (const auto& [name, value] : variables) {
    words.emplace_back("-x");
    words.push_back(name);
  }
  words.insert(words.end(), at + 1, argv.end());
  return words;
}

std::vector<RankEnd> rank_ends_in(std::string_view output) {
  std::string text(output);
  std::replace(text.begin(), text.end(), '\0', ' ');
  RankEnds ends;
  read_open_mpi(text, ends);
  read_hydra(text, ends);
  read_srun(text, ends);
  read_torchrun(text, ends);
  return ends;
}

}  // namespace llmprof::capture
