#include "compare/stages/causes.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace llmprof::compare {
namespace {

// The classes of what was there before, else of what is there now: "norm + elementwise".
std::string classes_of(const KernelChange& change) {
  const auto& kernels = change.base_kernels.empty() ? change.now_kernels : change.base_kernels;
  std::vector<std::string> names;
  for (const ChangedKernel& kernel : kernels) {
    if (std::find(names.begin(), names.end(), kernel.kernel_class) == names.end()) {
      names.push_back(kernel.kernel_class);
    }
  }
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " + ") + name;
  return text;
}

double calls_of(const std::vector<ChangedKernel>& kernels) {
  double calls = 0;
  for (const ChangedKernel& kernel : kernels) calls += kernel.calls;
  return calls;
}

// What as many launches more or fewer of the same kernel come to, each as long as before.
int64_t of_launches(const KernelChange& change) {
  const double base = calls_of(change.base_kernels);
  const double more = calls_of(change.now_kernels) - base;
  if (change.change != "matched" || base <= 0) return 0;
  return std::llround(static_cast<double>(change.base.value) * more / base);
}

Cause& cause_of(std::string_view kind, const std::string& subject, std::vector<Cause>& causes) {
  const auto known = std::find_if(causes.begin(), causes.end(), [&](const Cause& cause) {
    return cause.kind == kind && cause.subject == subject;
  });
  if (known != causes.end()) return *known;
  Cause& cause = causes.emplace_back();
  cause.kind = kind;
  cause.subject = subject;
  return cause;
}

}  // namespace

void find_causes(StageDiff& diff) {
  std::set<std::string> classes;
  for (const KernelChange& change : diff.kernels) {
    const std::string kind = change.change == "matched" ? "same_kernels" : change.change;
    const int64_t launches = of_launches(change);
    Cause& cause = cause_of(kind, classes_of(change), diff.causes);
    cause.base_kernels += change.base_kernels.size();
    cause.now_kernels += change.now_kernels.size();
    cause.difference.value += change.difference.value - launches;
    if (launches != 0) {
      cause_of("launches", classes_of(change), diff.causes).difference.value += launches;
    }
    for (const auto* kernels : {&change.base_kernels, &change.now_kernels}) {
      for (const ChangedKernel& kernel : *kernels) classes.insert(kernel.kernel_class);
    }
  }
  // Budgets charge each moment once: to the class of one of the kernels that run then.
  int64_t of_kernels = 0;
  for (const PartChange& part : diff.budget) {
    if (classes.contains(part.part) || part.part == kKernelsRunning) {
      of_kernels += part.difference.value;
    } else {
      Cause& cause = cause_of(part.idle ? "idle" : "other_parts", part.part, diff.causes);
      cause.difference.value += part.difference.value;
    }
  }
  if (diff.budget.empty()) return;
  diff.overlap = {of_kernels - diff.kernel_difference.value};
  if (diff.overlap.value != 0) {
    Cause& cause = cause_of("overlap", "", diff.causes);
    cause.subject.reset();
    cause.difference = diff.overlap;
  }
}

}  // namespace llmprof::compare
