#include "job/packed/packed_steps.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace llmprof::job {
namespace {

using profile::Quantity;
using profile::Step;
using profile::Unit;
using Times = profile::ByWord<profile::KernelClass, profile::WholeNanoseconds>;

constexpr int64_t kNone = StepColumn::kNone;

// Place of `wanted`, which is added where it is new; few different ones occur.
template <class Item>
int64_t place_of(const Item& wanted, std::vector<Item>& among) {
  const auto found = std::find(among.begin(), among.end(), wanted);
  const auto place = found - among.begin();
  if (found == among.end()) among.push_back(wanted);
  return place;
}

// What a whole number stands for: of times, nanoseconds.
template <Unit U>
double of_whole(int64_t number) {
  if constexpr (U == Unit::milliseconds) return profile::to_milliseconds(number).value;
  return static_cast<double>(number);
}

template <Unit U>
int64_t nearest_whole(double value) {
  constexpr double kFar = 1e18;
  const double scaled = U == Unit::milliseconds ? value * kNanosecondsPerMillisecond : value;
  return std::abs(scaled) < kFar ? std::llround(scaled) : kNone;
}

void put(const std::string& text, StepColumn& to) {
  to.numbers.push_back(place_of(text, to.texts));
}
template <profile::Vocabulary Word>
void put(Word word, StepColumn& to) {
  put(std::string(to_string(word)), to);
}
void put(uint64_t number, StepColumn& to) { to.numbers.push_back(static_cast<int64_t>(number)); }
void put(bool flag, StepColumn& to) { to.numbers.push_back(flag ? 1 : 0); }
template <Unit U>
void put(const Quantity<U>& quantity, StepColumn& to) {
  const int64_t whole = nearest_whole<U>(quantity.value);
  const bool same = whole != kNone && std::bit_cast<uint64_t>(of_whole<U>(whole)) ==
                                          std::bit_cast<uint64_t>(quantity.value);
  if (!same) to.parts.emplace_back(to.numbers.size(), quantity.value);
  to.numbers.push_back(same ? whole : kNone);
}
void put(const Times& times, StepColumn& to) {
  std::vector<std::string> names;
  names.reserve(times.size());
  for (const auto& [name, time] : times) names.emplace_back(to_string(name));
  to.numbers.push_back(place_of(names, to.lists));
  to.first.push_back(static_cast<int64_t>(to.values.size()));
  for (const auto& [name, time] : times) to.values.push_back(time.value);
}
template <class Value>
void put(const std::optional<Value>& value, StepColumn& to) {
  if (value) {
    put(*value, to);
  } else {
    to.numbers.push_back(kNone);
  }
}

// Null where the number at this row is whole.
const double* part_at(const StepColumn& from, size_t row) {
  const auto found =
      std::lower_bound(from.parts.begin(), from.parts.end(), row,
                       [](const auto& part, size_t wanted) { return part.first < wanted; });
  return found != from.parts.end() && found->first == row ? &found->second : nullptr;
}

void take(const StepColumn& from, size_t row, std::string& text) {
  text = from.texts[static_cast<size_t>(from.numbers[row])];
}
template <profile::Vocabulary Word>
void take(const StepColumn& from, size_t row, Word& word) {
  const std::string& text = from.texts[static_cast<size_t>(from.numbers[row])];
  word = profile::read_word<Word>(text).value_or(Word{});
}
void take(const StepColumn& from, size_t row, uint64_t& number) {
  number = static_cast<uint64_t>(from.numbers[row]);
}
void take(const StepColumn& from, size_t row, bool& flag) { flag = from.numbers[row] != 0; }
template <Unit U>
void take(const StepColumn& from, size_t row, Quantity<U>& quantity) {
  const double* part = part_at(from, row);
  quantity.value = part != nullptr ? *part : of_whole<U>(from.numbers[row]);
}
void take(const StepColumn& from, size_t row, Times& times) {
  const auto& names = from.lists[static_cast<size_t>(from.numbers[row])];
  auto value = static_cast<size_t>(from.first[row]);
  times.clear();
  times.reserve(names.size());
  for (const std::string& name : names) {
    times.push_back(
        {profile::read_word<profile::KernelClass>(name).value_or(profile::KernelClass{}),
         {from.values[value++]}});
  }
}
template <class Value>
void take(const StepColumn& from, size_t row, std::optional<Value>& value) {
  value.reset();
  if (from.numbers[row] != kNone || part_at(from, row) != nullptr) {
    take(from, row, value.emplace());
  }
}

// Whether a file's column is one of this field.
bool are_places(const PackedNumbers& numbers, size_t count) {
  for (size_t row = 0; row < numbers.size(); ++row) {
    if (numbers[row] < 0 || static_cast<uint64_t>(numbers[row]) >= count) return false;
  }
  return true;
}
bool fits(const std::string& /*field*/, StepColumn& column) {
  return are_places(column.numbers, column.texts.size());
}
template <profile::Vocabulary Word>
bool fits(const Word& /*field*/, StepColumn& column) {
  return are_places(column.numbers, column.texts.size());
}
bool fits(const Times& /*field*/, StepColumn& column) {
  if (!are_places(column.numbers, column.lists.size())) return false;
  column.first = PackedNumbers(kNone);
  size_t values = 0;
  for (size_t row = 0; row < column.numbers.size(); ++row) {
    column.first.push_back(static_cast<int64_t>(values));
    values += column.lists[static_cast<size_t>(column.numbers[row])].size();
  }
  return values == column.values.size();
}
template <class Value>
bool fits(const Value& /*field*/, StepColumn& /*column*/) {
  return true;
}

// Calls `visit` with each field of a step and the number of its column.
template <class Of, class Visit>
void each_field(Of& step, const Visit& visit) {
  size_t column = 0;
  const auto field = [&](std::string_view /*name*/, auto member, std::string_view /*meaning*/) {
    visit(step.*member, column++);
  };
  Step::fields(field);
}

size_t column_of(std::string_view wanted) {
  size_t column = 0;
  size_t found = 0;
  const auto field = [&](std::string_view name, auto /*member*/, std::string_view /*meaning*/) {
    if (name == wanted) found = column;
    ++column;
  };
  Step::fields(field);
  return found;
}

template <class Value>
Value one_field(const StepColumn& from, size_t row) {
  Value value{};
  take(from, row, value);
  return value;
}

}  // namespace

PackedSteps::PackedSteps(const std::vector<Step>& steps)
    : size_(steps.size()), columns_(column_count()) {
  for (const Step& step : steps) {
    each_field(step, [&](const auto& value, size_t column) { put(value, columns_[column]); });
  }
  for (StepColumn& column : columns_) {
    column.numbers.shrink();
    column.values.shrink();
    column.first.shrink();
  }
}

std::optional<PackedSteps> PackedSteps::of_columns(std::vector<StepColumn> columns, size_t rows) {
  if (columns.size() != column_count()) return std::nullopt;
  bool all_fit = true;
  const Step like;
  each_field(like, [&](const auto& value, size_t column) {
    all_fit = all_fit && columns[column].numbers.size() == rows && fits(value, columns[column]);
  });
  if (!all_fit) return std::nullopt;
  PackedSteps steps;
  steps.size_ = rows;
  steps.columns_ = std::move(columns);
  return steps;
}

size_t PackedSteps::column_count() {
  size_t count = 0;
  const Step like;
  each_field(like, [&](const auto& /*value*/, size_t /*column*/) { ++count; });
  return count;
}

Step PackedSteps::operator[](size_t row) const {
  Step step;
  each_field(step, [&](auto& value, size_t column) { take(columns_[column], row, value); });
  return step;
}

std::vector<Step> PackedSteps::unpacked() const {
  std::vector<Step> steps;
  steps.reserve(size_);
  for (size_t row = 0; row < size_; ++row) steps.push_back((*this)[row]);
  return steps;
}

const std::string& PackedSteps::stage(size_t row) const {
  static const size_t column = column_of("stage");
  return columns_[column].texts[static_cast<size_t>(columns_[column].numbers[row])];
}
uint64_t PackedSteps::instance(size_t row) const {
  static const size_t column = column_of("instance");
  return one_field<uint64_t>(columns_[column], row);
}
bool PackedSteps::after_untraced(size_t row) const {
  static const size_t column = column_of("after_untraced");
  return one_field<bool>(columns_[column], row);
}
std::optional<uint64_t> PackedSteps::tokens(size_t row) const {
  static const size_t column = column_of("tokens");
  return one_field<std::optional<uint64_t>>(columns_[column], row);
}
profile::Milliseconds PackedSteps::gpu_busy(size_t row) const {
  static const size_t column = column_of("gpu_busy_ms");
  return one_field<profile::Milliseconds>(columns_[column], row);
}

}  // namespace llmprof::job
