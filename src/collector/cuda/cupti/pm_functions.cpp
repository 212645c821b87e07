#include "collector/cuda/cupti/pm_functions.h"

#include "collector/cuda/cupti/cupti_library.h"

namespace llmprof::collector {
namespace {

constinit PmFunctions functions = {};

template <class Function>
bool find_pm_function(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(cupti_symbol(name));
  return function != nullptr;
}

}  // namespace

bool load_pm_functions() {
  bool all = true;
#define LLMPROF_FIND(field, name) all = find_pm_function(functions.field, #name) && all;
  LLMPROF_PM_FUNCTIONS(LLMPROF_FIND)
#undef LLMPROF_FIND
  return all;
}

const PmFunctions& pm() { return functions; }

}  // namespace llmprof::collector
