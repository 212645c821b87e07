#include "profile/json/described.h"

#include "profile/profile.h"

namespace llmprof::profile::json {
namespace detail {

Type scalar(Type::Kind kind, std::optional<Unit> unit) {
  Type type;
  type.kind = kind;
  if (unit) type.unit = symbol(*unit);
  return type;
}

Type list(Type::Kind kind, const Type& element) {
  Type type = scalar(kind);
  type.element = std::make_shared<Type>(element);
  return type;
}

void add_field(Type& object, const char* name, const char* meaning, const Type& type,
               ptrdiff_t offset) {
  object.fields.push_back({name, meaning, type, static_cast<size_t>(offset)});
}

}  // namespace detail

const Type& profile_type() { return type_of<Profile>(); }

}  // namespace llmprof::profile::json
