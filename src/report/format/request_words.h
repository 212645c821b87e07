#pragma once

#include <array>
#include <string>
#include <string_view>

#include "report/format/figures.h"
#include "report/format/words.h"

// Words and colors for requests of a client.
namespace llmprof::report {

// How a part of a request's time is shown. Its colors are those of kernel classes, but mean parts
// wherever requests are drawn. Gray means that the request waits.
struct RequestPartLook {
  std::string_view shown;  // "prefill of others"
  std::string_view plain;  // for people who do not run servers: "prompts of other requests"
  std::string why;         // a sentence
  Color color;
};
RequestPartLook look_of(RequestPart part);

// What a figure measures, and what has one value.
std::string_view definition_of(RequestFigure figure);
// The word for one value: "request", "token".
std::string_view value_word(RequestFigure figure);

// The figures of a profile's requests. `alone` is of the load without a recorder; null if there is
// none.
struct RequestFigureTimes {
  RequestFigure figure{};
  const RequestTimes* recorded = nullptr;
  const RequestTimes* alone = nullptr;

  // The values to show first.
  [[nodiscard]] const RequestTimes& headline() const { return alone ? *alone : *recorded; }
};
std::array<RequestFigureTimes, 4> figure_times(const Requests& requests);

// The load to show first: the unrecorded one if there is one.
const RequestLoad& headline_load(const Requests& requests);
uint64_t headline_completed(const Requests& requests);

// With the digits of the figure: those of a request, or those of a token.
Figure figure_ms(RequestFigure figure, Time time);
// Of an exact time.
inline Figure whole_ms(WholeNanoseconds time) { return ms(to_milliseconds(time.value)); }
// Requests per second: "11.94".
inline Figure per_second(std::optional<double> rate) {
  return {Figure::Of::request_rate, rate, {}};
}

// After figures of a client: ", without a recorder", ", while recording"; empty if unknown.
std::string how_recorded(const Requests& requests);

// "time to first token is 12.345 ms (p99 600.123 ms)": the median and the tail of the headline.
std::string median_and_tail(const RequestFigureTimes& times);

// "prefill of others (24.100 ms more) in inter-token latency of 31.204 ms and more (15 tokens);
// request 32 delays them most". Empty without parts that take longer.
std::string tail_words(const RequestTail& tail);
// The tail to show first: of the gaps between tokens, otherwise of the first token; null if none is
// explained.
const RequestTail* headline_tail(const Requests& requests);

}  // namespace llmprof::report
