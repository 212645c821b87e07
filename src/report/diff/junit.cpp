#include <fmt/format.h>

#include "report/diff/diff_report.h"
#include "report/writers/writers.h"

namespace llmprof::report {
namespace {

struct Counts {
  size_t tests = 0;
  size_t failures = 0;
  size_t errors = 0;
};

void add_case(std::string_view name, compare::Verdict outcome, std::string_view text,
              std::string& cases, Counts& counts) {
  ++counts.tests;
  cases += fmt::format("    <testcase classname=\"llmprof.diff\" name=\"{}\"", xml_text(name));
  if (outcome == compare::Verdict::pass) {
    cases += fmt::format(">\n      <system-out>{}</system-out>\n    </testcase>\n", xml_text(text));
    return;
  }
  const bool failed = outcome == compare::Verdict::fail;
  ++(failed ? counts.failures : counts.errors);
  cases += fmt::format(">\n      <{0} message=\"{1}\" type=\"{2}\"/>\n    </testcase>\n",
                       failed ? "failure" : "error", xml_text(text), to_string(outcome));
}

}  // namespace

std::string diff_junit(const compare::Diff& diff) {
  std::string cases;
  Counts counts;
  std::string blocking;
  for (const compare::Aspect& aspect : diff.aspects) {
    if (aspect.blocking) blocking += (blocking.empty() ? "" : " ") + aspect.text;
  }
  add_case("comparable",
           blocking.empty() ? compare::Verdict::pass : compare::Verdict::not_comparable, blocking,
           cases, counts);
  for (const compare::GateResult& gate : diff.gates) {
    const std::string name =
        gate.stage.empty() ? gate.rule : fmt::format("{} ({})", gate.rule, gate.stage);
    add_case(name, gate.outcome, gate.text, cases, counts);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites tests=\"{0}\" failures=\"{1}\" errors=\"{2}\">\n"
      "  <testsuite name=\"llmprof diff\" tests=\"{0}\" failures=\"{1}\" errors=\"{2}\">\n"
      "{3}  </testsuite>\n</testsuites>\n",
      counts.tests, counts.failures, counts.errors, cases);
}

}  // namespace llmprof::report
