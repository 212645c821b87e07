#pragma once

#include <string>

namespace llmprof::profile {

// docs/profile.schema.json: JSON Schema (2020-12) of profile.json.
std::string json_schema();

// The tables of docs/profile-schema.md: one per struct, in the order in which Profile reaches them.
std::string field_tables();

// ui/src/generated/profile.ts: an interface per struct, named after the place where Profile reaches
// it first ("StagesInstances").
std::string typescript_types();

}  // namespace llmprof::profile
