#include "profile/quantity.h"

namespace llmprof::profile {

std::string_view symbol(Unit unit) {
  switch (unit) {
    case Unit::milliseconds:
      return "ms";
    case Unit::share:
      return "fraction";
    case Unit::bytes:
      return "B";
    case Unit::flops:
      return "FLOP";
    case Unit::bytes_per_second:
      return "B/s";
    case Unit::flops_per_second:
      return "FLOP/s";
    case Unit::flops_per_byte:
      return "FLOP/B";
    case Unit::tokens_per_second:
      return "tokens/s";
    case Unit::hertz:
      return "Hz";
    case Unit::watts:
      return "W";
    case Unit::joules:
      return "J";
    case Unit::degrees_celsius:
      return "°C";
  }
  return "";
}

}  // namespace llmprof::profile
