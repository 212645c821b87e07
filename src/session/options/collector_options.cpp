#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "session/options/tool_options.h"

namespace llmprof::session {
namespace {

constexpr uint64_t kLargestLog = 1'000'000'000;     // MB
constexpr uint64_t kLongestDelay = 7UL * 86400000;  // ms
constexpr uint64_t kLongestPeriod = 1'000'000;      // steps
constexpr uint64_t kFastestCounters = 200'000;      // samples a second
constexpr double kLargestBudget = 100;              // percent
// Switching costs some 20 us each way: a window of several steps makes that small.
constexpr uint64_t kStepsOfWindow = 4;

std::optional<DutyCycle> parse_duty(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    const auto share = parse_int(text);
    if (!share || *share < 1) return std::nullopt;
    return DutyCycle{kStepsOfWindow, kStepsOfWindow * static_cast<uint64_t>(*share)};
  }
  const auto traced = parse_int(text.substr(0, slash));
  const auto period = parse_int(text.substr(slash + 1));
  if (!traced || !period || *traced < 1 || *period < *traced) return std::nullopt;
  return DutyCycle{static_cast<uint64_t>(*traced), static_cast<uint64_t>(*period)};
}

std::optional<DutyCycle> read_duty(config::Settings& settings) {
  constexpr std::string_view kKey = "duty";
  const auto written = settings.optional_text(kKey);
  if (!written) return std::nullopt;
  const auto duty = parse_duty(trim(*written));
  if (duty && duty->period <= kLongestPeriod) return duty;
  settings.wrong(kKey,
                 fmt::format("must be T/P, to trace T of every P steps (4/32), or N, to trace 4 of "
                             "every 4*N steps, with P of at most {}, but is '{}'",
                             kLongestPeriod, to_printable(*written)));
  return std::nullopt;
}

std::optional<double> read_budget(config::Settings& settings) {
  constexpr std::string_view kKey = "overhead_budget";
  const auto written = settings.optional_text(kKey);
  if (!written) return std::nullopt;
  std::string_view number = trim(*written);
  if (number.ends_with('%')) number.remove_suffix(1);
  const auto percent = parse_decimal(trim(number));
  if (percent && *percent > 0 && *percent <= kLargestBudget) return percent;
  settings.wrong(kKey, fmt::format("must be percent of the program's own time, above 0 and at most "
                                   "{} (2%), but is '{}'",
                                   kLargestBudget, to_printable(*written)));
  return std::nullopt;
}

// A misspelt word would be a range that never opens, and nothing would be recorded.
std::string read_arm(config::Settings& settings) {
  constexpr std::string_view kKey = "arm";
  constexpr std::string_view kOurDomain = "@LLM";
  constexpr std::array<std::string_view, 2> kWords = {"start", "command"};
  std::string written = settings.text(kKey, kWords.front());
  const auto refuse = [&](std::string_view meant) {
    settings.wrong(kKey,
                   fmt::format("must be start, command or a range as reports name it "
                               "(LLM@decode_all), but is '{}'{}",
                               to_printable(written),
                               meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant)));
  };
  std::string_view range = written;
  if (range.ends_with('/')) range.remove_suffix(1);  // as ncu writes push/pop ranges
  if (range.ends_with(kOurDomain)) {                 // as nsys writes them
    range.remove_suffix(kOurDomain.size());
    refuse(range.empty() ? std::string() : fmt::format("LLM@{}", range));
  } else if (range.empty() || range.ends_with('@')) {
    refuse({});
  } else if (range.size() != written.size()) {
    refuse(range);
  } else if (const auto word = nearest(written, kWords); word && *word != written) {
    refuse(*word);
  }
  return written;
}

void refuse_contradictions(config::Settings& settings, const CollectorOptions& options) {
  if (options.duty && options.overhead_budget) {
    settings.wrong(
        "overhead_budget",
        "chooses the duty cycle automatically, but collector.duty is set too; choose one");
  }
  if (options.delay_ms && options.arm != "start") {
    settings.wrong("delay_ms", fmt::format("arms it, and collector.arm={} does too; choose one",
                                           to_printable(options.arm)));
  }
}

}  // namespace

CollectorOptions read_collector_options(config::Settings settings) {
  CollectorOptions options;
  options.max_log_mb = settings.optional_whole("max_log_mb", 1, kLargestLog);
  options.arm = read_arm(settings);
  options.delay_ms = settings.optional_whole("delay_ms", 0, kLongestDelay);
  options.steps = settings.optional_whole("steps", 1);
  options.step_range = settings.text("step_range", options.step_range);
  if (options.step_range.empty()) settings.wrong("step_range", "is empty: name a range");
  options.duty = read_duty(settings);
  options.overhead_budget = read_budget(settings);
  options.api = settings.boolean("api", options.api);
  options.counters = settings.boolean("counters", options.counters);
  options.counter_rounds = settings.boolean("counter_rounds", options.counter_rounds);
  options.counter_hz = settings.optional_whole("counter_hz", 1, kFastestCounters);
  options.sensors = settings.boolean("sensors", options.sensors);
  refuse_contradictions(settings, options);
  settings.refuse_unknown_keys();
  return options;
}

}  // namespace llmprof::session
