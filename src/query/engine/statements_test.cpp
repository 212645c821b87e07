#include "query/engine/statements.h"

#include <gtest/gtest.h>

namespace llmprof::query {
namespace {

using Texts = std::vector<std::string>;

TEST(Statements, EndAtSemicolonsOutsideOfTextsNamesAndComments) {
  const Script script = cut_at_semicolons(
      "SELECT ';' ; SELECT \";\", `;`, [;] -- ;\n; /* ; */ SELECT 'it''s;'; SELECT 4");
  EXPECT_EQ(script.statements,
            (Texts{"SELECT ';'", "SELECT \";\", `;`, [;] -- ;", "/* ; */ SELECT 'it''s;'"}));
  EXPECT_EQ(script.rest, "SELECT 4");
}

TEST(Statements, EmptyOnesAreLeftOut) {
  const Script script = cut_at_semicolons(";; -- nothing\n ; /* nothing */");
  EXPECT_EQ(script.statements, Texts());
  EXPECT_EQ(script.rest, "");
}

TEST(Statements, WhatIsNotClosedIsTheRest) {
  EXPECT_EQ(cut_at_semicolons("SELECT 'a; b").rest, "SELECT 'a; b");
  EXPECT_EQ(cut_at_semicolons("SELECT 1 /* ; ").rest, "SELECT 1 /* ;");
}

}  // namespace
}  // namespace llmprof::query
