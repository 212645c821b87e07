#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <new>

#include "cpu_llm/program.h"
#include "cpu_llm_tp/mpi_ranks.h"

namespace cpu_llm {
namespace {

// One of the ranks says it.
int end(const Ending& ending, const Ranks& ranks) {
  if (ranks.rank() == 0) {
    fmt::print(ending.exit_code == 0 ? stdout : stderr, "{}", ending.text);
  }
  return ending.exit_code;
}

}  // namespace
}  // namespace cpu_llm

int main(int count, char** values) {
  cpu_llm::MpiRanks ranks(&count, &values);
  try {
    const auto read = cpu_llm::read_arguments(count, values, ranks.size());
    if (const auto* ending = std::get_if<cpu_llm::Ending>(&read)) {
      return cpu_llm::end(*ending, ranks);
    }
    return cpu_llm::run_program(std::get<cpu_llm::Arguments>(read), &ranks);
  } catch (const std::bad_alloc&) {
    std::fputs("cpu_llm_tp: not enough memory; use fewer --layers or a smaller --batch\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cpu_llm_tp: %s\n", error.what());
  }
  cpu_llm::MpiRanks::abort(cpu_llm::kFailed);
}
