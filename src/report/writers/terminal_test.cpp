#include "report/writers/writers.h"

#include <gtest/gtest.h>

#include <sstream>

#include "report/terminal/text_layout.h"

namespace llmprof::report {
namespace {

Document kernel_table() {
  Table table;
  table.columns = {{"total_ms", Column::Kind::number, 1}, {"share", Column::Kind::number},
                   {"calls", Column::Kind::number, -2},   {"mean_ms", Column::Kind::number, -3},
                   {"class", Column::Kind::text, -1},     {"kernel", Column::Kind::code, 1}};
  table.rows = {
      {"10.000001", "60.0 %", "1,000", "0.010", "gemm",
       "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_128x128_nn>"},
      {"2.5", "15.0 %", "2", "1.25", "communication", "ncclDevKernel_AllReduce_Sum_bf16"}};
  Document document;
  document.add(std::move(table));
  return document;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void expect_within(const std::string& text, size_t width) {
  for (const std::string& line : lines_of(text)) {
    EXPECT_LE(display_width(line), width) << line;
  }
}

TEST(TerminalTable, FitsEveryWidth) {
  for (size_t width = kNarrowestTerminal; width <= kWidestTerminal; ++width) {
    const std::string text = to_terminal(kernel_table(), {width, false});
    expect_within(text, width);
    EXPECT_NE(text.find("10.000001"), std::string::npos) << width;
    EXPECT_NE(text.find("void cutlass"), std::string::npos) << width;
  }
}

TEST(TerminalTable, ShowsEverythingWhereThereIsRoom) {
  const std::string everything = to_terminal(kernel_table());
  EXPECT_EQ(to_terminal(kernel_table(), {200, false}), everything);
  EXPECT_NE(everything.find("s16816gemm_relu_128x128_nn>"), std::string::npos);
  EXPECT_EQ(everything.find("wider terminal"), std::string::npos);
}

TEST(TerminalTable, ShortensNamesThenLeavesColumnsOutAndNamesThem) {
  const std::string usual = to_terminal(kernel_table(), {80, false});
  EXPECT_NE(usual.find("\xE2\x80\xA6"), std::string::npos);
  EXPECT_EQ(usual.find("wider terminal"), std::string::npos) << usual;
  const std::string narrow = to_terminal(kernel_table(), {50, false});
  EXPECT_NE(narrow.find("A wider terminal shows: calls, mean_ms"), std::string::npos) << narrow;
  EXPECT_EQ(narrow.find("1,000"), std::string::npos);
}

TEST(TerminalTable, WrapsTextInItsCell) {
  Table table;
  table.columns = {{"stage"}, {"ms", Column::Kind::number}, {"largest parts"}};
  table.rows = {{"decode", "42.4", "idle: host between launches 97.8 %, launch-bound 1.6 %"},
                {"prefill", "7.1", "gemm"}};
  Document document;
  document.add(std::move(table));
  const std::string text = to_terminal(document, {50, false});
  EXPECT_EQ(text,
            "  stage      ms  largest parts\n"
            "  decode   42.4  idle: host between launches\n"
            "                 97.8 %, launch-bound 1.6 %\n"
            "  prefill   7.1  gemm\n");
}

TEST(TerminalText, IsWrappedWithHangingLines) {
  Document document;
  document.add(Heading{1, "Kernels"});
  document.add(Paragraph{"one two three four five six seven eight nine ten eleven"});
  document.add(Callout{Callout::Kind::warning,
                       "the capture lost events, and what it shows is less than what ran"});
  document.add(BulletList{{"a finding that is longer than one line of this narrow terminal"}});
  document.add(
      LinkList{{{"kernels.md", "every kernel, with its calls and its share of the time"}}});
  EXPECT_EQ(to_terminal(document, {50, false}),
            "Kernels\n\n"
            "one two three four five six seven eight nine ten\neleven\n\n"
            "WARNING: the capture lost events, and what it\n  shows is less than what ran\n\n"
            "  - a finding that is longer than one line of this\n    narrow terminal\n\n"
            "  - kernels.md: every kernel, with its calls and\n    its share of the time\n");
}

TEST(TerminalColor, RepeatsWhatTheWordsSay) {
  Document document;
  document.add(Heading{1, "Kernels"});
  document.add(Callout{Callout::Kind::warning, "lost"});
  document.add(Callout{Callout::Kind::note, "kept"});
  const std::string colored = to_terminal(document, {0, true});
  EXPECT_EQ(
      colored,
      "\x1B[1mKernels\x1B[0m\n\n\x1B[1;33mWARNING:\x1B[0m lost\n\n\x1B[1mnote:\x1B[0m kept\n");
  EXPECT_EQ(to_terminal(document), "Kernels\n\nWARNING: lost\n\nnote: kept\n");
}

}  // namespace
}  // namespace llmprof::report
