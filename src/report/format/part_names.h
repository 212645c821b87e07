#pragma once

#include <string>
#include <string_view>

namespace llmprof::report {

// A part of the budget, a class of kernels or the basis of a bound as readers know it; profile.json
// keeps the words of its contract ("quantise", "idle: synchronisation").
std::string_view shown_name(std::string_view part);

// The same for people who write no kernels: "matrix products".
std::string_view plain_part_name(std::string_view part);

// Why a GPU had nothing to do in that part, as a sentence; empty of parts that are work.
std::string_view idle_meaning(std::string_view part);

}  // namespace llmprof::report
