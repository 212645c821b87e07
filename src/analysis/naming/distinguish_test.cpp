#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/naming/kernel_key.h"

namespace llmprof::analysis {
namespace {

std::vector<std::string> distinguished(const std::vector<std::string>& names,
                                       const std::string& short_name, bool of_one_tool = false) {
  std::vector<Namesake> namesakes;
  for (const std::string& name : names) {
    namesakes.push_back({name, short_name, kernel_key(name) + (of_one_tool ? name : "")});
  }
  distinguish(namesakes);
  std::vector<std::string> result;
  for (const Namesake& namesake : namesakes) result.push_back(namesake.short_name);
  return result;
}

TEST(TellApart, ByTheTemplateArgumentsThatDiffer) {
  EXPECT_EQ(
      distinguished({"void f<__half, float, 1, true>(int)", "void f<__half, __half, 1, true>(int)",
                     "void f<__half, __half, 1, false>(int)"},
                    "f (f16)"),
      (std::vector<std::string>{"f (f16) [f32, true]", "f (f16) [f16, true]",
                                "f (f16) [f16, false]"}));
}

TEST(TellApart, ByPartsOfPlainNames) {
  EXPECT_EQ(distinguished({"Cijk_MT32x32_K1_GRVWA8", "Cijk_MT32x32_K1_GRVWA4"}, "GEMM"),
            (std::vector<std::string>{"GEMM [GRVWA8]", "GEMM [GRVWA4]"}));
}

TEST(TellApart, ByANumberWhereWhatDiffersIsLong) {
  const std::string tail(40, 'x');
  EXPECT_EQ(distinguished({"b" + tail, "a" + tail}, "k"),
            (std::vector<std::string>{"k [variant 2]", "k [variant 1]"}));
  EXPECT_EQ(distinguished({"f<1>", "f<1, 2>"}, "k"),
            (std::vector<std::string>{"k [variant 2]", "k [variant 1]"}));
}

TEST(TellApart, SpellingsOfOneKernelStayOne) {
  EXPECT_EQ(
      distinguished({"void at::native::f<(int)4, float>(int)", "void at::f<4, float>(int)"}, "f"),
      (std::vector<std::string>{"f", "f"}));
}

TEST(TellApart, ByNamespacesAndParametersWhereOneToolSpelledThem) {
  EXPECT_EQ(distinguished({"void a::f<4>(int)", "void b::f<4>(int)"}, "f", true),
            (std::vector<std::string>{"f [a]", "f [b]"}));
  EXPECT_EQ(distinguished({"f(float*)", "f(double*)"}, "f", true),
            (std::vector<std::string>{"f [(float*)]", "f [(double*)]"}));
  EXPECT_EQ(distinguished({"_Z1fi", "_Z1fv"}, "f", true),
            (std::vector<std::string>{"f [(int)]", "f [()]"}));
  EXPECT_EQ(distinguished({"f<1>(int)", "f<1>(float)", "f<2>(int)"}, "f", true),
            (std::vector<std::string>{"f [1, (int)]", "f [1, (float)]", "f [2, (int)]"}));
}

TEST(TellApart, StaysShort) {
  for (const std::string& name : distinguished({"f<1, a>", "f<2, b>"}, std::string(60, 'n'))) {
    EXPECT_LE(name.size(), 62U) << name;  // an ellipsis has three bytes
  }
}

}  // namespace
}  // namespace llmprof::analysis
