#include "capture/rank_ends.h"

#include <fmt/format.h>
#include <regex.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include "base/text.h"

namespace llmprof::capture {
namespace {

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
