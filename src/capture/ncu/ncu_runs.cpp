#include "capture/ncu/ncu_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>

#include "base/files.h"
#include "base/text.h"
#include "capture/shell.h"

namespace llmprof::capture {
namespace {

constexpr std::string_view kRegexSpecials = R"(\^$.|?*+()[]{})";
// Linux allows at most 128 KiB for one argument.
constexpr size_t kLongestFilter = 100'000;
// A longer name is matched by its start, up to this length.
constexpr size_t kLongestName = 30'000;
// The most launches to measure if ncu cannot count per shape.
constexpr uint64_t kMostLaunches = 200;
// Names ncu's output if no stage is known.
constexpr const char* kUnnamedStage = "all";

std::string pattern_of(const ChosenKernel& kernel, bool by_symbol) {
  const std::string_view name = by_symbol ? kernel.symbol : kernel.name;
  const std::string_view begin = name.substr(0, kLongestName);
  const std::string pattern =
      by_symbol ? escaped(begin, kRegexSpecials) : kernel_name_pattern(begin);
  return begin.size() == name.size() ? pattern : pattern + ".*";
}

uint64_t total_launches(const std::vector<ChosenKernel>& kernels) {
  uint64_t total = 0;
  for (const ChosenKernel& kernel : kernels) total += kernel.launches;
  return total;
}

// A stage repeats its kernels step by step. The rarest one, in one of its shapes, occurs once in
// this many launches; twice that window includes it wherever the window starts.
uint64_t window_with_all(const std::vector<ChosenKernel>& kernels) {
  double rarest = std::numeric_limits<double>::max();
  for (const ChosenKernel& kernel : kernels) {
    const auto shapes = static_cast<double>(std::max<uint64_t>(kernel.distinct_shapes, 1));
    rarest = std::min(rarest, static_cast<double>(std::max<uint64_t>(kernel.launches, 1)) / shapes);
  }
  const auto total = static_cast<double>(total_launches(kernels));
  const auto window = static_cast<uint64_t>(2 * total / rarest) + 1;
  return std::min({window, kMostLaunches, std::max<uint64_t>(total_launches(kernels), 1)});
}

bool counts_shapes(const NcuOptions& options, const NcuFeatures& features) {
  return features.counts_per_shape && !options.launch_skip && !options.launch_count;
}

void choose_launches(NcuRun& run, const NcuOptions& options, const NcuFeatures& features) {
  const bool gated = !run.nvtx_include.empty();
  const bool known_stage = !run.kernels.empty() && !run.kernels.front().stage.empty();
  // Per shape, ncu takes the program's first launches, which without a gate may be of any stage.
  if (counts_shapes(options, features) && (gated || !known_stage)) {
    run.count_per_shape = true;
    run.launch_skip = 0;
    run.launch_count = options.launches_per_shape;
    return;
  }
  run.count_per_shape = false;
  uint64_t before = 0;
  if (!gated) {
    for (const ChosenKernel& kernel : run.kernels) before += kernel.launches_before;
  }
  run.launch_skip = options.launch_skip.value_or(before);
  const uint64_t window = run.kernels.empty() ? kMostLaunches : window_with_all(run.kernels);
  run.launch_count = options.launch_count.value_or(window);
}

std::vector<std::string> gate_of(const NcuOptions& options, const ChosenKernel* kernel) {
  if (!options.gating_nvtx) return {};
  // A range that the timeline did not see would leave nothing to profile.
  if (kernel != nullptr && kernel->nvtx_include.empty()) return {};
  if (!options.nvtx_include.empty()) return options.nvtx_include;
  if (kernel == nullptr) return {};
  return {kernel->nvtx_include};
}

bool belongs_to(const NcuRun& run, const ChosenKernel& kernel) {
  const ChosenKernel& first = run.kernels.front();
  return first.stage == kernel.stage && first.nvtx_include == kernel.nvtx_include;
}

// The stage's run with room for this kernel, or a new one.
NcuRun& run_for(std::vector<NcuRun>& runs, const ChosenKernel& kernel) {
  const auto fits = [&](const NcuRun& run) {
    return belongs_to(run, kernel) &&
           kernel_filter(run).size() + pattern_of(kernel, false).size() < kLongestFilter;
  };
  const auto found = std::ranges::find_if(runs, fits);
  if (found != runs.end()) return *found;
  const auto number = 1 + std::ranges::count(runs, kernel.stage, [](const NcuRun& run) {
                        return run.kernels.front().stage;
                      });
  NcuRun& run = runs.emplace_back();
  run.name = kernel.stage.empty() ? kUnnamedStage : kernel.stage;
  if (number > 1) run.name += fmt::format("_{}", number);
  return run;
}

// FNV-1a.
std::string hash(const std::vector<std::string>& command) {
  uint64_t value = 14695981039346656037U;
  for (const char c : fmt::format("{}", fmt::join(command, std::string_view("\0", 1))) + '\0') {
    value = (value ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  return fmt::format("{:016x}", value);
}

constexpr std::string_view kPunctuation = "<>(),*&[]";
constexpr std::string_view kNvtxSpecials = R"(@,[]/*+\)";

constexpr std::array<std::string_view, 15> kCastTypes = {
    "bool",           "char",          "signed char", "unsigned char", "short",
    "unsigned short", "int",           "unsigned",    "unsigned int",  "long",
    "size_t",         "unsigned long", "long long",   "wchar_t",       "unsigned long long"};

bool is_space_or_tab(char c) { return c == ' ' || c == '\t'; }
bool is_punctuation(char c) { return kPunctuation.find(c) != std::string_view::npos; }

bool begins_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && is_digit(text.front());
}

// "(int)" before a number, as template arguments are printed.
std::optional<std::string_view> cast_at(std::string_view text) {
  if (!text.starts_with('(')) return std::nullopt;
  const size_t close = text.find(')');
  if (close == std::string_view::npos || !begins_number(text.substr(close + 1))) {
    return std::nullopt;
  }
  const std::string_view type = text.substr(1, close - 1);
  const bool known = std::ranges::find(kCastTypes, type) != kCastTypes.end();
  return known ? std::optional(text.substr(0, close + 1)) : std::nullopt;
}

// Places where tools may or may not print blanks.
bool blanks_may_differ(char before, char after) {
  return (is_punctuation(before) && is_punctuation(after)) || before == ',' || after == '*' ||
         after == '&' || after == '(';
}

constexpr std::string_view kReturnsNothing = "void ";

// Removes what the tools print differently, to compare names.
std::string bare_name(std::string_view name) {
  std::string bare;
  if (name.starts_with(kReturnsNothing)) name.remove_prefix(kReturnsNothing.size());
  while (!name.empty()) {
    if (const auto cast = cast_at(name)) {
      name.remove_prefix(cast->size());
      continue;
    }
    if (!is_space_or_tab(name.front())) bare += name.front();
    name.remove_prefix(1);
  }
  return bare;
}

}  // namespace

std::optional<uint64_t> NcuRun::expected_launches() const {
  if (kernels.empty()) {
    return count_per_shape || launch_count == 0 ? std::nullopt : std::optional(launch_count);
  }
  if (!count_per_shape) {
    const uint64_t all = total_launches(kernels);
    return launch_count == 0 ? all : std::min(launch_count, std::max<uint64_t>(all, 1));
  }
  uint64_t launches = 0;
  for (const ChosenKernel& kernel : kernels) {
    const uint64_t wanted = launch_count * std::max<uint64_t>(kernel.distinct_shapes, 1);
    launches += std::min(wanted, std::max<uint64_t>(kernel.launches, 1));
  }
  return launches;
}

std::vector<NcuRun> plan_ncu_runs(const NcuOptions& options,
                                  const std::vector<ChosenKernel>& kernels,
                                  const NcuFeatures& features) {
  std::vector<NcuRun> runs;
  for (const ChosenKernel& kernel : kernels) run_for(runs, kernel).kernels.push_back(kernel);
  if (runs.empty()) runs.emplace_back().name = kUnnamedStage;
  for (NcuRun& run : runs) {
    run.nvtx_include = gate_of(options, run.kernels.empty() ? nullptr : &run.kernels.front());
    choose_launches(run, options, features);
  }
  return runs;
}

NcuRun without_gate(NcuRun run, const NcuOptions& options, const NcuFeatures& features) {
  NcuFeatures used = features;
  used.counts_per_shape = used.counts_per_shape && run.count_per_shape;
  run.nvtx_include.clear();
  choose_launches(run, options, used);
  return run;
}

bool replays_ranges(const NcuOptions& options) {
  return options.replay_mode == "range" || options.replay_mode == "app-range";
}

bool loses_kernels(const NcuOptions& options, const NcuRun& run) {
  return run.count_per_shape && !replays_ranges(options);
}

NcuRun run_of_lost_kernels(const NcuRun& run, std::vector<ChosenKernel> lost) {
  NcuRun again = run;
  again.name += "_lost";
  again.kernels = std::move(lost);
  again.count_per_shape = false;
  again.launch_skip = 0;
  again.launch_count = window_with_all(again.kernels);
  return again;
}

bool names_symbols(const NcuRun& run) {
  const auto has_symbol = [](const ChosenKernel& kernel) { return !kernel.symbol.empty(); };
  return !run.kernels.empty() && std::all_of(run.kernels.begin(), run.kernels.end(), has_symbol);
}

std::string kernel_filter(const NcuRun& run) {
  if (run.kernels.empty()) return {};
  const bool by_symbol = names_symbols(run);
  std::string filter;
  for (const ChosenKernel& kernel : run.kernels) {
    filter += filter.empty() ? "regex:^(?:" : "|";
    filter += pattern_of(kernel, by_symbol);
  }
  return filter + ")$";
}

FinishedRuns::FinishedRuns(std::filesystem::path file) : file_(std::move(file)) {
  std::ifstream stream(file_);
  std::string run;
  std::string written;
  while (stream >> run >> written) hash_of_[run] = written;
}

bool FinishedRuns::has(const std::string& run, const std::vector<std::string>& command) const {
  const auto found = hash_of_.find(run);
  return found != hash_of_.end() && found->second == hash(command);
}

Result<void> FinishedRuns::add(const std::string& run, const std::vector<std::string>& command) {
  hash_of_[run] = hash(command);
  std::string text;
  for (const auto& [name, written] : hash_of_) text += fmt::format("{} {}\n", name, written);
  return write_file_atomically(file_, text);
}

std::string kernel_name_pattern(std::string_view name) {
  if (name.starts_with(kReturnsNothing)) name.remove_prefix(kReturnsNothing.size());
  std::string pattern = "(?:void )?";
  char before = '\0';
  bool blank = false;
  while (!name.empty()) {
    if (is_space_or_tab(name.front())) {
      blank = true;
      name.remove_prefix(1);
      continue;
    }
    if (before != '\0' && (blank || blanks_may_differ(before, name.front()))) pattern += " *";
    blank = false;
    if (const auto cast = cast_at(name)) {
      pattern += R"((?:\()" + std::string(cast->substr(1, cast->size() - 2)) + R"(\))?)";
      before = ')';
      name.remove_prefix(cast->size());
      continue;
    }
    const bool is_argument = before == '<' || before == ',';
    if (is_argument && begins_number(name)) pattern += R"((?:\([a-z ]+\))?)";
    pattern += escaped(name.substr(0, 1), kRegexSpecials);
    before = name.front();
    name.remove_prefix(1);
  }
  return pattern;
}

bool same_kernel_name(std::string_view a, std::string_view b) {
  return a == b || bare_name(a) == bare_name(b);
}

std::string nvtx_include_expression(std::string_view domain, std::string_view range,
                                    NvtxRangeStyle style) {
  std::string expression = domain.empty() ? "" : escaped(domain, kNvtxSpecials) + "@";
  expression += escaped(range, kNvtxSpecials);
  if (style == NvtxRangeStyle::push_pop) expression += '/';
  return expression;
}

}  // namespace llmprof::capture
