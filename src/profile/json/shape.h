#pragma once

#include <array>
#include <concepts>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "profile/kernels.h"
#include "profile/quantity.h"
#include "profile/vocabulary.h"

// What a field's type is in JSON: told once, for the writer, the reader and the schema.
namespace llmprof::profile::json {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class T>
struct IsQuantity : std::false_type {};
template <Unit U>
struct IsQuantity<Quantity<U>> : std::true_type {};

// Values under names: texts, or words of a vocabulary.
template <class T>
struct IsByName : std::false_type {};
template <class Name, class T>
  requires std::same_as<Name, std::string> || Vocabulary<Name>
struct IsByName<std::vector<std::pair<Name, T>>> : std::true_type {};

struct AnyVisitor {
  template <class Member>
  void operator()(const char* /*name*/, Member /*member*/, const char* /*meaning*/) {}
};

template <class T>
concept Described = requires(AnyVisitor& visitor) { T::fields(visitor); };

template <class Member>
struct MemberType;
template <class Struct, class Type>
struct MemberType<Type Struct::*> {
  using type = Type;
};
template <class Member>
using MemberTypeOf = typename MemberType<Member>::type;

}  // namespace llmprof::profile::json
