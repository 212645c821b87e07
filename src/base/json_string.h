#pragma once

namespace llmprof {

// Whether the characters of a JSON text, taken one by one, are within a string: between quotes,
// with escaped quotes respected.
class JsonString {
 public:
  void begin() { open_ = true; }
  [[nodiscard]] bool open() const { return open_; }

  // Consumes the next character if it belongs to the open string; the closing quote does, and
  // closes it.
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
