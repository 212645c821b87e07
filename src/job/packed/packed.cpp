#include "job/packed/packed.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>
#include <utility>

#include "profile/json/described.h"

namespace llmprof::job {
namespace {

Nanoseconds difference(Nanoseconds to, Nanoseconds from) {
  return static_cast<Nanoseconds>(static_cast<uint64_t>(to) - static_cast<uint64_t>(from));
}

// Frees each column once it is packed.
template <class From, class To>
void pack(std::vector<From>&& from, To& to) {
  for (const From number : from) to.push_back(number);
  to.shrink();
  std::vector<From>().swap(from);
}

using profile::Quantity;
using profile::Step;
using profile::Unit;

// Place of `wanted`, which is added if it is new; only a few different texts occur.
uint64_t place_of(std::string_view wanted, std::vector<std::string>& among) {
  const auto found = std::ranges::find(among, wanted);
  const auto place = static_cast<uint64_t>(found - among.begin());
  if (found == among.end()) among.emplace_back(wanted);
  return place;
}

// The value that an integer encodes; times are in nanoseconds.
template <Unit U>
double of_whole(int64_t number) {
  if constexpr (U == Unit::milliseconds) return profile::to_milliseconds(number).value;
  return static_cast<double>(number);
}

template <Unit U>
int64_t nearest_whole(double value) {
  constexpr double kFar = 1e18;
  const double scaled = U == Unit::milliseconds ? value * kNanosecondsPerMillisecond : value;
  return std::abs(scaled) < kFar ? std::llround(scaled) : 0;
}

// Writes or reads the fields of steps, each as its difference from the same field of another step.
template <class Stream>
class StepCode {
 public:
  using Texts =
      std::conditional_t<Stream::kReads, const std::vector<std::string>, std::vector<std::string>>;
  StepCode(Stream& stream, Texts& texts) : stream_(stream), texts_(texts) {}

  void code(std::integral auto& number, std::integral auto like) {
    code_number(stream_, number, like);
  }
  void code(std::string& text, std::string_view /*like*/) {
    uint64_t place = 0;
    if constexpr (!Stream::kReads) place = place_of(text, texts_);
    code(place, 0);
    stream_.check(place < texts_.size());
    if (Stream::kReads && place < texts_.size()) text = texts_[place];
  }
  template <profile::Vocabulary Word>
  void code(Word& word, Word /*like*/) {
    std::string name(Stream::kReads ? "" : to_string(word));
    code(name, "");
    if constexpr (Stream::kReads) word = profile::read_word<Word>(name).value_or(Word{});
  }
  template <Unit U>
  void code(Quantity<U>& quantity, Quantity<U> like) {
    int64_t whole = nearest_whole<U>(quantity.value);
    auto bits = std::bit_cast<uint64_t>(quantity.value);
    bool is_whole = bits == std::bit_cast<uint64_t>(of_whole<U>(whole));
    code(is_whole, 0);
    if (is_whole) {
      code(whole, nearest_whole<U>(like.value));
      quantity.value = of_whole<U>(whole);
    } else {
      code(bits, 0);
      quantity.value = std::bit_cast<double>(bits);
    }
  }
  void code(profile::WholeNanoseconds& time, profile::WholeNanoseconds like) {
    code(time.value, like.value);
  }
  template <class Word, class Value>
  void code(profile::ByWord<Word, Value>& rows, const profile::ByWord<Word, Value>& like) {
    code_size(stream_, rows);
    for (size_t i = 0; i < rows.size(); ++i) {
      code(rows[i].first, Word{});
      code(rows[i].second, i < like.size() ? like[i].second : Value{});
    }
  }
  template <class Value>
  void code(std::optional<Value>& value, const std::optional<Value>& like) {
    bool is_there = value.has_value();
    code(is_there, 0);
    if (is_there && !value) value.emplace();
    if (is_there) code(*value, like.value_or(Value{}));
  }

 private:
  Stream& stream_;
  Texts& texts_;
};

// Calls visit(member) for each field.
template <class Visit>
void each_member(const Visit& visit) {
  profile::json::each_field<Step>(
      [&](auto /*name*/, auto member, auto /*meaning*/) { visit(member); });
}

// A row that can be decoded by itself.
template <class Stream>
void code_step(StepCode<Stream> fields, Step& step) {
  static const Step none;
  each_member([&](auto member) { fields.code(member(step), member(none)); });
}

template <class Stream>
void code_columns(StepCode<Stream> fields, std::vector<Step>& steps) {
  const Step none;
  each_member([&](auto member) {
    for (size_t i = 0; i < steps.size(); ++i) {
      fields.code(member(steps[i]), member(i == 0 ? none : steps[i - 1]));
    }
  });
}

template <class Stream>
void code_texts(Stream& stream, std::vector<std::string>& texts) {
  code_size(stream, texts);
  for (std::string& text : texts) stream.text(text);
}

}  // namespace

void PackedNumbers::close_block() {
  int64_t least = INT64_MAX;
  int64_t most = INT64_MIN;
  size_t missing = 0;
  for (const int64_t number : open_) {
    if (number == missing_) {
      ++missing;
      continue;
    }
    least = std::min(least, number);
    most = std::max(most, number);
  }
  const bool all_alike = missing == open_.size() || (missing == 0 && least == most);
  if (all_alike) {
    blocks_.push_back({open_.front(), static_cast<uint32_t>(words_.size()), 0, false});
  } else {
    const uint64_t largest = static_cast<uint64_t>(most) - static_cast<uint64_t>(least);
    const bool some_missing = missing > 0;
    // If some are missing, the all-ones difference stands for them and must stay free.
    const bool as_they_are = largest >= UINT64_MAX / 2;
    if (as_they_are) {
      append(kWord, 0, false);
    } else {
      append(static_cast<size_t>(std::bit_width(some_missing ? largest + 1 : largest)), least,
             some_missing);
    }
  }
  open_.clear();
}

void PackedNumbers::append(size_t bits, int64_t least, bool some_missing) {
  const size_t first = words_.size();
  blocks_.push_back(
      {least, static_cast<uint32_t>(first), static_cast<uint8_t>(bits), some_missing});
  words_.resize(first + (kBlock * bits + kWord - 1) / kWord, 0);
  const uint64_t all_ones = ~uint64_t{0} >> (kWord - bits);
  for (size_t i = 0; i < open_.size(); ++i) {
    const bool is_missing = some_missing && open_[i] == missing_;
    const uint64_t difference =
        is_missing ? all_ones : static_cast<uint64_t>(open_[i]) - static_cast<uint64_t>(least);
    const size_t bit = i * bits;
    uint64_t* word = &words_[first + bit / kWord];
    const size_t shift = bit % kWord;
    *word |= difference << shift;
    if (shift + bits > kWord) word[1] |= difference >> (kWord - shift);
  }
}

void PackedNumbers::shrink() {
  blocks_.shrink_to_fit();
  words_.shrink_to_fit();
  open_.shrink_to_fit();
}

PackedCollectives::PackedCollectives(analysis::Collectives&& from) : keys(std::move(from.keys)) {
  for (size_t row = 0; row < from.size(); ++row) {
    const Nanoseconds duration = difference(from.end[row], from.start[row]);
    duration_.push_back(duration);
    shown_.push_back(difference(from.exposed[row], duration));
  }
  duration_.shrink();
  shown_.shrink();
  pack(std::move(from.start), start_);
  pack(std::move(from.launched), launched_);
  pack(std::move(from.busy_before), busy_before_);
  pack(std::move(from.key), key_);
  pack(std::move(from.step), step_);
  pack(std::move(from.sequence), sequence_);
  pack(std::move(from.in_graph), in_graph_);
}

analysis::Collectives PackedCollectives::unpacked() const {
  analysis::Collectives to;
  to.keys = keys;
  to.start = start_.unpacked();
  to.launched = launched_.unpacked();
  to.busy_before = busy_before_.unpacked();
  to.key = key_.unpacked();
  to.step = step_.unpacked();
  to.sequence = sequence_.unpacked();
  for (size_t row = 0; row < size(); ++row) {
    to.end.push_back(end(row));
    to.exposed.push_back(exposed(row));
    to.in_graph.push_back(in_graph(row) ? 1 : 0);
  }
  return to;
}

PackedSteps::PackedSteps(std::vector<Step> steps) {
  NumberWriter out(bytes_);
  for (Step& step : steps) {
    first_.push_back(static_cast<Nanoseconds>(bytes_.size()));
    code_step(StepCode(out, texts_), step);
    stage_.push_back(static_cast<uint32_t>(place_of(step.stage, texts_)));
    instance_.push_back(step.instance);
    after_untraced_.push_back(step.after_untraced ? 1 : 0);
    tokens_.push_back(step.tokens.value_or(UINT64_MAX));
    gpu_busy_.push_back(profile::to_nanoseconds(step.gpu_busy));
  }
  bytes_.shrink_to_fit();
  first_.shrink();
  stage_.shrink();
  for (Counts* counts : {&instance_, &after_untraced_, &tokens_}) counts->shrink();
  gpu_busy_.shrink();
}

Step PackedSteps::operator[](size_t row) const {
  NumberReader in(std::string_view(bytes_).substr(static_cast<size_t>(first_[row])));
  Step step;
  code_step(StepCode(in, texts_), step);
  return step;
}

std::vector<Step> PackedSteps::unpacked() const {
  std::vector<Step> steps(size());
  for (size_t row = 0; row < steps.size(); ++row) steps[row] = (*this)[row];
  return steps;
}

std::optional<uint64_t> PackedSteps::tokens(size_t row) const {
  const uint64_t tokens = tokens_[row];
  return tokens == UINT64_MAX ? std::nullopt : std::optional(tokens);
}

void write_steps(std::vector<Step> steps, NumberWriter& out) {
  std::vector<std::string> texts;
  std::string columns;
  NumberWriter to_columns(columns);
  code_columns(StepCode(to_columns, texts), steps);
  code_texts(out, texts);
  code_size(out, steps);
  out.text(columns);
}

std::vector<Step> read_steps(NumberReader& in) {
  std::vector<std::string> texts;
  std::vector<Step> steps;
  code_texts(in, texts);
  size_t fields = 0;
  each_member([&](auto /*member*/) { ++fields; });
  code_size(in, steps, fields);
  std::string columns;
  in.text(columns);
  NumberReader from_columns(columns);
  code_columns(StepCode(from_columns, std::as_const(texts)), steps);
  in.check(!from_columns.damaged() && from_columns.left() == 0);
  return steps;
}

}  // namespace llmprof::job
