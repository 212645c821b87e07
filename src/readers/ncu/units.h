#pragma once

#include <string>
#include <string_view>

namespace llmprof::readers {

// A unit as ncu prints it, in terms of a base unit: value * scale is in `unit`.
struct NcuUnit {
  std::string unit;
  double scale = 1;
};

// ncu picks prefixes per file and per kernel ("us", "Kbyte", "Ghz") and renamed units over the
// years ("nsecond", "cycle/nsecond"); values can be summed only in one base unit: ns, byte, hz,
// byte/s, byte/block, ... Prefixes are powers of 1000, as ncu means them. Below a stroke time is
// in seconds, and cycle/s is hz. Everything else ("%", "inst", "register/thread") stays.
NcuUnit ncu_base_unit(std::string_view printed);

}  // namespace llmprof::readers
