#include "readers/kineto/array_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace llmprof::readers {
namespace {

// The simplest way to find event ends: one character at a time.
struct NaiveScan {
  std::vector<uint64_t> ends;
  bool closed = false;
  uint64_t inside = 0;
};

NaiveScan scan_naively(std::string_view text) {
  NaiveScan result;
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (depth > 0 && c == '\\') {
      ++i;
      continue;
    }
    if (depth > 0 && c == '"') in_string = !in_string;
    if (!in_string && c == '{') ++depth;
    if (!in_string && depth > 0 && c == '}' && --depth == 0) result.ends.push_back(i + 1);
    if (depth == 0 && c == ']') {
      result.closed = true;
      result.inside = i;
      return result;
    }
  }
  result.inside = text.size();
  return result;
}

std::string random_text(std::mt19937& random, size_t length, std::string_view alphabet) {
  std::uniform_int_distribution<size_t> pick(0, alphabet.size() - 1);
  std::string text(length, ' ');
  for (char& c : text) c = alphabet[pick(random)];
  return text;
}

TEST(KinetoByteMasks, VectorsAgreeWithThePlainLoop) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const std::string text = random_text(random, kMaskedBytes, "\"\\{}[]|z~\x7F\xFB\xFD\xA2 a");
    ASSERT_EQ(byte_masks(text.data()), byte_masks_portable(text.data())) << text;
  }
}

TEST(KinetoEventScan, AgreesWithANaiveScanWhateverThePieces) {
  std::mt19937 random(2);
  // Mostly structure, so that the depth changes often; runs of backslashes cross block edges.
  for (size_t round = 0; round < 3000; ++round) {
    const std::string_view alphabet =
        round % 2 == 0 ? "{}\"\\ ,a" : "{{}}\"\"\\\\\\\\[]: ,abcdefgh";
    std::string text = random_text(random, 1 + round % 700, alphabet);
    const NaiveScan expected = scan_naively(text);
    KinetoEventScan scan;
    size_t at = 0;
    while (at < text.size()) {
      const size_t piece = std::uniform_int_distribution<size_t>(1, 200)(random);
      const size_t given = std::min(piece, text.size() - at);
      const size_t taken = scan.scan(std::string_view(text).substr(at, given));
      at += taken;
      if (taken < given) break;
      if (scan.closed()) break;
    }
    ASSERT_EQ(scan.closed(), expected.closed) << text;
    ASSERT_EQ(scan.position(), expected.inside) << text;
    ASSERT_EQ(scan.last_event_end(), expected.ends.empty() ? 0 : expected.ends.back()) << text;
  }
}

TEST(KinetoEventScan, StringsHideBraces) {
  const std::string text = R"({"name":"a}{\"}\\","b":{}},{"c":"]"} ] tail)";
  KinetoEventScan scan;
  EXPECT_EQ(scan.scan(text), text.find(" ] tail") + 1);
  EXPECT_TRUE(scan.closed());
  EXPECT_EQ(scan.last_event_end(), text.find(" ] tail"));
}

TEST(KinetoEventScan, GivesUpOnAnEventThatNeverEnds) {
  // A lost quote swaps the inside and outside of strings: nothing closes any more.
  const std::string broken = "{\"ph\":\"X\",\"name\":\"lost quote, ";
  const std::string filler(1UL << 20U, 'x');
  KinetoEventScan scan;
  scan.scan(broken);
  for (size_t i = 0; i < 9; ++i) scan.scan(filler);
  EXPECT_GT(scan.last_event_end(), kLargestEvent);
  const uint64_t before = scan.position();
  const std::string good = R"(garbage {"ph":"X","args":{}}, {"ph":)";
  scan.scan(good);
  EXPECT_EQ(scan.last_event_end(), before + good.find("}}") + 2);
}

TEST(KinetoEventScan, TextWithoutEventsIsCutAnywhere) {
  const std::string numbers(kLargestEvent + 10, '1');
  KinetoEventScan scan;
  scan.scan(numbers);
  EXPECT_EQ(scan.last_event_end(), numbers.size());
}

TEST(KinetoEventScan, FindsEventStarts) {
  const std::string text = R"(x {"name":1} { "ph" : "X"} {"ph"} {"args":{}})";
  const size_t first = find_event_start(text, 0);
  EXPECT_EQ(first, text.find("{ \"ph\""));
  EXPECT_EQ(find_event_start(text, first + 1), text.find("{\"args\""));
  EXPECT_EQ(find_event_start(text, text.find("{\"args\"") + 1), std::string_view::npos);
}

}  // namespace
}  // namespace llmprof::readers
