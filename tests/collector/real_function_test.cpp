#include "collector/launches/real_function.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

namespace llmprof::collector {
namespace {

// A function of the C library stands for one of CUDA's runtime.
constexpr const char* kName = "strtol";

uintptr_t address(const void* function) { return reinterpret_cast<uintptr_t>(function); }

void* at(uintptr_t place) { return reinterpret_cast<void*>(place); }

void* in_c_library(const char* name) { return dlsym(RTLD_DEFAULT, name); }

TEST(RealFunction, AllCallersInOneLibraryShareOneLookup) {
  RealFunction real(kName);
  const uintptr_t first = address(in_c_library("qsort"));
  for (uintptr_t place = 0; place < 5000; ++place) {
    ASSERT_EQ(real.seen_from(at(first + place)), in_c_library(kName));
  }
  EXPECT_EQ(real.known_libraries(), 1);
}

TEST(RealFunction, EachLibraryIsLookedUp) {
  RealFunction real(kName);
  const void* in_math = dlsym(RTLD_DEFAULT, "lgamma");
  ASSERT_NE(in_math, nullptr);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(real.seen_from(in_c_library("qsort")), in_c_library(kName));
    EXPECT_EQ(real.seen_from(in_math), in_c_library(kName));
  }
  EXPECT_EQ(real.known_libraries(), 2);
}

TEST(RealFunction, CodeOutsideLibrariesIsServedButNotRemembered) {
  RealFunction real(kName);
  std::vector<char> generated_code(4096);
  EXPECT_EQ(real.seen_from(generated_code.data()), in_c_library(kName));
  EXPECT_EQ(real.known_libraries(), 0);
}

TEST(RealFunction, AMissingFunctionIsLookedUpAgain) {
  RealFunction real("cudaFunctionOfNoRuntime");
  EXPECT_EQ(real.seen_from(in_c_library("qsort")), nullptr);
  EXPECT_EQ(real.known_libraries(), 0);
}

TEST(LibraryFunctions, AnswersByRange) {
  LibraryFunctions functions;
  EXPECT_EQ(functions.of(1000), nullptr);
  ASSERT_TRUE(functions.remember(1000, 2000, at(1)));
  ASSERT_TRUE(functions.remember(5000, 6000, at(2)));
  EXPECT_EQ(functions.of(999), nullptr);
  EXPECT_EQ(functions.of(1000), at(1));
  EXPECT_EQ(functions.of(1999), at(1));
  EXPECT_EQ(functions.of(2000), nullptr);
  EXPECT_EQ(functions.of(5999), at(2));
  EXPECT_EQ(functions.of(6000), nullptr);
}

TEST(LibraryFunctions, RefusesLibrariesBeyondItsCapacity) {
  LibraryFunctions functions;
  for (uintptr_t i = 1; i <= LibraryFunctions::kLibraries; ++i) {
    ASSERT_TRUE(functions.remember(i * 1000, i * 1000 + 1000, at(i)));
  }
  EXPECT_FALSE(functions.remember(1, 2, at(9)));
  EXPECT_EQ(functions.of(1), nullptr);
  EXPECT_EQ(functions.of(LibraryFunctions::kLibraries * 1000), at(LibraryFunctions::kLibraries));
}

TEST(LibraryFunctions, SeveralThreadsAddAndLookUpConcurrently) {
  LibraryFunctions functions;
  constexpr uintptr_t kEach = LibraryFunctions::kLibraries / 4;
  std::vector<std::thread> threads;
  for (uintptr_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&functions, thread] {
      for (uintptr_t i = 1; i <= kEach; ++i) {
        const uintptr_t begin = (thread * kEach + i) * 1000;
        EXPECT_TRUE(functions.remember(begin, begin + 1000, at(begin)));
        EXPECT_EQ(functions.of(begin + 500), at(begin));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(functions.size(), LibraryFunctions::kLibraries);
}

}  // namespace
}  // namespace llmprof::collector
