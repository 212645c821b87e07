#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace llmprof {

// The kinds of failure that callers of the program can react to; the value is the exit code.
enum class ErrorKind { internal = 1, usage = 2, input = 3, tool = 4 };

// A message names the file, the place, the cause and what to do next, in one or more lines.
struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;

  // Prepends the place: `within("trace.json")` gives "trace.json: message".
  [[nodiscard]] Error within(std::string_view place) const {
    return {kind, std::string(place) + ": " + message};
  }
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorKind kind, std::string message) {
  return tl::unexpected<Error>(Error{kind, std::move(message)});
}
inline tl::unexpected<Error> fail_input(std::string message) {
  return fail(ErrorKind::input, std::move(message));
}
inline tl::unexpected<Error> fail_with(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace llmprof
