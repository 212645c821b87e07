#pragma once

#include "cpu_llm/ranks.h"

namespace cpu_llm {

// The processes that mpirun started, or this one alone. One object per process, for its whole life.
class MpiRanks : public Ranks {
 public:
  MpiRanks(int* count, char*** values);
  ~MpiRanks() override;

  [[nodiscard]] size_t rank() const override { return rank_; }
  [[nodiscard]] size_t size() const override { return size_; }
  void sum(float* values, size_t count) override;
  void gather(const float* own, size_t rows, size_t width, float* all) override;

  // Ends all ranks: the others would wait for this one for ever.
  [[noreturn]] static void abort(int exit_code);

 private:
  size_t rank_ = 0;
  size_t size_ = 1;
};

}  // namespace cpu_llm
