#include "base/demangle/demangle.h"

#include <cxxabi.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>

namespace llmprof {
namespace {

std::string by_libstdcxx(const std::string& mangled) {
  int status = 0;
  char* text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  std::string result = text == nullptr ? "(none)" : text;
  std::free(text);
  return result;
}

TEST(Demangle, AgreesWithLibstdcxx) {
  for (
      const char* mangled : {
          "_Z3fooi",
          "_Z1fv",
          "_ZN4vllm15rms_norm_kernelIN3c108BFloat16EEEvPT_PKS3_S6_fii",
          "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3"
          "EEEEviT0_T1_",
          "_ZN2at6native29vectorized_elementwise_kernelILi4EZNS0_51_GLOBAL__N__b1108092_12_"
          "PowKernel_cu_751192d7_2139629pow_tensor_scalar_kernel_implIffEEvRNS_18TensorIteratorBase"
          "ET0_EUlfE_St5arrayIPcLm2EEEEviS6_T1_",
          "_ZN8internal5gemvx6kernelIiiLb0EEENSt9enable_ifIXntT1_EvE4typeET_",
          "_ZN1AIiE1fIfJdcEEEvT_DpT0_",
          "_ZN1AC1ERKS_",
          "_ZN1AD0Ev",
          "_ZNK1AcvbEv",
          "_ZNK1AclEi",
          "_ZN1AplERKS_",
          "_Z1fPFivE",
          "_Z1fRA3_i",
          "_Z1fM1AFivE",
          // A later reference counts "int (X) const" as one type.
          "_Z1fM1AKFi1XEPS1_",
          "_Z1fILin5ELb1ELj3ELm4EEvv",
          "_Z1fIJEEvDpT_",
          "_Z1fOSt6vectorIiSaIiEE",
          "_ZZ1fvENKUlT_E0_clIiEEDaS_",
      }) {
    const auto ours = demangle(mangled);
    ASSERT_TRUE(ours) << mangled;
    EXPECT_EQ(*ours, by_libstdcxx(mangled)) << mangled;
  }
}

TEST(Demangle, NameOnlyLeavesReturnTypeAndParametersOut) {
  EXPECT_EQ(demangle("_ZN4vllm15rms_norm_kernelIN3c108BFloat16EEEvPT_PKS3_S6_fii",
                     DemangleExtent::name_only),
            "vllm::rms_norm_kernel<c10::BFloat16>");
}

TEST(Demangle, LongNamesThatLibstdcxxRefuses) {
  std::string mangled = "_Z1fI";
  for (int i = 0; i < 500; ++i) mangled += "N1a1bE";
  mangled += "Evv";
  EXPECT_EQ(by_libstdcxx(mangled), "(none)");
  const auto ours = demangle(mangled);
  ASSERT_TRUE(ours);
  EXPECT_TRUE(ours->starts_with("void f<a::b, a::b, "));
}

TEST(Demangle, RefusesWhatIsNotOne) {
  for (const char* text : {"",
                           "_",
                           "_Z",
                           "main",
                           "nvjet_sm90_tst",
                           "_Z0",
                           "_Z99999999999999999999a",
                           "_ZN",
                           "_ZN1",
                           "_ZNE",
                           "_Z1fI",
                           "_Z1fIE",
                           "_Z1fS_",
                           "_Z1fS9_",
                           "_ZTV1A",
                           "_Z1fDp",
                           "_Z1fDpT_",
                           "_Z1fXE",
                           "_ZZ",
                           "_ZZ1fE",
                           "_Z1fUl",
                           "_Z1fA_",
                           "_Z1fM",
                           "_Z1fF"}) {
    const auto ours = demangle(text);
    EXPECT_TRUE(!ours || !ours->empty()) << text;
  }
  EXPECT_FALSE(demangle("main"));
  EXPECT_FALSE(demangle("_Z"));
  EXPECT_FALSE(demangle("_Z1fI"));
}

// "S_" for 0, "S0_" for 1, ... "SZ_" for 36, "S10_" for 37.
std::string reference(size_t index) {
  const std::string_view digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string text;
  for (size_t left = index; left > 0; left = (left - 1) / 36) {
    text.insert(text.begin(), digits[(left - 1) % 36]);
    if (left <= 36) break;
  }
  return std::string("S").append(text).append("_");
}

// Each argument is b<x, x> of the previous one: 2^64 characters if written out.
TEST(Demangle, ExpandingNameIsRefusedAtOnce) {
  std::string name = "_Z1fI1a";
  size_t latest = 1;  // substitutions: f, a, then b and the first b<a, a>
  for (int i = 0; i < 64; ++i) {
    // 2^10 characters are still written out: the name itself is valid.
    if (i == 8) {
      EXPECT_TRUE(demangle(name + "Evv"));
    }
    const std::string last = reference(latest);
    name.append(i == 0 ? "1b" : reference(2)).append("I").append(last).append(last).append("E");
    latest += i == 0 ? 2U : 1U;
  }
  EXPECT_FALSE(demangle(name + "Evv"));
}

// Both keep libiberty, which c++filt and libstdc++ use, busy without output: twice as long for each
// level.
TEST(Demangle, NamesThatHangOtherDemanglersAreRefusedAtOnce) {
  constexpr size_t kLevels = 150;
  // A pack expansion without a pack; its pattern names the previous function type twice, and so on.
  std::string pattern = "F1aS0_E";
  for (size_t i = 0; i < kLevels; ++i) pattern = "F" + pattern + reference(i + 2) + "E";
  // A conversion operator to T<T<T<...>>>: only the end shows whether the arguments belong to the
  // type or to the operator.
  std::string conversion = "_ZN1Acv";
  for (size_t i = 0; i < kLevels; ++i) conversion += "T_I";
  conversion += "i" + std::string(kLevels, 'E') + "Ev";
  for (const std::string& name : {"_Z1fIDp" + pattern + "Evv", conversion}) {
    EXPECT_FALSE(demangle(name));
  }
}

// The same with packs, each of whose elements is the entire previous pack.
TEST(Demangle, ExpandingPacksStayBounded) {
  std::string name = "_Z1fIJ";
  name.append(200, 'i').append("EEv");
  for (int i = 0; i < 20; ++i) name += "DpFT_DpT_E";
  const auto ours = demangle(name);
  EXPECT_TRUE(!ours || ours->size() <= kLongestDemangledName);
}

TEST(Demangle, DeepNestingIsRefusedBeforeTheStackIs) {
  for (const char* step : {"P", "1aI", "F", "A1_", "M", "K", "Dp", "XL", "N1a1bI", "PFvP"}) {
    std::string name = "_Z1f";
    while (name.size() < 60000) name += step;
    EXPECT_FALSE(demangle(name)) << step;
  }
  std::string local = "_Z";
  while (local.size() < 60000) local += "Z";
  EXPECT_FALSE(demangle(local + "1fvE1g"));
}

TEST(Demangle, AMegabyteIsRefused) {
  EXPECT_FALSE(demangle(std::string("_Z").append(1 << 20, 'a')));
  EXPECT_FALSE(demangle(std::string("_Z1f").append(1 << 20, 'i')));
}

TEST(Demangle, RandomDamageNeverHangsOrCrashes) {
  const std::string good =
      "_ZN2at6native29vectorized_elementwise_kernelILi4EZNS0_51_GLOBAL__N__b1108092_12_"
      "PowKernel_cu_751192d7_2139629pow_tensor_scalar_kernel_implIffEEvRNS_18TensorIteratorBase"
      "ET0_EUlfE_St5arrayIPcLm2EEEEviS6_T1_";
  std::mt19937 random(7);
  const std::string alphabet = "_ZNSTIELXJKPROFADMUC0123456789abcdefilmnprstuvwxyz";
  for (int round = 0; round < 20000; ++round) {
    std::string name = good.substr(0, 4 + random() % (good.size() - 4));
    for (unsigned i = 0; i < 1 + random() % 6; ++i) {
      name[2 + random() % (name.size() - 2)] = alphabet[random() % alphabet.size()];
    }
    const auto ours = demangle(name);
    EXPECT_TRUE(!ours || ours->size() <= kLongestDemangledName) << name;
  }
}

}  // namespace
}  // namespace llmprof
