#include "load/sse.h"

#include <gtest/gtest.h>

#include <vector>

namespace llmprof::load {
namespace {

using Events = std::vector<std::pair<std::string, std::string>>;

Events events_in(const std::vector<std::string_view>& pieces) {
  Events events;
  SseParser parser(
      [&](std::string_view event, std::string_view data) { events.emplace_back(event, data); });
  for (const std::string_view piece : pieces) EXPECT_TRUE(parser.feed(piece));
  return events;
}

// Every form of line end, comments, fields without a space, without a value, unknown ones, data of
// several lines, an event without data, and one that the end cuts off.
constexpr std::string_view kStream =
    "\xEF\xBB\xBF"
    "data: one\n\n"
    ": a comment\r\n"
    "data:two\r\n"
    "data: lines\r\n\r\n"
    "event: error\rdata: {\"a\": 1}\r\r"
    "event: nothing\n\n"
    "id: 7\nretry: 10\nunknown: x\ndata\ndata:  padded\n\n"
    "\n\n\r\n"
    "data: [DONE]\n\n"
    "data: cut";

const Events& expected() {
  static const Events kEvents = {
      {"", "one"}, {"", "two\nlines"}, {"error", "{\"a\": 1}"}, {"", "\n padded"}, {"", "[DONE]"}};
  return kEvents;
}

TEST(SseParser, ReadsEveryForm) { EXPECT_EQ(events_in({kStream}), expected()); }

TEST(SseParser, ReadsTheSameHoweverItIsSplit) {
  for (size_t first = 0; first <= kStream.size(); ++first) {
    ASSERT_EQ(events_in({kStream.substr(0, first), kStream.substr(first)}), expected()) << first;
    for (size_t second = first; second <= kStream.size(); ++second) {
      ASSERT_EQ(events_in({kStream.substr(0, first), kStream.substr(first, second - first),
                           kStream.substr(second)}),
                expected())
          << first << " " << second;
    }
  }
  std::vector<std::string_view> bytes;
  for (size_t at = 0; at < kStream.size(); ++at) bytes.push_back(kStream.substr(at, 1));
  EXPECT_EQ(events_in(bytes), expected());
}

TEST(SseParser, StopsAtALineWithoutEnd) {
  size_t events = 0;
  SseParser parser([&](std::string_view, std::string_view) { ++events; });
  const std::string piece(1U << 20U, 'x');
  size_t fed = 0;
  while (parser.feed(piece) && fed < 100) ++fed;
  EXPECT_EQ(fed, SseParser::kMostBytes / piece.size());
  EXPECT_FALSE(parser.feed("\n\ndata: x\n\n"));
  EXPECT_EQ(events, 0U);
}

TEST(SseParser, StopsAtAnEventWithoutEnd) {
  SseParser parser([](std::string_view, std::string_view) {});
  const std::string line = "data: " + std::string(1U << 20U, 'x') + "\n";
  size_t fed = 0;
  while (parser.feed(line) && fed < 100) ++fed;
  EXPECT_LE(fed, 16U);
}

}  // namespace
}  // namespace llmprof::load
