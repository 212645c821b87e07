#include "planned_failures.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>
#include <string>

namespace llmprof::fake {
namespace {

struct Plan {
  int code = 0;
  int from_call = 1;
  int calls = 0;
};

std::map<std::string, Plan> read_plans() {
  std::map<std::string, Plan> plans;
  const char* text = std::getenv("FAKE_CUPTI_FAIL");
  std::istringstream list(text != nullptr ? text : "");
  for (std::string entry; std::getline(list, entry, ',');) {
    std::istringstream parts(entry);
    std::string name;
    std::string code;
    std::string from;
    std::getline(parts, name, ':');
    std::getline(parts, code, ':');
    std::getline(parts, from, ':');
    plans[name] = Plan{std::atoi(code.c_str()), from.empty() ? 1 : std::atoi(from.c_str())};
  }
  return plans;
}

}  // namespace

CUptiResult planned_failure(const char* name) {
  static std::mutex mutex;
  static auto* const plans = new std::map<std::string, Plan>(read_plans());
  const std::scoped_lock lock(mutex);
  const auto place = plans->find(name);
  if (place == plans->end()) return CUPTI_SUCCESS;
  Plan& plan = place->second;
  return ++plan.calls >= plan.from_call ? static_cast<CUptiResult>(plan.code) : CUPTI_SUCCESS;
}

}  // namespace llmprof::fake
