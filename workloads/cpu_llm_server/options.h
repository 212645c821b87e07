#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "cpu_llm_server/engine.h"

namespace cpu_llm_server {

struct ServerOptions {
  std::string model = "cpu_llm_server";
  uint16_t port = 8000;
  std::string journal;  // file; empty: none
  EngineOptions engine;
};

// The program exits immediately, with this text and exit code.
struct Ending {
  std::string text;
  int exit_code = 0;
};

std::variant<ServerOptions, Ending> read_options(int count, const char* const* values);

}  // namespace cpu_llm_server
