#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>

#include "report/format/figures.h"
#include "report/format/request_words.h"
#include "report/reasons/word_reasons.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

constexpr size_t kShownDelayers = 10;
constexpr size_t kShownDelays = 10;
constexpr size_t kShownGapRows = 10;
constexpr size_t kShownGapParts = 3;
constexpr size_t kShownSizes = 20;

std::string capitalized(std::string_view words) {
  std::string text(words);
  if (!text.empty() && is_lower(text[0])) text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string load_name(bool recorded) { return recorded ? "recorded" : "unrecorded"; }

void add_figures(const Requests& requests, Document& document) {
  Table table = table_of(
      "figure | load | #values | #mean (ms) | #p50 (ms) | #p90 (ms) | #p99 (ms) | what it is");
  const auto add = [&](RequestFigure figure, const RequestTimes& times, bool recorded) {
    if (times.count == 0) return;
    table.add(in_words(figure), load_name(recorded), grouped(times.count),
              figure_ms(figure, times.mean), figure_ms(figure, times.p50),
              figure_ms(figure, times.p90), figure_ms(figure, times.p99), definition_of(figure));
  };
  for (const RequestFigureTimes& each : figure_times(requests)) {
    if (each.alone != nullptr) add(each.figure, *each.alone, false);
    add(each.figure, *each.recorded, true);
  }
  if (requests.queue.count > 0) {
    const RequestTimes& queue = requests.queue;
    table.add("queue", load_name(true), grouped(queue.count), ms(queue.mean), ms(queue.p50),
              ms(queue.p90), ms(queue.p99),
              "from sent until the first batch with its prompt begins, per request");
  }
  document.add_filled(std::move(table.show_if(requests.unrecorded.has_value(), "load")));
  document.paragraph(
      "Times are the client's; percentiles by nearest rank. Only completed requests count, warm-up "
      "excluded.");
}

void add_recording_cost(const Requests& requests, Document& document) {
  if (!requests.unrecorded) return;
  document.paragraph(
      "The unrecorded load ({}) is the headline: its {} were sent to the same server without a "
      "recorder. Causes are from the recorded load ({}).",
      requests.unrecorded->file, counted(requests.unrecorded->completed, "completed request"),
      requests.file);
  document.add(table_of("figure | #recorded over unrecorded, p50 | #p99", requests.shown.recording,
                        [](const RecordingCost& cost) {
                          if (!cost.p50) return Row();
                          return cells(in_words(cost.figure), change(cost.p50), change(cost.p99));
                        }));
}

std::string goodput_words(const RequestLoad& load) {
  if (!load.goodput) return {};
  std::string text = text_of(per_second(load.goodput));
  if (load.goodput_low && load.goodput_high) {
    text += fmt::format(" (confidence interval {} to {})", per_second(load.goodput_low),
                        per_second(load.goodput_high));
  }
  return text;
}

// What a load was, and what came of it: (what, value, unit).
std::vector<std::array<Cell, 3>> load_rows(const RequestLoad& load) {
  constexpr const char* kRequests = "requests per second";
  const auto number = [](const std::optional<uint64_t>& count) {
    return count ? grouped(*count) : plain(std::nullopt);
  };
  std::vector<std::array<Cell, 3>> rows = {
      {"arrivals", load.arrivals, ""},
      {"requested rate", per_second(load.rate), kRequests},
      {"requested concurrency", number(load.concurrency), "requests"},
      {"sent", per_second(load.sent_rate), kRequests},
      {"completed", per_second(load.completed_rate), kRequests},
      {"output tokens", in_unit(load.output_rate), "tokens per second"},
      {"in flight, at most", number(load.most_concurrent), "requests"},
  };
  if (load.lateness) {
    rows.push_back({"client sent late, p50", ms(load.lateness->p50), "ms"});
    rows.push_back({"client sent late, p99", ms(load.lateness->p99), "ms"});
  }
  rows.push_back({"end of the ramp-up, after the first request", ms(load.ramp_up_end), "ms"});
  rows.push_back({"last request sent, after the first", ms(load.drain_start), "ms"});
  for (const Objective& each : load.objectives) {
    rows.push_back({fmt::format("{} of {} ms at most", in_words(each.figure),
                                figure_ms(each.figure, each.limit)),
                    percent(each.attained), "of completed requests"});
  }
  rows.push_back({"goodput: requests that meet all objectives", goodput_words(load), kRequests});
  std::erase_if(rows, [](const auto& row) {
    const std::string text = text_of(row[1]);
    return text.empty() || text == kMissing;
  });
  return rows;
}

void add_load(const Requests& requests, Document& document) {
  const auto recorded = load_rows(requests.load);
  const auto shown = load_rows(headline_load(requests));
  if (shown.empty()) return;
  Table table = table_of("what | #unrecorded | #recorded | unit");
  for (const auto& [what, value, unit] : shown) {
    const auto same = std::ranges::find_if(
        recorded, [&](const auto& row) { return text_of(row[0]) == text_of(what); });
    table.rows.push_back(
        {what, value, same == recorded.end() ? Cell(std::string(kMissing)) : (*same)[1], unit});
  }
  if (!requests.unrecorded) table.columns[2].title = "value";
  document.heading(3, "Load");
  document.add(std::move(table.show_if(requests.unrecorded.has_value(), "unrecorded")));
  const auto& verdict = headline_load(requests).verdict;
  if (verdict) document.paragraph(sentence(fmt::format("verdict: {}", in_words(*verdict))));
}

void add_join(const RequestJoin& join, Document& document) {
  document.heading(3, "Join with the engine's steps");
  if (join.state != JoinState::joined) {
    document.paragraph("Causes are not available: {}", clause(in_words(join.state)));
  }
  Table table = table_of("what | #value | of");
  if (join.coverage) {
    table.add("tokens joined", percent(join.coverage),
              fmt::format("{} of {} of completed requests in recorded time",
                          grouped(join.tokens_joined), counted(join.tokens, "token")));
  }
  if (join.coverage_of_rows) {
    table.add("rows explained", percent(join.coverage_of_rows),
              fmt::format("{} with a request and {} named, of {}", grouped(join.rows_joined),
                          grouped(join.rows_named), counted(join.rows, "row")));
  }
  if (join.tokens_ambiguous > 0) {
    table.add("ambiguous tokens", grouped(join.tokens_ambiguous),
              "joined tokens that another batch could have made as well");
  }
  if (join.tokens_miscounted > 0) {
    table.add("tokens of requests with more than they state", grouped(join.tokens_miscounted),
              "they have no causes");
  }
  if (join.tokens_outside > 0) {
    table.add("tokens outside of recorded time", grouped(join.tokens_outside),
              "they have no causes");
  }
  if (join.delivery) {
    table.add("delivery, p50 (ms)", ms(join.delivery->p50),
              "from the results on the host to the client");
    table.add("delivery, p99 (ms)", ms(join.delivery->p99), "the same");
  }
  if (join.confirmed) {
    table.add("confirmed tokens", grouped(*join.confirmed), "by the engine's own ids or times");
  }
  if (join.contradicted) {
    table.add("contradicted tokens", grouped(*join.contradicted),
              "by the engine's own ids or times");
  }
  if (join.decode_alone) {
    table.add("step of one sequence, mean (ms)", ms(join.decode_alone->mean),
              fmt::format("{} without prompts, the basis of own decode",
                          counted(join.decode_alone->count, "batch")));
  }
  document.add_filled(std::move(table));
  if (const auto words = reason_words(join.reasons)) document.paragraph(sentence(*words));
}

void add_parts(const Requests& requests, Document& document) {
  if (requests.shown.parts.empty()) return;
  document.heading(3, "What the time consists of");
  document.add(
      table_of("part | #mean per completed request (ms) | #share of their time | what it is",
               requests.shown.parts, [](const RequestPartShown& part) {
                 const RequestPartLook look = look_of(part.part);
                 return cells(look.shown, ms(part.mean), percent(part.share), look.why);
               }));
}

void add_tail(const Requests& requests, Document& document) {
  if (requests.tail.empty()) return;
  document.heading(3, "What makes the slowest ones slow");
  for (const RequestTail& tail : requests.tail) {
    Table table =
        table_of("part | #mean in the tail (ms) | #mean around the median (ms) | #difference (ms)",
                 tail.parts, [](const TailPart& part) {
                   if (part.tail.value == 0 && part.median.value == 0) return Row();
                   return cells(look_of(part.part).shown, ms(part.tail), ms(part.median),
                                time_change(part.more));
                 });
    document.add_filled(
        std::move(table),
        fmt::format("{} of {} ms and more ({}), against {} around the median.{}",
                    capitalized(in_words(tail.figure)), figure_ms(tail.figure, tail.above),
                    counted(tail.count, value_word(tail.figure)), grouped(tail.around_median),
                    tail.most_delayed_by
                        ? fmt::format(" Request {} delays it most.", *tail.most_delayed_by)
                        : ""));
  }
}

void add_delays(const Requests& requests, Document& document) {
  if (requests.delayers.empty()) return;
  document.heading(3, "Who delayed whom");
  document.add(table_of(
      "request | #others waited for it (ms) | #for their first token (ms) | #requests that waited "
      "| #gaps between tokens",
      requests.delayers,
      [](const RequestDelayer& each) {
        return cells(each.by, whole_ms(each.time), whole_ms(each.of_first_tokens),
                     grouped(each.requests), grouped(each.gaps));
      },
      kShownDelayers));
  document.add(table_of(
      "request | waited for request | #after its first token (ms) | #before it (ms) | #gaps",
      requests.delays,
      [](const RequestDelay& each) {
        return cells(each.of, each.by, whole_ms(each.time), whole_ms(each.of_first_token),
                     grouped(each.gaps));
      },
      kShownDelays));
  document.paragraph(
      "A request waits for another one while the GPU works on the other's prompt in its batches. "
      " Times of several waiting requests add up.");
}

void add_sizes(const Requests& requests, Document& document) {
  if (requests.steps_by_size.empty()) return;
  document.heading(3, "Steps by size");
  Table table = table_of(
      "#sequences | #batches | #tokens in their caches, mean | #mean (ms) | #p50 (ms) | #p99 (ms) "
      "| #lower bound (ms) | #per token, mean (ms)",
      requests.steps_by_size,
      [](const StepsBySize& each) {
        return cells(grouped(each.rows), grouped(each.steps), plain(each.context_tokens),
                     fine_ms(each.wall.mean), fine_ms(each.wall.p50), fine_ms(each.wall.p99),
                     fine_ms(each.floor), fine_ms(each.per_token));
      },
      kShownSizes);
  const bool floors = std::ranges::any_of(requests.steps_by_size,
                                          [](const auto& each) { return each.floor.has_value(); });
  document.add(std::move(table.show_if(floors, "lower bound (ms)")));
  document.paragraph(
      "Batches without prompts. A larger batch costs each of its sequences the longer step, and "
      "gives all together more tokens per second.");
}

std::string gap_parts(const RequestGap& gap) {
  auto parts = gap.parts;
  std::ranges::stable_sort(parts, std::ranges::greater(),
                           [](const auto& part) { return part.second; });
  return joined(parts | std::views::take(kShownGapParts), ", ", [](const auto& part) {
    return part.second.value <= 0
               ? std::string()
               : fmt::format("{} {} ms", look_of(part.first).shown, whole_ms(part.second));
  });
}

void add_gaps(const Requests& requests, Document& document) {
  if (requests.slowest_gaps.empty()) return;
  document.heading(3, "Slowest tokens");
  document.add(table_of(
      "request | token | #wait (ms) | #start of the wait (ms) | largest parts | step | most "
      "delayed "
      "by",
      requests.slowest_gaps,
      [&](const RequestGap& gap) {
        if (gap.request >= requests.items.size()) return Row();
        return cells(requests.items[gap.request].id,
                     gap.chunk == 0 ? "first" : fmt::format("chunk {}", gap.chunk),
                     whole_ms(gap.time), ms(gap.start), gap_parts(gap),
                     gap.step ? std::to_string(*gap.step) : std::string(kMissing),
                     or_missing(gap.most_delayed_by));
      },
      kShownGapRows));
  document.paragraph("Starts are on the capture's clock, steps are indices in profile.json.");
}

void add_stated(const Requests& requests, Document& document) {
  if (requests.stated.empty()) return;
  document.heading(3, "The file's own figures");
  document.add(table_of("figure | #in the file | #computed again", requests.stated,
                        [](const StatedFigure& each) {
                          return cells(each.name, ratio(each.stated), ratio(each.computed));
                        }));
  document.paragraph(
      "By the tool's own definitions, which differ from the ones above; computed from the requests "
      "in the file.");
}

std::string counts_sentence(const Requests& requests) {
  std::string text =
      fmt::format("{}, {}: {} of {} completed", requests.file, in_words(requests.source),
                  grouped(requests.completed), counted(requests.sent, "request"));
  if (requests.failed > 0) text += fmt::format(", {} did not", grouped(requests.failed));
  if (requests.warm_up > 0) {
    text += fmt::format("; {} to warm up excluded", grouped(requests.warm_up));
  }
  return text + ".";
}

}  // namespace

std::string requests_sentence(const Profile& profile) {
  if (!profile.requests) return {};
  const Requests& requests = *profile.requests;
  const auto figures = figure_times(requests);
  std::vector<std::string> times;
  for (const RequestFigureTimes& each : figures | std::views::take(2)) {
    if (each.headline().p50) times.push_back(median_and_tail(each));
  }
  if (times.empty()) return {};
  const auto& goodput = headline_load(requests).goodput;
  return fmt::format(
      "The client's median {} over {}{}{}.", enumeration(times),
      counted(headline_completed(requests), "completed request"), how_recorded(requests),
      goodput ? fmt::format("; goodput is {} requests per second", per_second(goodput)) : "");
}

std::string load_sentence(const Profile& profile) {
  if (!profile.requests) return {};
  const auto& verdict = headline_load(*profile.requests).verdict;
  if (verdict != LoadVerdict::over_saturated) return {};
  return fmt::format("The load is {}.", in_words(*verdict));
}

bool has_only_requests(const Profile& profile) {
  const auto& captures = profile.context.captures;
  return !captures.empty() && std::ranges::all_of(captures, [](const Capture& capture) {
    return capture.format == CaptureFormat::requests;
  });
}

std::string slow_requests_sentence(const Profile& profile) {
  if (!profile.requests) return {};
  const Requests& requests = *profile.requests;
  if (const RequestTail* tail = headline_tail(requests)) {
    return fmt::format("Largest cause of slow {}s: {}.",
                       tail->figure == RequestFigure::itl ? "token" : "first token",
                       tail_words(*tail));
  }
  const JoinState state = requests.join.state;
  if (state == JoinState::joined || state == JoinState::no_steps) return {};
  return fmt::format("What requests waited for is unknown: {}", clause(in_words(state)));
}

void add_section(Topic<"requests"> /*topic*/, const Profile& profile, Document& document) {
  if (!profile.requests) {
    if (!is_serving(profile)) return;
    document.begin(2, "Requests", true,
                   "Not available: the input contains no requests of a client. `llmprof load URL` "
                   "records them; analyze its file and the capture together to see what each "
                   "request waited for.");
    return;
  }
  const Requests& requests = *profile.requests;
  document.heading(2, "Requests");
  document.paragraph(counts_sentence(requests));
  document.paragraph(slow_requests_sentence(profile));
  add_figures(requests, document);
  add_recording_cost(requests, document);
  add_load(requests, document);
  add_join(requests.join, document);
  add_parts(requests, document);
  add_tail(requests, document);
  add_delays(requests, document);
  add_gaps(requests, document);
  add_sizes(requests, document);
  add_stated(requests, document);
}

}  // namespace llmprof::report
