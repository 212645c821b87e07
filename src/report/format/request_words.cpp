#include "report/format/request_words.h"

#include <fmt/format.h>

#include <algorithm>

namespace llmprof::report {
namespace {

struct RequestPartRow {
  RequestPart value;
  std::string_view shown;
  std::string_view plain;
  Color color;
};

// Own work is blue and green; what others or the engine add has warm colors.
constexpr auto kRequestParts = [] {
  using enum RequestPart;
  return profile::one_per_value<RequestPart, RequestPartRow>({
      {queue, "queue", "waiting in the server's queue", {"#8f98a6", "#6c7480"}},
      {own_prefill, "own prefill", "reading its own prompt", {"#0072b2", "#3698f5"}},
      {others_prefill, "prefill of others", "prompts of other requests", {"#d55e00", "#f0813a"}},
      {own_decode, "own decode", "making its own tokens", {"#009e73", "#4fc9a0"}},
      {others_decode, "decode of others", "tokens of other requests", {"#b38e0a", "#d9dd2b"}},
      {out_of_batch, "out of the batch", "being preempted", {"#8a4fd0", "#8f7fd0"}},
      {host, "host", "the engine's own CPU time", {"#b0428c", "#e6a4e9"}},
      {graph_miss,
       "graph miss or padding",
       "missing or padded CUDA graphs",
       {"#6b4e0c", "#b07a10"}},
      {lowered_clocks, "lowered clocks", "clocks lowered by heat or power", {"#e4576b", "#fce3c3"}},
      {communication, "communication", "communication between GPUs", {"#8e1f5c", "#d0378f"}},
      {delivery, "delivery", "delivery to the client", {"#2f9bdc", "#b8e4ff"}},
      {not_recorded, "not recorded", "time that was not recorded", {"#eceff2", "#2a2f36"}},
  });
}();

}  // namespace

RequestPartLook look_of(RequestPart part) {
  const auto known = is_known(part) ? part : RequestPart::not_recorded;
  const auto place = static_cast<size_t>(known);
  const RequestPartRow& row = kRequestParts.at(place);
  if (!is_known(part)) return {to_string(part), to_string(part), {}, row.color};
  return {row.shown, row.plain, sentence(profile::kWords<RequestPart>.at(place).meaning),
          row.color};
}

std::string_view definition_of(RequestFigure figure) {
  using enum RequestFigure;
  static constexpr auto kDefinitions = profile::texts<RequestFigure>({
      {ttft, "from sent to the first chunk with tokens, per request"},
      {itl, "between chunks with tokens, over the tokens of the later one, per token"},
      {tpot, "from the first to the last token, over the tokens after the first, per request"},
      {e2e, "from sent to the end, per request"},
  });
  return kDefinitions[figure];
}

std::string_view value_word(RequestFigure figure) {
  return figure == RequestFigure::itl ? "token" : "request";
}

std::array<RequestFigureTimes, 4> figure_times(const Requests& requests) {
  using enum RequestFigure;
  const UnrecordedRequests* alone = requests.unrecorded ? &*requests.unrecorded : nullptr;
  return {{{ttft, &requests.ttft, alone ? &alone->ttft : nullptr},
           {itl, &requests.itl, alone ? &alone->itl : nullptr},
           {tpot, &requests.tpot, alone ? &alone->tpot : nullptr},
           {e2e, &requests.e2e, alone ? &alone->e2e : nullptr}}};
}

const RequestLoad& headline_load(const Requests& requests) {
  return requests.unrecorded ? requests.unrecorded->load : requests.load;
}

uint64_t headline_completed(const Requests& requests) {
  return requests.unrecorded ? requests.unrecorded->completed : requests.completed;
}

Figure figure_ms(RequestFigure figure, Time time) {
  const bool of_token = figure == RequestFigure::itl || figure == RequestFigure::tpot;
  return of_token ? fine_ms(time) : ms(time);
}

std::string how_recorded(const Requests& requests) {
  if (requests.unrecorded) return ", without a recorder";
  return requests.join.state == JoinState::no_steps ? "" : ", while recording";
}

std::string median_and_tail(const RequestFigureTimes& times) {
  const RequestTimes& shown = times.headline();
  return fmt::format("{} is {} ms (p99 {} ms)", in_words(times.figure),
                     figure_ms(times.figure, shown.p50), figure_ms(times.figure, shown.p99));
}

std::string tail_words(const RequestTail& tail) {
  constexpr size_t kNamed = 2;
  std::vector<std::string> parts;
  for (const TailPart& part : tail.parts) {
    if (part.more.value <= 0 || parts.size() == kNamed) break;
    parts.push_back(fmt::format("{} ({} ms more)", look_of(part.part).shown, ms(part.more)));
  }
  if (parts.empty()) return {};
  return fmt::format(
      "{} in {} of {} ms and more ({}){}", enumeration(parts), in_words(tail.figure),
      figure_ms(tail.figure, tail.above), counted(tail.count, value_word(tail.figure)),
      tail.most_delayed_by ? fmt::format("; request {} delays them most", *tail.most_delayed_by)
                           : "");
}

const RequestTail* headline_tail(const Requests& requests) {
  for (const RequestFigure figure : {RequestFigure::itl, RequestFigure::ttft}) {
    const RequestTail* found = nullptr;
    for (const RequestTail& tail : requests.tail) {
      if (tail.figure != figure || tail_words(tail).empty()) continue;
      if (found == nullptr || tail.quantile > found->quantile) found = &tail;
    }
    if (found != nullptr) return found;
  }
  return nullptr;
}

}  // namespace llmprof::report
