#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llmprof {

enum class Severity : uint8_t { info, warning, error };

// One defect of the input, with its count. `code` is stable, for scripts; `message` is for people
// and says what to do next if something can be done.
struct Diagnostic {
  Severity severity = Severity::info;
  std::string code;
  std::string message;
  uint64_t count = 1;

  void fields(auto& field) const {
    field("severity", severity, "how serious it is");
    field("code", code, "stable code, for scripts");
    field("message", message, "for people, with what to do next");
    field("count", count, "number of occurrences");
  }
};

// Adding the same code and message again increases its count: a million bad rows become one line.
class Diagnostics {
 public:
  void add(Severity severity, std::string_view code, std::string_view message, uint64_t count = 1);
  void info(std::string_view code, std::string_view message, uint64_t count = 1) {
    add(Severity::info, code, message, count);
  }
  void warn(std::string_view code, std::string_view message, uint64_t count = 1) {
    add(Severity::warning, code, message, count);
  }
  void error(std::string_view code, std::string_view message, uint64_t count = 1) {
    add(Severity::error, code, message, count);
  }
  void merge(const Diagnostics& other);

  [[nodiscard]] const std::vector<Diagnostic>& items() const { return items_; }
  [[nodiscard]] bool has(std::string_view code) const;

 private:
  std::vector<Diagnostic> items_;
};

}  // namespace llmprof
