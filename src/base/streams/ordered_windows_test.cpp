#include "base/streams/ordered_windows.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>

namespace llmprof {
namespace {

// Records are lines.
size_t whole_lines(std::string_view buffer, size_t) {
  const size_t end = buffer.rfind('\n');
  return end == std::string_view::npos ? 0 : end + 1;
}

struct Slot {
  std::string text;
  int delay_ms = 0;  // earlier windows may finish later

  void parse(std::span<char> window) {
    if (delay_ms > 0) std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    text.assign(window.data(), window.size());
    // The parser may overwrite the margins.
    std::fill_n(window.data() - kWindowMargin, kWindowMargin, '!');
    std::fill_n(window.data() + window.size(), kWindowMargin, '!');
  }
};

std::string lines(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

std::vector<std::string> windows_of(std::string_view text, size_t window_bytes, size_t slot_count) {
  const auto stream = stream_over(text);
  std::vector<Slot> slots(slot_count);
  std::vector<std::string> windows;
  const auto done = parse_in_windows(*stream, window_bytes, whole_lines, slots, [&](Slot& slot) {
    windows.push_back(slot.text);
    return true;
  });
  EXPECT_TRUE(done.has_value());
  return windows;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += part;
  return text;
}

TEST(OrderedWindows, KeepsTheOrderWhateverTheSizes) {
  const std::string text = lines(1000);
  for (const size_t window : {size_t{1}, size_t{9}, size_t{64}, size_t{1000}, size_t{1U << 20U}}) {
    for (const size_t slots : {size_t{1}, size_t{2}, size_t{3}, size_t{8}}) {
      const auto windows = windows_of(text, window, slots);
      EXPECT_EQ(joined(windows), text) << window << " bytes, " << slots << " slots";
      for (const std::string& part : windows) EXPECT_TRUE(part.empty() || part.back() == '\n');
    }
  }
}

TEST(OrderedWindows, KeepsTheOrderWhenTheFirstIsTheSlowest) {
  const std::string text = lines(200);
  const auto stream = stream_over(text);
  std::vector<Slot> slots(4);
  slots[0].delay_ms = 20;
  slots[2].delay_ms = 5;
  std::string merged;
  ASSERT_TRUE(parse_in_windows(*stream, 256, whole_lines, slots, [&](Slot& slot) {
    merged += slot.text;
    return true;
  }));
  EXPECT_EQ(merged, text);
}

TEST(OrderedWindows, ARecordLongerThanAWindowStaysWhole) {
  const std::string text = "a\n" + std::string(10000, 'x') + "\nb\n";
  const auto windows = windows_of(text, 16, 2);
  EXPECT_EQ(joined(windows), text);
  bool whole = false;
  for (const std::string& part : windows) {
    whole = whole || part.find(std::string(10000, 'x') + "\n") != std::string::npos;
  }
  EXPECT_TRUE(whole);
}

TEST(OrderedWindows, TheEndOfTheContentEndsTheLastRecord) {
  EXPECT_EQ(joined(windows_of("a\nb\nunfinished", 4, 2)), "a\nb\nunfinished");
  EXPECT_EQ(windows_of("no record end at all", 4, 2).back(), "no record end at all");
}

TEST(OrderedWindows, AnEmptyStreamIsOneEmptyWindow) {
  EXPECT_EQ(windows_of("", 64, 3), (std::vector<std::string>{""}));
}

TEST(OrderedWindows, MergeStopsEarly) {
  const std::string text = lines(1000);
  const auto stream = stream_over(text);
  std::vector<Slot> slots(3);
  size_t merged = 0;
  ASSERT_TRUE(parse_in_windows(*stream, 64, whole_lines, slots, [&](Slot&) {
    ++merged;
    return merged < 5;
  }));
  EXPECT_EQ(merged, 5U);
}

TEST(OrderedWindows, MergeStopsAmongTheLastWindows) {
  const std::string text = lines(20);  // fewer windows than slots: all are merged after the loop
  const auto stream = stream_over(text);
  std::vector<Slot> slots(8);
  size_t merged = 0;
  ASSERT_TRUE(parse_in_windows(*stream, 64, whole_lines, slots, [&](Slot&) {
    ++merged;
    return false;
  }));
  EXPECT_EQ(merged, 1U);
}

class FailingStream final : public ByteStream {
 public:
  explicit FailingStream(std::string text) : text_(std::move(text)) {}
  Result<size_t> read(std::span<char> buffer) override {
    if (at_ + buffer.size() > text_.size()) return fail_input("disk: read error");
    std::copy_n(text_.data() + at_, buffer.size(), buffer.data());
    at_ += buffer.size();
    return buffer.size();
  }

 private:
  std::string text_;
  size_t at_ = 0;
};

TEST(OrderedWindows, AReadErrorIsReturned) {
  FailingStream stream(lines(200));
  std::vector<Slot> slots(3);
  slots[1].delay_ms = 10;  // still working when the error occurs
  std::string merged;
  const auto done = parse_in_windows(stream, 64, whole_lines, slots, [&](Slot& slot) {
    merged += slot.text;
    return true;
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "disk: read error");
  EXPECT_TRUE(lines(200).starts_with(merged));
}

TEST(OrderedWindows, EverySlotIsUsedAgain) {
  struct Counting {
    std::atomic<int>* most = nullptr;
    int parsed = 0;
    void parse(std::span<char>) {
      ++parsed;
      int seen = most->load();
      while (seen < parsed && !most->compare_exchange_weak(seen, parsed)) {
      }
    }
  };
  std::atomic<int> most = 0;
  const std::string text = lines(100);
  const auto stream = stream_over(text);
  std::vector<Counting> slots(2, Counting{&most});
  int merges = 0;
  ASSERT_TRUE(parse_in_windows(*stream, 64, whole_lines, slots, [&](Counting&) {
    ++merges;
    return true;
  }));
  EXPECT_GT(most.load(), 1);
  EXPECT_EQ(slots[0].parsed + slots[1].parsed, merges);
}

}  // namespace
}  // namespace llmprof
