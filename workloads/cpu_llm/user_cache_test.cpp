#include "cpu_llm/user_cache.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace llmprof {
namespace {

// Sets a variable for one test; null takes it away.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const char* value) {
    if (value == nullptr) {
      unsetenv(name_);
    } else {
      setenv(name_, value, 1);
    }
  }
  const char* name_;
  std::optional<std::string> before_;
};

TEST(UserCache, IsWhereTheUserKeepsCaches) {
  const Variable home("HOME", "/home/me");
  {
    const Variable cache("XDG_CACHE_HOME", "/scratch/cache");
    EXPECT_EQ(user_cache_folder(), "/scratch/cache/llmprof");
  }
  for (const char* none : {static_cast<const char*>(nullptr), "", "relative"}) {
    const Variable cache("XDG_CACHE_HOME", none);
    EXPECT_EQ(user_cache_folder(), "/home/me/.cache/llmprof");
  }
}

TEST(UserCache, IsNowhereWithoutAHome) {
  const Variable cache("XDG_CACHE_HOME", nullptr);
  const Variable home("HOME", nullptr);
  EXPECT_FALSE(user_cache_folder());
}

}  // namespace
}  // namespace llmprof
