#include "analysis/naming/kernel_key.h"

#include <gtest/gtest.h>

namespace llmprof::analysis {
namespace {

// The same kernel as nsys, ncu and PyTorch spell it.
TEST(KernelKey, IsTheSameHoweverSpelled) {
  const std::string nsys = kernel_key(
      "void at::native::vectorized_elementwise_kernel<(int)8, at::native::<unnamed>::silu_kernel("
      "at::TensorIteratorBase &)::[lambda() (instance 1)]::operator ()() const::[lambda() "
      "(instance "
      "6)]::operator ()() const::[lambda(c10::BFloat16) (instance 1)], std::array<char *, "
      "(unsigned "
      "long)2>>(int, T2, T3)");
  const std::string ncu = kernel_key(
      "void at::vectorized_elementwise_kernel<8, at::<unnamed>::silu_kernel(at::TensorIteratorBase "
      "&)::[lambda() (instance 1)]::operator ()() const::[lambda() (instance 6)]::operator ()() "
      "const::[lambda(c10::BFloat16) (instance 1)], std::array<char *, 2>>(int, T2, T3)");
  const std::string torch = kernel_key(
      "void at::native::vectorized_elementwise_kernel<8, at::native::(anonymous namespace)::"
      "silu_kernel(at::TensorIteratorBase&)::{lambda()#1}::operator()() const::{lambda()#6}::"
      "operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2>>(int, at::native::x)");
  EXPECT_EQ(nsys, ncu);
  EXPECT_EQ(nsys, torch);
}

TEST(KernelKey, TellsDifferentKernelsApart) {
  EXPECT_NE(kernel_key("void f<(int)4>(int)"), kernel_key("void f<(int)8>(int)"));
  EXPECT_NE(kernel_key("a::[lambda(float) (instance 1)]"),
            kernel_key("a::[lambda(float) (instance 2)]"));
  EXPECT_NE(kernel_key("nvjet_sm90_tst_64x8"), kernel_key("nvjet_sm90_tst_64x16"));
}

TEST(KernelKey, TakesMangledNames) {
  EXPECT_EQ(kernel_key("_ZN2at6native3addIfEEvPT_"),
            kernel_key("void at::native::add<float>(T1 *)"));
}

TEST(KernelKey, SurvivesOddNames) {
  for (const char* name :
       {"", "(", ")", "::", "void ", "[lambda", "[lambda(instance 1", "a::", "(int)"}) {
    kernel_key(name);
  }
  EXPECT_LE(kernel_key(std::string(1 << 20, 'x')).size(), 1U << 16U);
  EXPECT_LE(kernel_key(std::string(1 << 20, '(')).size(), 1U << 16U);
}

}  // namespace
}  // namespace llmprof::analysis
