#include "capture/ncu/ncu_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <vector>

#include "base/csv.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::capture {
namespace {

// Matches exactly this demangled name.
std::string kernel_name_regex(std::string_view name) {
  return "^" + kernel_name_pattern(name) + "$";
}

// ECMAScript agrees with ncu's Perl syntax on everything that the filter uses. Like ncu, it
// searches.
bool matches(const std::string& regex, const std::string& name) {
  return std::regex_search(name, std::regex(regex));
}

std::vector<std::string> column(const std::filesystem::path& file, std::string_view title) {
  const std::string text = testing::file_bytes(file);
  CsvRows rows(text);
  std::vector<std::string_view> fields;
  std::vector<std::string> values;
  size_t place = 0;
  for (bool header = true; rows.next(fields); header = false) {
    if (header) {
      place = static_cast<size_t>(std::find(fields.begin(), fields.end(), title) - fields.begin());
      EXPECT_LT(place, fields.size());
    } else if (place < fields.size() && !fields[place].empty()) {
      values.emplace_back(fields[place]);
    }
  }
  return values;
}

TEST(KernelNameRegex, MatchesItsNameAndNoOther) {
  const std::vector<std::string> names = {
      "bar",
      "bar2",
      "bar(float *)",
      "void foo<(int)3, float>(T2 *, unsigned int)",
      "void foo<(int)33, float>(T2 *, unsigned int)",
      "void foo<(int)3, float>(T2 *, unsigned int)::[lambda() (instance 1)]",
      "a::b<c[4], d{1}>::operator ()(e...) const::$_0|^\\",
      "void k<(bool)1, (unsigned long)2, (int)-2>()",
      "void k<(bool)1, (unsigned long)2, (int)2>()",
  };
  for (const std::string& wanted : names) {
    for (const std::string& name : names) {
      EXPECT_EQ(matches(kernel_name_regex(wanted), name), wanted == name)
          << kernel_name_regex(wanted) << " on " << name;
      EXPECT_EQ(same_kernel_name(wanted, name), wanted == name) << wanted << " and " << name;
    }
  }
}

TEST(KernelNameRegex, MatchesOtherSpellingsOfTheSameName) {
  const std::vector<std::pair<std::string, std::string>> same = {
      {"void f<std::array<char *, 2>>(int)", "void f<std::array<char *, 2> >(int)"},
      {"void f<std::array<char *, 2> >(int)", "void f<std::array<char*,2>>(int)"},
      {"void f<(int)4, (unsigned long)2>(T1 &)", "void f<4, 2>(T1&)"},
      {"void f<4, 2>(T1&)", "void f<(int)4, (unsigned long)2>(T1 &)"},
      {"f(const unsigned int *)", "void f(const unsigned int*)"},
      {"void g::operator ()(int)", "void g::operator()(int)"},
  };
  for (const auto& [a, b] : same) {
    EXPECT_TRUE(matches(kernel_name_regex(a), b)) << kernel_name_regex(a) << " on " << b;
    EXPECT_TRUE(matches(kernel_name_regex(b), a)) << kernel_name_regex(b) << " on " << a;
    EXPECT_TRUE(same_kernel_name(a, b));
  }
  EXPECT_FALSE(matches(kernel_name_regex("void f<(int)4>()"), "void f<(bool)4>()"));
}

// One program on one H200, under nsys 2025.3.2 and under ncu 2025.3.1 with --rename-kernels off.
TEST(KernelNameRegex, MadeFromNsysNamesMatchesNcuNames) {
  const auto nsys = column(testing::test_data("h200-decoder/nsys_cuda_gpu_kern_sum.csv"), "Name");
  const auto ncu = column(testing::test_data("ncu/full_names_raw.csv"), "Kernel Name");
  ASSERT_EQ(nsys.size(), 42U);
  ASSERT_EQ(ncu.size(), 31U);
  size_t matched = 0;
  for (const std::string& name : nsys) {
    const std::regex regex(kernel_name_regex(name));
    matched += static_cast<size_t>(std::count_if(
        ncu.begin(), ncu.end(), [&](const std::string& n) { return std::regex_search(n, regex); }));
  }
  EXPECT_EQ(matched, ncu.size());
}

TEST(KernelNameRegex, TakesLongNames) {
  std::string name = "void cutlass::Kernel<";
  for (int i = 0; i < 500; ++i) name += "cute::tuple<cute::C<(int)" + std::to_string(i) + ">>, ";
  name += "int>(T1 *)";
  ASSERT_GT(name.size(), 10'000U);
  const std::string regex = kernel_name_regex(name);
  EXPECT_LT(regex.size(), 3 * name.size());
  EXPECT_TRUE(same_kernel_name(name, name));
}

TEST(NvtxInclude, SpellsDomainAndStyle) {
  EXPECT_EQ(nvtx_include_expression("LLM", "decode_all"), "LLM@decode_all/");
  EXPECT_EQ(nvtx_include_expression("", "prefill"), "prefill/");
  EXPECT_EQ(nvtx_include_expression("LLM", "prefill", NvtxRangeStyle::start_end), "LLM@prefill");
  EXPECT_EQ(nvtx_include_expression("", "LLM@a/b[1]"), R"(LLM\@a\/b\[1\]/)");
}

}  // namespace
}  // namespace llmprof::capture
