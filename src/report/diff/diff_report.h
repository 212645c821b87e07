#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/compare.h"
#include "compare/model/diff.h"
#include "report/document.h"

namespace llmprof::report {

// "eager against graph": the last parts of the sides' paths that distinguish them.
std::string diff_title(const compare::Diff& diff);

// "Verdict: pass. Every gate rule holds."
std::string verdict_words(const compare::Diff& diff);

// diff.md: the complete comparison.
Document diff_report(const compare::Diff& diff);

// What report.html shows without JavaScript: everything except the least important kernels.
Document diff_page_overview(const compare::Diff& diff);

// What the terminal shows.
Document diff_overview(const compare::Diff& diff);

// Markdown for a pull request. Forges truncate long comments: rows are dropped until it has fewer
// than `most` characters.
inline constexpr size_t kLongestSummary = 60'000;
std::string diff_summary(const compare::Diff& diff, size_t most = kLongestSummary);

// How much the runs of `llmprof run --repeat` differ: a table, and the smallest change they could
// show.
Document spread_report(std::span<const compare::Spread> spreads, bool on_cpu);

// JUnit XML: a test case per gate rule and stage, and one for comparability.
std::string diff_junit(const compare::Diff& diff);

// ---- words for a comparison: comparison_words.cpp

inline bool is_of_cpu(const compare::Diff& diff) { return diff.device_kind == DeviceKind::cpu; }
inline Milliseconds as_ms(WholeNanoseconds time) { return profile::to_milliseconds(time.value); }

// Whether reports have a row for it. A stage has rows of one unit, steps or instances, and its wall
// time is listed once: without profiling if that is known. diff.json has all.
bool is_shown(const compare::Diff& diff, const compare::Comparison& comparison);

// The most important comparison of a stage: its wall time. Null if there is none.
const compare::Comparison* headline(const compare::Diff& diff, std::string_view stage);

// A value with the digits of its unit: "4.5749", "74.7 %".
Figure value_figure(const compare::Comparison& comparison, const std::optional<double>& value);

// "worse", "cannot tell": for narrow columns.
std::string short_answer(const compare::Comparison& comparison);
// The answer; if there is none, what would give one: "cannot tell: ...".
std::string answer_words(const compare::Comparison& comparison, Share threshold);

// Why a quantity has no answer, and how many runs would give one: a sentence without its full stop.
std::string why_not_words(const compare::Comparison& comparison);

// "prefill of others".
std::string_view part_words(profile::RequestPart part);

// "wall time per step", "gemm kernels".
std::string quantity_words(const compare::Comparison& comparison, bool on_cpu);

// ---- requests of a client: request_diff_words.cpp

// What happened to them, as a part of a sentence; empty without requests on both sides.
std::string requests_clause(const compare::Diff& diff);
// A paragraph: what changed, by how much, and on which part of their time.
std::string requests_words(const compare::Diff& diff);
// Tables of the parts of their time.
void add_requests(const compare::Diff& diff, Document& document);

// ---- memory: memory_diff_words.cpp

// "GPU memory used at the peak", "KV cache at the peak"; empty for other quantities.
std::string memory_words(compare::ComparedQuantity quantity);
// Why a rule on memory has no figures: a sentence without its full stop.
std::string no_memory_words(const compare::GateResult& gate, const compare::Diff& diff);
// "reserved, highest".
std::string_view pytorch_words(compare::PytorchMemory figure);
// What a side lacks that the other has: sentences.
std::vector<std::string> missing_memory(const compare::Diff& diff);
// What grew on each GPU at its peak, and PyTorch's peaks: sentences.
std::vector<std::string> grown_words(const compare::MemoryDiff& memory);
// "GPU memory at the peak changed: +268.44 MB on cuda:0 (+5.91 %)."; empty if it did not.
std::string memory_sentence(const compare::MemoryDiff& memory);
// The section: totals by moment, and the rows that changed.
void add_memory(const compare::Diff& diff, size_t rows, Document& document);

// ---- word_diff

// "twice as slow", "6.12 % faster": a relative change of a time.
std::string speed_words(double relative);

// What happened, in one sentence: "decode is twice as slow; prefill is unchanged." Damage and
// reasons why the sides are not comparable come first.
std::string summary_words(const compare::Diff& diff);

// The cause of a part of a difference: "fusing norm (3 kernels became 1)".
std::string cause_words(const compare::Cause& cause);

// Fills in the sentences that are part of diff.json's contract, before it is written.
void word_diff(compare::Diff& diff);

}  // namespace llmprof::report
