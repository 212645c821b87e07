#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include "profile/kernels.h"
#include "profile/quantity.h"
#include "profile/vocabulary.h"

namespace llmprof::profile::json {

template <class T>
concept Optional = std::same_as<T, std::optional<typename T::value_type>>;

// Values by name: texts, or words of a vocabulary.
template <class T>
struct IsByName : std::false_type {};
template <class Name, class T>
  requires std::same_as<Name, std::string> || Vocabulary<Name>
struct IsByName<std::vector<std::pair<Name, T>>> : std::true_type {};

inline constexpr auto kAnyVisitor = [](const char* /*name*/, const auto& /*member*/,
                                       const char* /*meaning*/) {};
template <class T>
concept Described = requires(const T& value) { value.fields(kAnyVisitor); };

// A described member: `member(value)` is that member of `value`.
template <class T, class Member>
struct MemberOf {
  ptrdiff_t offset = 0;  // in T, in bytes

  Member& operator()(T& of) const {
    return *reinterpret_cast<Member*>(reinterpret_cast<char*>(&of) + offset);
  }
  const Member& operator()(const T& of) const {
    return *reinterpret_cast<const Member*>(reinterpret_cast<const char*>(&of) + offset);
  }
};

// Volatile: if both addresses are constants, GCC 12 may propagate `end` in place of the difference.
inline ptrdiff_t bytes_between(const void* begin, const void* end) {
  const void* const volatile from = begin;
  return static_cast<const char*>(end) - static_cast<const char*>(from);
}

// Calls visit(name, MemberOf, meaning) for each field.
template <class T, class Visit>
void each_field(const Visit& visit) {
  static const T sample{};
  const auto field = [&](const char* name, const auto& member, const char* meaning) {
    visit(name, MemberOf<T, std::remove_cvref_t<decltype(member)>>{bytes_between(&sample, &member)},
          meaning);
  };
  sample.fields(field);
}

// A described type as data, with access to its values. The writer, the reader, the schema and the
// docs' tables use it. Only the access is compiled per type, so a hundred structs do not need a
// hundred writers and readers.
struct Type {
  enum class Kind : uint8_t { boolean, integer, count, number, text, word, list, by_name, object };
  struct Field;
  struct Name {
    std::string_view name;
    std::string_view meaning;
  };

  Kind kind = Kind::object;
  bool nullable = false;
  std::optional<std::string> unit;          // "ms"
  std::shared_ptr<const Type> element;      // of lists and values by name
  std::optional<size_t> length;             // of a list with a fixed length
  std::shared_ptr<const Type> key;          // of values by name: a text or a word
  std::type_index identity = typeid(void);  // of objects: the struct; of words: the enum
  std::vector<Name> names;                  // of words
  std::vector<Field> fields;                // of objects

  // Of nullable types: get the value inside or null, create it, remove it.
  const void* (*content)(const void* optional) = nullptr;
  void* (*emplace)(void* optional) = nullptr;
  void (*reset)(void* optional) = nullptr;

  // Of integers and counts, which have several widths. False if the number does not fit.
  int64_t (*integer)(const void* value) = nullptr;
  uint64_t (*count)(const void* value) = nullptr;
  bool (*set_integer)(void* value, int64_t number) = nullptr;
  bool (*set_count)(void* value, uint64_t number) = nullptr;

  // Of words. False if there is no room for another name that this version does not have.
  std::string_view (*word)(const void* value) = nullptr;
  bool (*set_word)(void* value, std::string_view name) = nullptr;

  // Of lists and values by name.
  size_t (*size)(const void* list) = nullptr;
  void (*resize)(void* list, size_t size) = nullptr;  // fills with defaults; not for fixed lengths
  void* (*at)(void* list, size_t index) = nullptr;
  void* (*key_at)(void* list, size_t index) = nullptr;
};

struct Type::Field {
  std::string name;
  std::string meaning;
  Type type;
  size_t offset = 0;  // of the member in its struct, in bytes
};

template <class T>
const Type& type_of();

namespace detail {

// Neither templates nor inline, so that they are not compiled again for every struct.
Type scalar(Type::Kind kind, std::optional<Unit> unit = std::nullopt);
Type list(Type::Kind kind, const Type& element);
void add_field(Type& object, const char* name, const char* meaning, const Type& type,
               ptrdiff_t offset);

template <class T>
const T& as(const void* value) {
  return *static_cast<const T*>(value);
}
template <class T>
T& as(void* value) {
  return *static_cast<T*>(value);
}

template <class T>
Type integer_type() {
  if constexpr (std::unsigned_integral<T>) {
    Type type = scalar(Type::Kind::count);
    type.count = [](const void* value) -> uint64_t { return as<T>(value); };
    type.set_count = [](void* value, uint64_t number) {
      as<T>(value) = static_cast<T>(number);
      return as<T>(value) == number;
    };
    return type;
  } else {
    Type type = scalar(Type::Kind::integer);
    type.integer = [](const void* value) -> int64_t { return as<T>(value); };
    type.set_integer = [](void* value, int64_t number) {
      as<T>(value) = static_cast<T>(number);
      return as<T>(value) == number;
    };
    return type;
  }
}

template <Vocabulary Enum>
Type word_type() {
  Type type = scalar(Type::Kind::word);
  type.identity = typeid(Enum);
  for (const auto& word : kWords<Enum>) type.names.push_back({word.name, word.meaning});
  type.word = [](const void* value) { return profile::to_string(as<Enum>(value)); };
  type.set_word = [](void* value, std::string_view name) {
    const auto read = read_word<Enum>(name);
    if (read) as<Enum>(value) = *read;
    return read.has_value();
  };
  return type;
}

template <Optional T>
Type optional_type() {
  Type type = type_of<typename T::value_type>();
  type.nullable = true;
  type.content = [](const void* optional) -> const void* {
    const auto& held = as<T>(optional);
    return held ? &*held : nullptr;
  };
  type.emplace = [](void* optional) -> void* { return &as<T>(optional).emplace(); };
  type.reset = [](void* optional) { as<T>(optional).reset(); };
  return type;
}

template <class T>
Type object_type() {
  Type type = scalar(Type::Kind::object);
  type.identity = typeid(T);
  each_field<T>(
      [&]<class Member>(const char* name, MemberOf<T, Member> member, const char* meaning) {
        add_field(type, name, meaning, type_of<Member>(), member.offset);
      });
  return type;
}

template <class List, class Element>
Type list_type(Type::Kind kind) {
  Type type = list(kind, type_of<Element>());
  type.size = [](const void* list) { return as<List>(list).size(); };
  if constexpr (requires(List& list) { list.resize(0); }) {
    type.resize = [](void* list, size_t size) {
      as<List>(list).clear();
      as<List>(list).resize(size);
    };
  } else {
    type.length = std::tuple_size_v<List>;
  }
  if constexpr (IsByName<List>::value) {
    type.at = [](void* list, size_t index) -> void* { return &as<List>(list)[index].second; };
    type.key_at = [](void* list, size_t index) -> void* { return &as<List>(list)[index].first; };
    type.key = std::make_shared<Type>(type_of<typename List::value_type::first_type>());
  } else {
    type.at = [](void* list, size_t index) -> void* { return &as<List>(list)[index]; };
  }
  return type;
}

template <class T>
Type make_type() {
  using Kind = Type::Kind;
  if constexpr (Optional<T>) {
    return optional_type<T>();
  } else if constexpr (requires { T::kUnit; }) {
    return scalar(Kind::number, T::kUnit);
  } else if constexpr (std::same_as<T, WholeNanoseconds>) {
    Type type = integer_type<Nanoseconds>();
    type.unit = "ns";
    return type;
  } else if constexpr (std::same_as<T, bool>) {
    return scalar(Kind::boolean);
  } else if constexpr (std::same_as<T, double>) {
    return scalar(Kind::number);
  } else if constexpr (std::integral<T>) {
    return integer_type<T>();
  } else if constexpr (std::same_as<T, std::string>) {
    return scalar(Kind::text);
  } else if constexpr (Vocabulary<T>) {
    return word_type<T>();
  } else if constexpr (IsByName<T>::value) {
    return list_type<T, typename T::value_type::second_type>(Kind::by_name);
  } else if constexpr (Described<T>) {
    return object_type<T>();
  } else {
    return list_type<T, typename T::value_type>(Kind::list);
  }
}

}  // namespace detail

template <class T>
const Type& type_of() {
  static const Type type = detail::make_type<T>();
  return type;
}

// The type of Profile: its description of a hundred structs is compiled once.
const Type& profile_type();

}  // namespace llmprof::profile::json
