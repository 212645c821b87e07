#include <gtest/gtest.h>

#include "report/terminal/text_layout.h"

namespace llmprof::report {
namespace {

constexpr std::string_view kMicro = "\xC2\xB5";           // µ
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";    // …
constexpr std::string_view kWideMiddle = "\xE4\xB8\xAD";  // 中
constexpr std::string_view kAcute = "\xCC\x81";           // combining

using Lines = std::vector<std::string>;

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("plain"), 5U);
  EXPECT_EQ(display_width("\xE0\xA4\x95\xE0\xA5\x8D"), 1U);  // Devanagari with a virama
  EXPECT_EQ(display_width("a\xFFz"), 3U);                    // not UTF-8
  EXPECT_EQ(display_width("1.5 \xC2\xB1 0.2 \xC2\xB5s\xE2\x80\xA6"), 13U);
  EXPECT_EQ(display_width(std::string(kWideMiddle) + "a"), 3U);
  EXPECT_EQ(display_width("\xF0\x9F\x98\x80"), 2U);         // an emoji
  EXPECT_EQ(display_width("e" + std::string(kAcute)), 1U);  // a letter and its accent
}

TEST(DisplayWidth, CutsBetweenCharacters) {
  const std::string text = std::string(kWideMiddle) + std::string(kWideMiddle) + "ab";
  EXPECT_EQ(front_of(text, 1), "");
  EXPECT_EQ(front_of(text, 3), kWideMiddle);
  EXPECT_EQ(front_of(text, 99), text);
  EXPECT_EQ(front_of("e" + std::string(kAcute) + "x", 1), "e" + std::string(kAcute));
}

TEST(DisplayWidth, NamesThatDifferStayDifferent) {
  const Lines names = {"GEMM 256x8 sm90 (nvjet bf16, 4x1v, TNT)",
                       "GEMM 256x8 sm90 (nvjet bf16, 2x1v, TNT)", "mul (bf16)",
                       "GEMM 256x8 sm90 (nvjet bf16, 4x1v, TNT)"};
  for (size_t width = 6; width < 45; ++width) {
    const Lines shown = shortened_distinctly(names, width);
    EXPECT_NE(shown[0], shown[1]) << width;
    EXPECT_EQ(shown[0], shown[3]) << width;
    for (const std::string& name : shown) EXPECT_LE(display_width(name), width) << name;
  }
  EXPECT_EQ(shortened_distinctly(names, 200), names);
  const Lines middle = {std::string(20, 'a') + "1" + std::string(20, 'b'),
                        std::string(20, 'a') + "2" + std::string(20, 'b')};
  const Lines shown = shortened_distinctly(middle, 12);
  EXPECT_TRUE(shown[0].ends_with("~1") && shown[1].ends_with("~2")) << shown[0];
}

TEST(DisplayWidth, ShortensInTheMiddleAndKeepsBothEnds) {
  EXPECT_EQ(shortened_in_the_middle("void kernel<float>", 18), "void kernel<float>");
  const std::string shorter = shortened_in_the_middle("void kernel<float, 128>(int)", 16);
  EXPECT_EQ(shorter, "void kerne" + std::string(kEllipsis) + "(int)");
  EXPECT_EQ(display_width(shorter), 16U);
  EXPECT_EQ(shortened_in_the_middle("abcdef", 1), kEllipsis);
  EXPECT_EQ(shortened_in_the_middle("abcdef", 0), "");
  // Wide characters leave a column free rather than being cut in half.
  for (size_t width = 1; width < 12; ++width) {
    std::string wide;
    for (int i = 0; i < 6; ++i) wide += kWideMiddle;
    EXPECT_LE(display_width(shortened_in_the_middle(wide, width)), width);
  }
}

TEST(Wrap, BreaksAtBlanksAlone) {
  EXPECT_EQ(wrapped("one two three", 0), Lines({"one two three"}));
  EXPECT_EQ(wrapped("one two three", 7), Lines({"one two", "three"}));
  EXPECT_EQ(wrapped("one two three", 8), Lines({"one two", "three"}));
  EXPECT_EQ(wrapped("see /a/very/long/path here", 10), Lines({"see", "/a/very/long/path", "here"}));
  EXPECT_EQ(wrapped("  indented text", 10), Lines({"  indented", "text"}));
  EXPECT_EQ(wrapped("", 10), Lines({""}));
  EXPECT_EQ(wrapped(std::string(kMicro) + "s " + std::string(kMicro) + "s", 5).size(), 1U);
}

TEST(Wrap, KeepsCommandsTogetherAndUnitsWithNumbers) {
  EXPECT_EQ(wrapped("then run `llmprof doctor` again", 20),
            Lines({"then run", "`llmprof doctor`", "again"}));
  EXPECT_EQ(wrapped("of the wall time 86.7 %, mostly", 22),
            Lines({"of the wall time", "86.7 %, mostly"}));
  EXPECT_EQ(wrapped("a span of 1.525237 ms, on", 20), Lines({"a span of", "1.525237 ms, on"}));
  EXPECT_EQ(wrapped("a number of 12 steps and", 14), Lines({"a number of 12", "steps and"}));
  // A quotation that does not fit in a line is broken like other text.
  EXPECT_EQ(wrapped("`llmprof run model=x`", 12), Lines({"`llmprof run", "model=x`"}));
}

TEST(Wrap, IndentsTheLinesThatFollow) {
  EXPECT_EQ(wrapped_behind("  - ", "    ", "one two three", 12), "  - one two\n    three");
  EXPECT_EQ(wrapped_behind("WARNING: ", "  ", "one two three four", 16),
            "WARNING: one two\n  three four");
  EXPECT_EQ(wrapped_behind("a: ", "   ", "first\nsecond", 0), "a: first\n   second");
}

TEST(Wrap, KnowsTheLongestPiece) {
  EXPECT_EQ(longest_piece("a kernel of 99.9 %, wide"), 7U);
  EXPECT_EQ(longest_piece(""), 0U);
}

std::vector<size_t> shown_of(const FittedTable& table) {
  std::vector<size_t> indices;
  for (const FittedColumn& column : table.shown) indices.push_back(column.index);
  return indices;
}

TEST(FitColumns, ShrinksBeforeItLeavesOut) {
  const std::vector<ColumnNeed> needs = {{8, 8, 1}, {6, 6, 0}, {40, 20, 1}};
  const FittedTable all = fit_columns(needs, 2, 60);
  EXPECT_EQ(shown_of(all), (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(all.shown[2].width, 40U);
  const FittedTable shrunk = fit_columns(needs, 2, 50);
  EXPECT_EQ(shown_of(shrunk), (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(shrunk.shown[2].width, 30U);
  const FittedTable fewer = fit_columns(needs, 2, 38);
  EXPECT_EQ(shown_of(fewer), (std::vector<size_t>{0, 2}));
  EXPECT_EQ(fewer.shown[1].width, 26U);
  EXPECT_EQ(fewer.left_out, (std::vector<size_t>{1}));
}

TEST(FitColumns, LeavesOutTheLeastImportantFirstAndOneStays) {
  const std::vector<ColumnNeed> needs = {{10, 10, -1}, {10, 10, -2}, {10, 10, 0}, {10, 10, -2}};
  EXPECT_EQ(fit_columns(needs, 2, 36).left_out, (std::vector<size_t>{3}));
  EXPECT_EQ(fit_columns(needs, 2, 24).left_out, (std::vector<size_t>{1, 3}));
  EXPECT_EQ(fit_columns(needs, 2, 12).left_out, (std::vector<size_t>{0, 1, 3}));
  EXPECT_EQ(shown_of(fit_columns(needs, 2, 3)), (std::vector<size_t>{2}));
  EXPECT_EQ(fit_columns(needs, 2, 0).left_out.size(), 0U);
  EXPECT_TRUE(fit_columns({}, 2, 50).shown.empty());
}

TEST(FitColumns, TakesBackWhatFitsBesideTheRest) {
  const std::vector<ColumnNeed> needs = {{10, 10, 1}, {5, 5, -1}, {40, 30, 0}};
  const FittedTable table = fit_columns(needs, 2, 40);
  EXPECT_EQ(shown_of(table), (std::vector<size_t>{0, 1}));
  EXPECT_EQ(table.left_out, (std::vector<size_t>{2}));
}

TEST(Tint, IsWrittenOnlyWhereColorsAre) {
  EXPECT_EQ(tinted("x", Tint::warning, {0, false}), "x");
  EXPECT_EQ(tinted("x", Tint::warning, {0, true}), "\x1B[1;33mx\x1B[0m");
  EXPECT_EQ(tinted("", Tint::warning, {0, true}), "");
}

}  // namespace
}  // namespace llmprof::report
