#pragma once

namespace llmprof {

// Whether the characters of a JSON text, read one by one, are within a string: between quotes that
// are not escaped.
class JsonString {
 public:
  void begin() { open_ = true; }
  [[nodiscard]] bool open() const { return open_; }

  // Consumes the next character if it belongs to the open string, including the closing quote,
  // which closes it.
  bool takes(char c) {
    if (!open_) return false;
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      open_ = false;
    }
    return true;
  }

 private:
  bool open_ = false;
  bool escaped_ = false;
};

}  // namespace llmprof
