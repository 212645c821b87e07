#include "llm/cost.h"

namespace llmprof {

double PassCost::flops() const {
  double sum = 0;
  for (const CostPart& part : parts) sum += part.flops;
  return sum;
}

double PassCost::bytes() const {
  double sum = 0;
  for (const CostPart& part : parts) sum += part.weight_bytes + part.kv_bytes;
  return sum;
}

}  // namespace llmprof
