#include "analysis/stages/step_batch.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/text.h"

namespace llmprof::analysis {
namespace {

std::optional<uint64_t> number(std::string_view text) {
  const auto value = parse_int(text);
  if (!value || *value < 0) return std::nullopt;
  return static_cast<uint64_t>(*value);
}

// "7", "[7, 8, 9]"; empty for a truncated list: "[7, 8, 9]...+3".
std::vector<uint64_t> numbers(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  std::vector<uint64_t> found;
  for (const std::string_view item : split(text, ',')) {
    const auto value = number(trim(item));
    if (!value) return {};
    found.push_back(*value);
  }
  return found;
}

// Calls `visit(key, value)` for each pair; a value in brackets may contain spaces.
template <class Visit>
void each_pair(std::string_view text, const Visit& visit) {
  for (size_t equals = text.find('='); equals != std::string_view::npos; equals = text.find('=')) {
    std::string_view key = text.substr(0, equals);
    key.remove_prefix(key.find_last_of(" ,") + 1);  // npos + 1 is 0
    text.remove_prefix(equals + 1);
    size_t end = text.starts_with('[') ? std::min(text.find(']'), text.size()) : 0;
    end = std::min(text.find_first_of(" ,", end), text.size());
    visit(key, text.substr(0, end));
    text.remove_prefix(end);
  }
}

using Sum = std::optional<uint64_t> PhaseBatch::*;

// By the end of their names in annotations.
constexpr std::array<std::pair<std::string_view, Sum>, 5> kSums = {
    {{"", &PhaseBatch::sequences},
     {"_tokens", &PhaseBatch::tokens},
     {"_sk", &PhaseBatch::keys},
     {"_sqsq", &PhaseBatch::squares},
     {"_sqsk", &PhaseBatch::products}}};
constexpr PhaseBatch kNoSequences{0, 0, 0, 0, 0};

// Uses lengths given per sequence. The number of new tokens is known for a single sequence, for
// sequences that start here (all their tokens are new), and for sequences with one new token each.
void use_lengths(const std::vector<uint64_t>& lengths, StepValues& values) {
  if (!values.batch || !values.tokens || lengths.size() != *values.batch) return;
  uint64_t keys = 0;
  uint64_t squares = 0;
  for (const uint64_t length : lengths) {
    keys += length;
    squares += length * length;
  }
  const uint64_t tokens = *values.tokens;
  PhaseBatch sums{{}, {}, keys, {}, {}};
  if (lengths.size() == 1) {
    sums.squares = tokens * tokens;
    sums.products = tokens * keys;
  } else if (keys == tokens) {
    sums.squares = squares;
    sums.products = squares;
  } else if (tokens == lengths.size()) {
    sums.squares = tokens;
    sums.products = keys;
  } else {
    return;
  }
  if (!values.all.keys && !values.all.squares && !values.all.products) values.all = sums;
}

std::optional<uint64_t> sum(std::optional<uint64_t> a, std::optional<uint64_t> b) {
  if (!a || !b) return std::nullopt;
  return *a + *b;
}

void take_where_missing(std::optional<uint64_t>& value, std::optional<uint64_t> other) {
  if (!value) value = other;
}

}  // namespace

std::optional<llm::SequenceSums> PhaseBatch::sums() const {
  if (sequences == 0U && tokens.value_or(0) == 0) return llm::SequenceSums();
  if (!sequences || !tokens || !keys || !squares || !products) return std::nullopt;
  const llm::SequenceSums sums{*sequences, *tokens, *keys, *squares, *products};
  if (!llm::are_possible(sums)) return std::nullopt;
  return sums;
}

std::optional<llm::MixedPass> StepBatch::sums() const {
  const auto of_prefill = together.keys ? together.sums() : prefill.sums();
  const auto of_decode = together.keys ? llm::SequenceSums() : decode.sums();
  if (!of_prefill || !of_decode) return std::nullopt;
  const llm::MixedPass pass{*of_prefill, *of_decode};
  if (pass.tokens() == 0) return std::nullopt;
  return pass;
}

std::optional<uint64_t> StepBatch::sequences() const {
  return sum(prefill.sequences, decode.sequences);
}

std::optional<uint64_t> StepBatch::tokens() const { return sum(prefill.tokens, decode.tokens); }

std::optional<StepKind> kind_of(const StepBatch& phases, std::optional<StepKind> called) {
  const auto& prefill = phases.prefill.sequences;
  const auto& decode = phases.decode.sequences;
  // One phase's count alone does not determine the other.
  if (!prefill && !decode) return called;
  if (called && (!prefill || !decode)) return called;
  if (prefill.value_or(0) == 0 && decode.value_or(0) == 0) return std::nullopt;
  if (prefill.value_or(0) == 0) return StepKind::decode;
  return decode.value_or(0) == 0 ? StepKind::prefill : StepKind::mixed;
}

StepBatch completed(const StepValues& values, StepKind kind, bool speculative) {
  StepBatch phases = values.phases;
  PhaseBatch whole = values.all;
  take_where_missing(whole.sequences, values.batch);
  take_where_missing(whole.tokens, values.tokens);
  if (kind == StepKind::mixed) {
    if (whole.keys) phases.together = whole;
  } else {
    const bool prefill = kind == StepKind::prefill;
    PhaseBatch& only = prefill ? phases.prefill : phases.decode;
    (prefill ? phases.decode : phases.prefill) = kNoSequences;
    for (const auto& [name, sum] : kSums) take_where_missing(only.*sum, whole.*sum);
  }
  for (PhaseBatch* phase : {&phases.prefill, &phases.decode}) {
    if (phase->sequences == 0U) *phase = kNoSequences;
  }
  PhaseBatch& decode = phases.decode;
  const bool one_each = decode.squares ? decode.squares == decode.sequences : !speculative;
  if (one_each) take_where_missing(decode.tokens, decode.sequences);
  return phases;
}

std::optional<uint64_t>* StepValues::find(std::string_view name) {
  if (name == "batch") return &batch;
  if (name == "tokens") return &tokens;
  const std::pair<std::string_view, PhaseBatch*> of_phases[] = {
      {"context", &phases.prefill}, {"generation", &phases.decode}, {"all", &all}};
  for (const auto& [phase, sums] : of_phases) {
    if (!name.starts_with(phase)) continue;
    const auto* known = std::ranges::find(kSums, name.substr(phase.size()),
                                          &std::pair<std::string_view, Sum>::first);
    if (known != kSums.end()) return &(sums->*known->second);
  }
  return nullptr;
}

StepValues read_step_values(std::string_view text, const StepKeys& keys) {
  StepValues values;
  std::vector<uint64_t> lengths;
  each_pair(text, [&](std::string_view key, std::string_view value) {
    const auto own = keys.find(key);
    const std::string_view name = own == keys.end() ? key : own->second;
    // Of "117/128", padded for a graph, the first.
    const auto first = number(value.substr(0, value.find('/')));
    if (name == "lengths") {
      lengths = numbers(value);
    } else if (name == "drafted") {
      values.speculative = first.value_or(0) > 0;
    } else if (std::optional<uint64_t>* place = values.find(name)) {
      *place = first;
    }
  });
  use_lengths(lengths, values);
  return values;
}

}  // namespace llmprof::analysis
