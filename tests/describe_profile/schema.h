#pragma once

#include <string>
#include <string_view>

#include "profile/json/described.h"

namespace llmprof::profile {

// docs/profile.schema.json: JSON Schema (2020-12) of profile.json.
std::string json_schema();

// The tables of docs/profile-schema.md: one per struct, in the order in which Profile reaches them.
std::string field_tables();

// ui/src/generated/profile.ts: an interface per struct, named after the place where Profile reaches
// it first ("StagesInstances").
std::string typescript_types();

namespace json {

// The same of any described struct; `top` is its type_of.
std::string json_schema_of(const Type& top, std::string_view title);
std::string field_tables_of(const Type& top);
// `name` is that of the outermost interface, `from` says where the structs are and what writes the
// file again.
std::string typescript_types_of(const Type& top, const std::string& name, std::string_view from);

}  // namespace json

}  // namespace llmprof::profile
