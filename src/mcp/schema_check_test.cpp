#include "mcp/schema_check.h"

#include <gtest/gtest.h>

namespace llmprof::mcp {
namespace {

const Json kSchema = Json::parse(R"({
  "type": "object", "required": ["kind"], "additionalProperties": false,
  "properties": {
    "kind": {"type": "string", "enum": ["step", "kernel"]},
    "id": {"type": ["string", "integer"], "maxLength": 5},
    "limit": {"type": "integer", "minimum": 1, "maximum": 10},
    "run": {"type": "array", "maxItems": 2, "items": {"type": "string"}},
    "values": {"type": "object", "additionalProperties": {"type": "number"}}}})");

std::string check(const char* arguments) { return fault_of(Json::parse(arguments), kSchema); }

TEST(SchemaCheck, WhatIsValid) {
  EXPECT_EQ(check(R"({"kind": "step"})"), "");
  EXPECT_EQ(check(R"({"kind": "kernel", "id": 3, "limit": 10, "run": ["a", "b"]})"), "");
  EXPECT_EQ(check(R"({"kind": "step", "id": "12345", "values": {"a": 1, "b": 2.5}})"), "");
}

TEST(SchemaCheck, FaultsNameTheMember) {
  EXPECT_EQ(check("[]"), "arguments must be of type object");
  EXPECT_EQ(check("{}"), "the argument 'kind' is missing");
  EXPECT_EQ(check(R"({"kind": "steps"})"), "kind must be one of: step, kernel");
  EXPECT_EQ(check(R"({"kind": "step", "id": 1.5})"), "id must be of type string or integer");
  EXPECT_EQ(check(R"({"kind": "step", "id": "123456"})"), "id has more than 5 bytes");
  EXPECT_EQ(check(R"({"kind": "step", "limit": 0})"), "limit must be at least 1");
  EXPECT_EQ(check(R"({"kind": "step", "limit": 11})"), "limit must not exceed 10");
  EXPECT_EQ(check(R"({"kind": "step", "limit": 1e3})"), "limit must be of type integer");
  EXPECT_EQ(check(R"({"kind": "step", "run": ["a", 1]})"), "an item of run must be of type string");
  EXPECT_EQ(check(R"({"kind": "step", "run": ["a", "b", "c"]})"), "run has more than 2 items");
  EXPECT_EQ(check(R"({"kind": "step", "values": {"a": "x"}})"), "a must be of type number");
}

TEST(SchemaCheck, MistypedMembersGetASuggestion) {
  EXPECT_EQ(check(R"({"kind": "step", "limt": 1})"),
            "unknown argument 'limt'; did you mean 'limit'?");
  EXPECT_EQ(check(R"({"kind": "step", "zzzzzzzz": 1})"),
            "unknown argument 'zzzzzzzz'; available: kind, id, limit, run, values");
  EXPECT_EQ(fault_of(Json::parse(R"({"a": 1})"),
                     Json::parse(R"({"type": "object", "additionalProperties": false})")),
            "unknown argument 'a'; there are none");
}

}  // namespace
}  // namespace llmprof::mcp
