#include "query/model/value.h"

#include <cmath>

namespace llmprof::query {
namespace {

int class_of(const Value& value) {
  if (value.kind == Value::Kind::null) return 0;
  return value.kind == Value::Kind::text ? 2 : 1;
}

// -1, 0 or 1. A double cannot hold every integer: whole parts are compared as integers.
int order(int64_t integer, double real) {
  constexpr double kBeyond = 9223372036854775808.0;
  if (std::isnan(real) || real < -kBeyond) return 1;
  if (real >= kBeyond) return -1;
  const auto whole = static_cast<int64_t>(real);
  if (integer != whole) return integer < whole ? -1 : 1;
  const double rest = real - static_cast<double>(whole);
  return rest > 0 ? -1 : (rest < 0 ? 1 : 0);
}

int order_of_numbers(const Value& a, const Value& b) {
  const bool a_real = a.kind == Value::Kind::real;
  const bool b_real = b.kind == Value::Kind::real;
  if (a_real && b_real) return a.real < b.real ? -1 : (b.real < a.real ? 1 : 0);
  if (a_real) return -order(b.integer, a.real);
  if (b_real) return order(a.integer, b.real);
  return a.integer < b.integer ? -1 : (b.integer < a.integer ? 1 : 0);
}

int order(const Value& a, const Value& b) {
  if (const int classes = class_of(a) - class_of(b); classes != 0) return classes;
  if (a.kind == Value::Kind::null) return 0;
  return a.kind == Value::Kind::text ? a.text.compare(b.text) : order_of_numbers(a, b);
}

}  // namespace

bool precedes(const Value& a, const Value& b) { return order(a, b) < 0; }
bool same(const Value& a, const Value& b) { return order(a, b) == 0; }

}  // namespace llmprof::query
