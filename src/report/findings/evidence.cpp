#include "report/findings/evidence.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/findings/per_unit.h"
#include "report/format/figures.h"

namespace llmprof::report {

using profile::Unit;

std::string counted_mean(double number, std::string_view one) {
  return fmt::format("{} {}", plain(number), plural_of(number == 1 ? 1 : 2, one));
}

bool Evidence::of_llm() const { return stage() != profile::kForwardStage; }

std::string Evidence::stage() const { return finding_.stage.value_or("the capture"); }

bool Evidence::has(std::string_view name) const {
  return profile::find_value(finding_.values, name) != nullptr;
}

bool Evidence::flag(std::string_view name) const {
  return profile::has_flag(finding_.values, name);
}

double Evidence::number(std::string_view name) const {
  return profile::find_number(finding_.values, name).value_or(0);
}

std::string Evidence::text(std::string_view name) const {
  return profile::find_text(finding_.values, name).value_or(std::string(kMissing));
}

std::optional<profile::Milliseconds> Evidence::time(std::string_view name) const {
  return profile::find_quantity<Unit::milliseconds>(finding_.values, name);
}

Figure Evidence::share(std::string_view name) const {
  return percent(profile::find_quantity<Unit::share>(finding_.values, name));
}

Figure Evidence::clock(std::string_view name) const {
  return report::clock(profile::find_quantity<Unit::hertz>(finding_.values, name));
}

std::vector<const profile::FindingValue*> Evidence::all(std::string_view name) const {
  std::vector<const profile::FindingValue*> found;
  for (const profile::FindingValue& value : finding_.values) {
    if (value.name == name) found.push_back(&value);
  }
  return found;
}

std::string Evidence::per_unit() const { return report::per_unit(finding_); }

std::string Evidence::saving() const {
  return fmt::format("up to {} ms {} ({} of the stage's wall time{})", ms(finding_.recoverable),
                     per_unit(), percent(finding_.share_of_wall),
                     flag(profile::kTracingIncluded) ? "; tracing overhead included" : "");
}

std::string Evidence::single_time(std::string_view name) const {
  return fmt::format("{} ms", ms(time(name)));
}

std::string Evidence::mean_time(std::string_view name) const {
  return fmt::format("{} ms", fine_ms(time(name)));
}

std::string Evidence::counted(std::string_view name, std::string_view one) const {
  return counted_mean(number(name), one);
}

std::string Evidence::longest_gap() const {
  if (!has("longest_gap")) return {};
  return fmt::format("; the longest gap is {}, host activity: {}", single_time("longest_gap"),
                     text("host"));
}

std::string Evidence::kernels_per_pass() const {
  const std::string pass = text("pass");
  return fmt::format("{} {}", counted("kernels_per_pass", "kernel"),
                     pass == finding_.unit ? per_unit() : "per " + pass);
}

std::string Evidence::kernel_counts() const {
  return fmt::format("{} of {} ms on average", kernels_per_pass(), exact_ms(time("mean_kernel")));
}

std::string Evidence::longest_kernels() const {
  const std::string per = per_unit();
  const std::string first = per.empty() ? "the longest: " : fmt::format("the longest {}: ", per);
  std::string words;
  for (const profile::FindingValue* kernel : all("kernel_time")) {
    const std::string name = kernel->text.value_or("");
    const auto calls = profile::find_number(finding_.values, "kernel_calls", name);
    words += fmt::format(
        "{}{} {} ms in {}", words.empty() ? first : ", ", name,
        ms(profile::find_quantity<Unit::milliseconds>(finding_.values, "kernel_time", name)),
        counted_mean(calls.value_or(0), "call"));
  }
  return words;
}

}  // namespace llmprof::report
