#pragma once

#include <string>

#include "report/reasons/given.h"

namespace llmprof::report {

// One function per theme, each in a file of its own: the reason as a clause, without a capital
// letter and a full stop. Empty for kinds of other themes.
std::string utilization_words(profile::ReasonKind kind, const Given& given);
std::string basis_words(profile::ReasonKind kind, const Given& given);
std::string floor_rule_words(profile::ReasonKind kind, const Given& given);
std::string roofline_words(profile::ReasonKind kind, const Given& given);
std::string counter_words(profile::ReasonKind kind, const Given& given);
std::string operator_words(profile::ReasonKind kind, const Given& given);
std::string layer_words(profile::ReasonKind kind, const Given& given);
std::string step_time_words(profile::ReasonKind kind, const Given& given);
std::string host_words(profile::ReasonKind kind, const Given& given);
std::string job_reason_words(profile::ReasonKind kind, const Given& given);

}  // namespace llmprof::report
