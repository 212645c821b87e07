#include "readers/kineto/category.h"

#include <algorithm>
#include <array>

namespace llmprof::readers {
namespace {

struct Spelling {
  std::string_view text;
  KinetoCategory category;
};

using enum KinetoCategory;

constexpr std::array<Spelling, 22> kSpellings = {{
    {"kernel", kernel},
    {"cpu_op", cpu_operator},
    {"cuda_runtime", api_call},
    {"cuda_driver", api_call},
    {"python_function", python_function},
    {"gpu_memcpy", copy},
    {"gpu_memset", fill},
    {"user_annotation", annotation},
    {"gpu_user_annotation", gpu_annotation},
    {"Kernel", kernel},
    {"Operator", cpu_operator},
    {"cpu op", cpu_operator},
    {"Runtime", api_call},
    {"Memcpy", copy},
    {"Memset", fill},
    {"Python", python_function},
    {"overhead", known_but_unused},
    {"Trace", known_but_unused},
    {"cuda_sync", known_but_unused},
    {"cuda_profiler_range", known_but_unused},
    {"cpu_instant_event", known_but_unused},
    {"ac2g", known_but_unused},
}};

}  // namespace

KinetoCategory kineto_category(std::string_view text) {
  // Comparing text is a call, and this runs per event: sizes and first letters differ mostly.
  const auto* known = std::find_if(kSpellings.begin(), kSpellings.end(), [&](const Spelling& s) {
    return s.text.size() == text.size() && s.text.front() == text.front() && s.text == text;
  });
  return known == kSpellings.end() ? unknown : known->category;
}

}  // namespace llmprof::readers
