#include <gtest/gtest.h>

#include <string>

#include "analysis/naming/short_name.h"

namespace llmprof::analysis {
namespace {

TEST(CanonicalName, IsOneForAllSpellings) {
  const std::string expected =
      "at::native::vectorized_elementwise_kernel<8, "
      "at::native::silu_kernel::{lambda(c10::BFloat16)}"
      ", std::array<char*, 2>>";
  EXPECT_EQ(canonical_kernel_name(
                "void at::native::vectorized_elementwise_kernel<(int)8, at::native::<unnamed>::"
                "silu_kernel(at::TensorIteratorBase &)::[lambda() (instance 1)]::operator ()() "
                "const::[lambda() (instance 6)]::operator ()() const::[lambda(c10::BFloat16) "
                "(instance 1)], std::array<char *, (unsigned long)2>>(int, T2, T3)"),
            expected);
  EXPECT_EQ(canonical_kernel_name(
                "void at::native::vectorized_elementwise_kernel<8, at::native::(anonymous "
                "namespace)::silu_kernel(at::TensorIteratorBase&)::{lambda()#1}::operator()() "
                "const::{lambda()#6}::operator()() const::{lambda(c10::BFloat16)#1}, "
                "std::array<char*, 2ul> >(int, std::array<char*, 2ul>)"),
            expected);
}

TEST(CanonicalName, DropsReturnTypeAndParameters) {
  EXPECT_EQ(canonical_kernel_name("saxpy(double *, double, int)"), "saxpy");
  EXPECT_EQ(canonical_kernel_name("std::enable_if<!T7, void>::type internal::gemvx::kernel<int, "
                                  "(bool)1>(T13)"),
            "internal::gemvx::kernel<int, true>");
  EXPECT_EQ(canonical_kernel_name("unsigned int f<4u>(unsigned int)"), "f<4>");
  EXPECT_EQ(canonical_kernel_name("  triton_poi_fused_0 "), "triton_poi_fused_0");
}

TEST(CanonicalName, KeepsWhatItCannotRead) {
  EXPECT_EQ(canonical_kernel_name(""), "");
  EXPECT_EQ(canonical_kernel_name("Memcpy HtoD (Pageable -> Device)"),
            "Memcpy HtoD (Pageable -> Device)");
  EXPECT_EQ(canonical_kernel_name("(("), "((");
  const std::string unreadable = "_ZN2at6native9my_kernelIQ";
  EXPECT_EQ(canonical_kernel_name(unreadable), "at::native::my_kernel<IQ>");
}

// Quadratic time would take hours.
TEST(CanonicalName, HostileNamesOfAMegabyteAreCut) {
  for (const char* unit :
       {"(", "<", "{lambda(", "a::", "(int)4", "<unnamed>", "[lambda() (instance ", "operator()",
        "((((::", "const ", ">", "void a(", "{", "_Z"}) {
    std::string name = "f<";
    while (name.size() < (1U << 20U)) name += unit;
    const std::string canonical = canonical_kernel_name(name);
    EXPECT_LE(canonical.size(), 2 * kKernelNameHead) << unit;
    EXPECT_LE(own_identifier(canonical).size(), 2 * kKernelNameHead) << unit;
  }
}

TEST(OwnIdentifier, IsTheFunctionItself) {
  EXPECT_EQ(own_identifier("a::b<c::d<1>>"), "b");
  EXPECT_EQ(own_identifier("a::sum<float>::operator()::{lambda(int)}"), "sum");
  EXPECT_EQ(own_identifier("kernel"), "kernel");
  EXPECT_EQ(own_identifier(""), "");
}

TEST(SplitTemplate, FindsArgumentsAtTheTop) {
  const TemplateName parts = split_template("a::b<1, c<2, 3>, d::{lambda(int, x)}>::tail");
  EXPECT_EQ(parts.path, "a::b");
  EXPECT_EQ(parts.tail, "::tail");
  ASSERT_EQ(parts.args.size(), 3U);
  EXPECT_EQ(parts.args[1], "c<2, 3>");
  EXPECT_EQ(parts.args[2], "d::{lambda(int, x)}");
}

TEST(SpokenType, KnowsTheLibrariesSpellings) {
  EXPECT_EQ(spoken_type("c10::BFloat16"), "bf16");
  EXPECT_EQ(spoken_type("__nv_bfloat16"), "bf16");
  EXPECT_EQ(spoken_type("cutlass::half_t"), "f16");
  EXPECT_EQ(spoken_type("float*"), "f32");
  EXPECT_EQ(spoken_type("at::native::OpaqueType<2>"), "2-byte");
  EXPECT_EQ(spoken_type("__nv_fp8_e4m3"), "fp8 e4m3");
  EXPECT_EQ(spoken_type("unsigned char"), "u8");
  EXPECT_EQ(spoken_type("flash::Traits"), "");
  EXPECT_EQ(first_spoken_type("f<128, x<int, cutlass::bfloat16_t>>"), "bf16");
  EXPECT_EQ(first_spoken_type("float"), "");
}

TEST(FusedOperations, AreSplitAtKnownWords) {
  const FusedOperators operators = {{{"_to_copy", "cast"}, {"index_put", "index put"}}, {}};
  const auto operations = [&](std::string_view name) {
    return fused_operations(name, KernelClass::reduction, operators, 34);
  };
  EXPECT_EQ(operations("triton_red_fused__to_copy_add_index_put_mean_3"),
            "cast, add, index put, mean");
  EXPECT_EQ(operations("triton_poi_fused_0"), "unnamed operations");
  EXPECT_EQ(operations("triton_poi"), "unnamed operations");
  EXPECT_EQ(operations("triton_poi_fused____"), "unnamed operations");
}

TEST(NameTemplate, LeavesEmptyItemsOut) {
  const FusedOperators operators;
  const auto expand = [&](std::string_view text, std::vector<std::string_view> captures) {
    return NameTemplate::parse(text, 3)->expand({"kernel", captures, operators});
  };
  EXPECT_EQ(expand("a ({1}, {2}, {3})", {"", "x", "", "z"}), "a (x, z)");
  EXPECT_EQ(expand("a ({1}, {2})", {"", "", "y"}), "a (y)");
  EXPECT_EQ(expand("a ({1}, {2})", {"", "", ""}), "a");
  EXPECT_EQ(expand("a {1} b ({2})", {"", "", ""}), "a b");
  EXPECT_EQ(expand("{1}", {"", ""}), "kernel");
  EXPECT_EQ(expand("{1:list}", {"", "_coopA_bias"}), "coopA, bias");
}

TEST(NameTemplate, MistakesAreSaid) {
  EXPECT_NE(NameTemplate::parse("{4}", 3).error().message.find("3 group"), std::string::npos);
  EXPECT_NE(NameTemplate::parse("{dtpye}", 0).error().message.find("'dtype'"), std::string::npos);
  EXPECT_NE(NameTemplate::parse("{1:lowr}", 1).error().message.find("'lower'"), std::string::npos);
  EXPECT_FALSE(NameTemplate::parse("{1", 1));
}

TEST(WordsOfIdentifier, SeparatesWordsThatAreWrittenTogether) {
  EXPECT_EQ(words_of_identifier("RopeFromCacheKernel"), "Rope_From_Cache_Kernel");
  EXPECT_EQ(words_of_identifier("CastBf16Kernel"), "Cast_Bf16_Kernel");
  EXPECT_EQ(words_of_identifier("RMSNormKernel"), "RMS_Norm_Kernel");
  EXPECT_EQ(words_of_identifier("fused_add"), "fused_add");
  EXPECT_EQ(words_of_identifier(""), "");
}

}  // namespace
}  // namespace llmprof::analysis
