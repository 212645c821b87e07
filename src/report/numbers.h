#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/tables.h"

namespace llmprof {

// Exact to the nanosecond: 57331089 is "57.331089".
std::string exact_ms(Nanoseconds time);
// Six digits behind the point, rounded.
std::string rounded_ms(double nanoseconds);
// 0.1234 is "12.3 %".
std::string percent(double fraction);
// 41227 is "41,227".
std::string grouped(uint64_t number);
// "1 kernel", "4,465 kernels".
std::string counted(uint64_t number, std::string_view one, std::string_view many = "");

}  // namespace llmprof
