#pragma once

#include <memory>
#include <optional>
#include <string>
#include <typeindex>
#include <vector>

#include "profile/json/shape.h"

namespace llmprof::profile::json {

// A described type as data: what the schema and the tables of the docs are made from.
struct Type {
  enum class Kind : uint8_t { boolean, integer, count, number, text, list, by_name, object };
  struct Field;

  Kind kind = Kind::object;
  bool nullable = false;
  std::optional<std::string> unit;          // "ms"
  std::shared_ptr<const Type> element;      // of lists and values under names
  std::optional<size_t> length;             // of a list that always has as many
  std::type_index identity = typeid(void);  // of objects: the struct
  std::vector<Field> fields;                // of objects
};

struct Type::Field {
  std::string name;
  std::string meaning;
  Type type;
};

template <class T>
Type type_of();

namespace detail {

inline Type scalar(Type::Kind kind, std::optional<std::string> unit = std::nullopt) {
  Type type;
  type.kind = kind;
  type.unit = std::move(unit);
  return type;
}

template <class T>
Type object_of() {
  Type type = scalar(Type::Kind::object);
  type.identity = typeid(T);
  auto visit = [&](const char* name, auto member, const char* meaning) {
    type.fields.push_back({name, meaning, type_of<MemberTypeOf<decltype(member)>>()});
  };
  T::fields(visit);
  return type;
}

template <class Element>
Type collection_of(Type::Kind kind) {
  Type type = scalar(kind);
  type.element = std::make_shared<Type>(type_of<Element>());
  return type;
}

template <class T>
struct ArrayOf;
template <class Element, size_t N>
struct ArrayOf<std::array<Element, N>> {
  static Type type() {
    Type list = collection_of<Element>(Type::Kind::list);
    list.length = N;
    return list;
  }
};

}  // namespace detail

template <class T>
Type type_of() {
  using Kind = Type::Kind;
  if constexpr (IsOptional<T>::value) {
    Type type = type_of<typename T::value_type>();
    type.nullable = true;
    return type;
  } else if constexpr (IsQuantity<T>::value) {
    return detail::scalar(Kind::number, std::string(symbol(T::kUnit)));
  } else if constexpr (std::same_as<T, WholeNanoseconds>) {
    return detail::scalar(Kind::integer, "ns");
  } else if constexpr (std::same_as<T, bool>) {
    return detail::scalar(Kind::boolean);
  } else if constexpr (std::same_as<T, double>) {
    return detail::scalar(Kind::number);
  } else if constexpr (std::unsigned_integral<T>) {
    return detail::scalar(Kind::count);
  } else if constexpr (std::integral<T>) {
    return detail::scalar(Kind::integer);
  } else if constexpr (std::same_as<T, std::string>) {
    return detail::scalar(Kind::text);
  } else if constexpr (IsByName<T>::value) {
    return detail::collection_of<typename T::value_type::second_type>(Kind::by_name);
  } else if constexpr (Described<T>) {
    return detail::object_of<T>();
  } else if constexpr (IsList<T>::value) {
    return detail::collection_of<typename T::value_type>(Kind::list);
  } else {
    return detail::ArrayOf<T>::type();
  }
}

}  // namespace llmprof::profile::json
