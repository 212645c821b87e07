#pragma once

#include <exception>
#include <type_traits>
#include <utility>

#include "base/error.h"

namespace llmprof {

// An error thrown by code in which every error ends the work. It never leaves a module: `attempt`,
// at the module's boundary, turns it into a Result.
class Failure : public std::exception {
 public:
  explicit Failure(Error error) : error_(std::move(error)) {}
  [[nodiscard]] const Error& error() const { return error_; }
  [[nodiscard]] const char* what() const noexcept override { return error_.message.c_str(); }

 private:
  Error error_;
};

[[noreturn]] inline void give_up(ErrorKind kind, std::string message) {
  throw Failure({kind, std::move(message)});
}

// The value, without which the work cannot continue.
template <class T>
T needed(Result<T> result) {
  if (!result) throw Failure(std::move(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// The result of `work`, or the error that ended it.
template <class Work>
Result<std::invoke_result_t<Work>> attempt(Work&& work) {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Work>>) {
      std::forward<Work>(work)();
      return {};
    } else {
      return std::forward<Work>(work)();
    }
  } catch (const Failure& failure) {
    return fail_with(failure.error());
  }
}

}  // namespace llmprof
