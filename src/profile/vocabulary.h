#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace llmprof::profile {

// A closed set of names in profile.json is an enum of uint8_t that counts from 0. JSON spells its
// values as C++ does, unless words_of, next to it, says otherwise; it also says what they mean:
//
//   enum class Limit : uint8_t { room, near_peak };
//   constexpr auto words_of(Limit) {
//     return vocabulary<Limit>({{Limit::room, "less than 0.7"}, {Limit::near_peak, "", "near"}});
//   }
//
// The JSON writer and reader, the schema, the docs and the page's types use it. Tables by value
// (Texts) are checked against the enum at compile time.
template <class Enum>
struct Word {
  Enum value{};
  std::string_view meaning = {};  // empty if the name is self-explanatory
  std::string_view name = {};     // filled by vocabulary unless given; "" is a name too
};

template <class T>
concept WithWords = requires(T value) { words_of(value); };
template <class T>
concept Vocabulary = WithWords<T> || std::same_as<std::underlying_type_t<T>, uint8_t>;

// Compilers spell a value that no enumerator has as a cast: "Value = (Limit)2".
template <auto Value>
consteval bool is_enumerator() {
  return std::string_view(__PRETTY_FUNCTION__).find("= (") == std::string_view::npos;
}

// Compile-time check that there is one row per enumerator, in the order of the enum.
template <class Enum, class Row, size_t N>
consteval std::array<Row, N> one_per_value(const Row (&rows)[N]) {
  if (is_enumerator<static_cast<Enum>(N)>()) throw "a value of the enum has no row";
  for (size_t i = 0; i < N; ++i) {
    if (static_cast<size_t>(rows[i].value) != i) throw "rows are not in the order of the enum";
  }
  return std::to_array(rows);
}

// The C++ spelling: "near" for Limit::near.
template <auto Value>
consteval std::string_view enumerator_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("Value = "));
  text = text.substr(0, text.find_first_of(";]"));
  return text.substr(text.rfind(':') + 1);
}

template <class Enum, size_t first = 0>
consteval size_t enumerators() {
  if constexpr (is_enumerator<static_cast<Enum>(first)>()) {
    return enumerators<Enum, first + 1>();
  } else {
    return first;
  }
}

// Names of the values that a finding or a reason of one kind has.
class ValueNames {
 public:
  constexpr ValueNames() = default;
  consteval ValueNames(std::initializer_list<std::string_view> names) : size_(names.size()) {
    std::copy(names.begin(), names.end(), names_.begin());
  }
  [[nodiscard]] constexpr auto begin() const { return names_.begin(); }
  [[nodiscard]] constexpr auto end() const { return names_.begin() + size_; }

 private:
  std::array<std::string_view, 9> names_;
  size_t size_ = 0;
};

template <class Enum>
struct KindWord {
  Enum value{};
  ValueNames values = {};
  std::string_view meaning = {};
  std::string_view name = {};  // filled by kinds_with_values
};

// One entry for each value of the enum, with or without a row.
template <class Enum, class Row, size_t N>
consteval auto named_values(const Row (&rows)[N]) {
  std::array<Row, enumerators<Enum>()> all;
  for (const Row& row : rows) all[static_cast<size_t>(row.value)] = row;
  [&]<size_t... value>(std::index_sequence<value...> /*all*/) {
    ((all[value].value = static_cast<Enum>(value)), ...);
    ((all[value].name = all[value].name.data() == nullptr
                            ? enumerator_name<static_cast<Enum>(value)>()
                            : all[value].name),
     ...);
  }(std::make_index_sequence<all.size()>());
  return all;
}
template <class Enum, size_t N = 1>
consteval auto vocabulary(const Word<Enum> (&words)[N] = {{}}) {
  return named_values<Enum>(words);
}
template <class Enum, size_t N>
consteval auto kinds_with_values(const KindWord<Enum> (&rows)[N]) {
  return named_values<Enum>(rows);
}

template <Vocabulary Enum>
inline constexpr auto kWords = [] {
  if constexpr (WithWords<Enum>) {
    return words_of(Enum{});
  } else {
    return vocabulary<Enum>();
  }
}();

// How profile.json spells each value, in the order of the enum.
template <Vocabulary Enum>
inline constexpr auto kNames = [] {
  std::array<std::string_view, kWords<Enum>.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kWords<Enum>[i].name;
  return names;
}();

// Names that this version does not have: names from another version's file keep their spelling, as
// values after the enumerators. Thread-safe.
class LaterNames {
 public:
  // None if there is no room for another one.
  std::optional<size_t> find_or_add(std::string_view name, size_t most);
  std::string_view at(size_t index);

 private:
  std::mutex mutex_;
  std::deque<std::string> names_;
};

template <Vocabulary Enum>
LaterNames& later_names() {
  static LaterNames names;
  return names;
}

template <Vocabulary Enum>
constexpr bool is_known(Enum value) {
  return static_cast<size_t>(value) < kWords<Enum>.size();
}

// As profile.json spells it.
template <Vocabulary Enum>
std::string_view to_string(Enum value) {
  const auto index = static_cast<size_t>(value);
  if (is_known(value)) return kWords<Enum>[index].name;
  return later_names<Enum>().at(index - kWords<Enum>.size());
}

// None if this version does not have the name.
template <Vocabulary Enum>
constexpr std::optional<Enum> find_word(std::string_view name) {
  for (const auto& word : kWords<Enum>) {
    if (word.name == name) return word.value;
  }
  return std::nullopt;
}

// For reading a file: another version's name becomes a value with the same spelling. None if there
// are hundreds of such names.
template <Vocabulary Enum>
std::optional<Enum> read_word(std::string_view name) {
  if (const auto known = find_word<Enum>(name)) return known;
  constexpr size_t kKnown = kWords<Enum>.size();
  const auto later = later_names<Enum>().find_or_add(name, UINT8_MAX - kKnown);
  if (!later) return std::nullopt;
  return static_cast<Enum>(kKnown + *later);
}

// A text for each value of a vocabulary; another version's value is shown by its name.
template <class Enum>
struct Text {
  Enum value;
  std::string_view text;
};
template <class Enum, size_t N>
class Texts {
 public:
  consteval explicit Texts(const Text<Enum> (&rows)[N]) : rows_(one_per_value<Enum>(rows)) {}

  std::string_view operator[](Enum value) const {
    return is_known(value) ? rows_[static_cast<size_t>(value)].text : to_string(value);
  }

 private:
  std::array<Text<Enum>, N> rows_;
};
// Only the values whose text is not their name.
template <class Enum, size_t N>
consteval auto other_texts(const Text<Enum> (&rows)[N]) {
  Text<Enum> all[kWords<Enum>.size()];
  for (size_t i = 0; i < std::size(all); ++i) all[i] = {kWords<Enum>[i].value, kNames<Enum>[i]};
  for (const auto& row : rows) all[static_cast<size_t>(row.value)] = row;
  return Texts<Enum, kWords<Enum>.size()>(all);
}
template <class Enum, size_t N>
consteval Texts<Enum, N> texts(const Text<Enum> (&rows)[N]) {
  return Texts<Enum, N>(rows);
}

}  // namespace llmprof::profile
