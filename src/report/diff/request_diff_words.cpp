#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "compare/requests/request_quantities.h"
#include "report/diff/diff_report.h"
#include "report/format/figures.h"
#include "report/format/words.h"

namespace llmprof::report {
namespace {

using compare::Answer;
using compare::Comparison;
using compare::Diff;
using compare::RequestPartChange;
using compare::RequestsDiff;

constexpr size_t kMostPartsInWords = 4;
// Smaller changes of a part, as a share of the base's mean time, are not mentioned.
constexpr double kLeastPartPoints = 0.0005;

// What service levels limit: medians and tails of what a user waits for.
bool is_headline(const Comparison& comparison) {
  if (comparison.quantity.measured == compare::Measured::goodput) return true;
  const bool waited = comparison.quantity.measured == compare::Measured::ttft ||
                      comparison.quantity.measured == compare::Measured::itl ||
                      comparison.quantity.measured == compare::Measured::e2e;
  return waited && (comparison.statistic == compare::Statistic::p50 ||
                    comparison.statistic == compare::Statistic::p99);
}

std::vector<const Comparison*> headlines_of(const Diff& diff) {
  std::vector<const Comparison*> found;
  for (const Comparison& each : diff.comparisons) {
    if (each.stage == compare::kRequests && is_headline(each) && is_shown(diff, each)) {
      found.push_back(&each);
    }
  }
  return found;
}

std::string how_changed(const Comparison& comparison) {
  if (comparison.quantity.measured != compare::Measured::goodput) {
    return speed_words(comparison.relative->value);
  }
  constexpr double kPercentOf = 100;
  return fmt::format("{:.2f} % {}", std::abs(comparison.relative->value) * kPercentOf,
                     comparison.relative->value < 0 ? "lower" : "higher");
}

std::vector<const Comparison*> with_answer(const std::vector<const Comparison*>& all,
                                           Answer answer) {
  std::vector<const Comparison*> found;
  std::ranges::copy_if(all, std::back_inserter(found),
                       [&](const Comparison* each) { return each->answer == answer; });
  return found;
}

// "time to first token (p99)"; goodput has one value.
std::string name_of(const Comparison& comparison, bool on_cpu) {
  Comparison plain = comparison;
  plain.statistic = compare::Statistic::mean;
  std::string words = quantity_words(plain, on_cpu);
  if (comparison.quantity.measured == compare::Measured::goodput) return words;
  return fmt::format("{} ({})", words, to_string(comparison.statistic));
}

std::string names_of(const std::vector<const Comparison*>& all, bool on_cpu) {
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const Comparison* each : all) names.push_back(name_of(*each, on_cpu));
  return enumeration(names);
}

// "time to first token (p99) is 21.20 % slower (640.1 to 775.8 ms; 95 % interval ...)"
std::string changed_words(const Comparison& comparison, bool on_cpu) {
  return fmt::format("{} is {} ({} to {} {}; 95 % interval {} to {})", name_of(comparison, on_cpu),
                     how_changed(comparison), value_figure(comparison, comparison.base),
                     value_figure(comparison, comparison.now), to_string(comparison.unit),
                     change(comparison.relative_low), change(comparison.relative_high));
}

// "-10.100 ms from queue, +2.000 ms from prefill of others"
std::string parts_words(const std::vector<RequestPartChange>& parts) {
  std::vector<std::string> largest;
  for (const RequestPartChange& part : parts) {
    if (largest.size() == kMostPartsInWords || !part.points) break;
    if (std::abs(part.points->value) < kLeastPartPoints) break;
    largest.push_back(
        fmt::format("{} ms from {}", time_change(as_ms(part.difference)), part_words(part.part)));
  }
  return joined(largest, ", ");
}

std::string causes_sentence(const RequestsDiff& requests) {
  const std::string parts = parts_words(requests.parts);
  if (parts.empty()) return {};
  return fmt::format(" The mean time from sent to end changes by {} ms per request: {}.",
                     time_change(as_ms(requests.difference)), parts);
}

}  // namespace

std::string requests_clause(const Diff& diff) {
  const auto all = headlines_of(diff);
  if (all.empty()) return {};
  const bool on_cpu = is_of_cpu(diff);
  const auto why_not = all.front()->why_not;
  if (why_not == compare::NoAnswer::other_load || why_not == compare::NoAnswer::failed_requests) {
    return fmt::format("requests are not compared: {}", why_not_words(*all.front()));
  }
  const auto changed = with_answer(all, Answer::changed);
  if (!changed.empty()) {
    return joined(changed, ", ", [&](const Comparison* each) {
      return fmt::format("{} is {}", name_of(*each, on_cpu), how_changed(*each));
    });
  }
  const auto unchanged = with_answer(all, Answer::unchanged);
  if (unchanged.empty()) return "it is undecided whether times of requests changed";
  return fmt::format("{} {} unchanged within {}", names_of(unchanged, on_cpu),
                     unchanged.size() == 1 ? "is" : "are", round_percent(diff.threshold));
}

std::string requests_words(const Diff& diff) {
  const auto all = headlines_of(diff);
  if (!diff.requests || all.empty()) return {};
  const bool on_cpu = is_of_cpu(diff);
  if (diff.identical) return "Requests: both sides hold the same measurements.";
  if (all.front()->why_not) {
    return fmt::format("Requests: no answer, because {}; figures are only listed side by side.",
                       why_not_words(*all.front()));
  }
  const auto changed = with_answer(all, Answer::changed);
  std::vector<std::string> parts;
  parts.reserve(changed.size());
  for (const Comparison* each : changed) parts.push_back(changed_words(*each, on_cpu));
  if (const auto unchanged = with_answer(all, Answer::unchanged); !unchanged.empty()) {
    parts.push_back(fmt::format("{} {} unchanged within {}", names_of(unchanged, on_cpu),
                                unchanged.size() == 1 ? "is" : "are",
                                round_percent(diff.threshold)));
  }
  if (const auto unknown = with_answer(all, Answer::cannot_tell); !unknown.empty()) {
    parts.push_back(fmt::format("whether {} changed is undecided", names_of(unknown, on_cpu)));
  }
  const std::string words = "Requests: " + joined(parts, "; ") + ".";
  return changed.empty() ? words : words + causes_sentence(*diff.requests);
}

void add_requests(const Diff& diff, Document& document) {
  if (!diff.requests || diff.requests->parts.empty()) return;
  const auto add = [&](std::string_view title, const std::vector<RequestPartChange>& parts) {
    if (parts.empty()) return;
    document.heading(3, std::string(title));
    Table table = table_of("part | #base (ms) | #new (ms) | #difference (ms)", parts,
                           [](const RequestPartChange& part) {
                             return cells(part_words(part.part), ms(as_ms(part.base)),
                                          ms(as_ms(part.now)), time_change(as_ms(part.difference)));
                           });
    compare::WholeNanoseconds base;
    compare::WholeNanoseconds now;
    for (const RequestPartChange& part : parts) {
      base.value += part.base.value;
      now.value += part.now.value;
    }
    table.add(std::string("all parts"), ms(as_ms(base)), ms(as_ms(now)),
              time_change(as_ms({now.value - base.value})));
    document.add(std::move(table));
  };
  add("Requests: time from sent to end, mean per request", diff.requests->parts);
  add("Requests: time to first token, mean per request", diff.requests->first_token_parts);
}

}  // namespace llmprof::report
