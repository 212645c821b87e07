#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <new>

#include "cpu_llm/program.h"

int main(int count, char** values) {
  try {
    const auto read = cpu_llm::read_arguments(count, values);
    if (const auto* ending = std::get_if<cpu_llm::Ending>(&read)) {
      fmt::print(ending->exit_code == 0 ? stdout : stderr, "{}", ending->text);
      return ending->exit_code;
    }
    return cpu_llm::run_program(std::get<cpu_llm::Arguments>(read));
  } catch (const std::bad_alloc&) {
    std::fputs("cpu_llm: not enough memory; use fewer --layers or a smaller --batch\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cpu_llm: %s\n", error.what());
  }
  return cpu_llm::kFailed;
}
