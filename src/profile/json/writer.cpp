#include "profile/json/writer.h"

#include <charconv>
#include <cmath>

#include "profile/json/shape.h"

// Written by hand: a document of a million steps is written as it is visited, without a tree of it
// in memory first.
namespace llmprof::profile {
namespace json {
namespace {

constexpr size_t kIndent = 2;
constexpr size_t kLongestNumber = 32;

void append_hex(std::string& out, unsigned char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += "\\u00";
  out += kDigits[c >> 4U];
  out += kDigits[c & 0xFU];
}

void append_text(std::string& out, std::string_view text) {
  constexpr unsigned char kFirstPrintable = 0x20;
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < kFirstPrintable) {
      append_hex(out, static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

template <std::integral Number>
void append_integer(std::string& out, Number number) {
  std::array<char, kLongestNumber> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
  out.append(buffer.data(), end);
}

// The shortest digits that read back as the same number; always recognizable as no integer.
void append_double(std::string& out, double number) {
  constexpr double kSmallestFixed = 1e-4;
  constexpr double kLargestFixed = 1e15;
  if (!std::isfinite(number)) {
    out += "null";
    return;
  }
  const double size = std::abs(number);
  const bool fixed = size == 0 || (size >= kSmallestFixed && size < kLargestFixed);
  std::array<char, 2 * kLongestNumber> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number,
                                 fixed ? std::chars_format::fixed : std::chars_format::scientific)
                       .ptr;
  const std::string_view digits(buffer.data(), static_cast<size_t>(end - buffer.data()));
  out += digits;
  if (fixed && digits.find('.') == std::string_view::npos) out += ".0";
}

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  template <class T>
  void write(const T& value) {
    if constexpr (IsOptional<T>::value) {
      if (value) {
        write(*value);
      } else {
        out_ += "null";
      }
    } else if constexpr (IsQuantity<T>::value) {
      append_double(out_, value.value);
    } else if constexpr (std::same_as<T, WholeNanoseconds>) {
      append_integer(out_, value.value);
    } else if constexpr (std::same_as<T, bool>) {
      out_ += value ? "true" : "false";
    } else if constexpr (std::same_as<T, double>) {
      append_double(out_, value);
    } else if constexpr (std::integral<T>) {
      append_integer(out_, value);
    } else if constexpr (std::same_as<T, std::string>) {
      append_text(out_, value);
    } else if constexpr (IsByName<T>::value) {
      write_by_name(value);
    } else if constexpr (Described<T>) {
      write_struct(value);
    } else {
      write_list(value);
    }
  }

 private:
  void line() {
    out_ += '\n';
    out_.append(depth_ * kIndent, ' ');
  }

  void name(std::string_view text) {
    append_text(out_, text);
    out_ += ": ";
  }

  template <class T>
  void write_struct(const T& value) {
    out_ += '{';
    ++depth_;
    bool first = true;
    auto visit = [&](const char* field, auto member, const char* /*meaning*/) {
      if (!first) out_ += ',';
      first = false;
      line();
      name(field);
      write(value.*member);
    };
    T::fields(visit);
    --depth_;
    line();
    out_ += '}';
  }

  template <class T>
  void write_by_name(const T& values) {
    write_between('{', '}', values, [&](const auto& entry) {
      name(entry.first);
      write(entry.second);
    });
  }

  template <class T>
  void write_list(const T& values) {
    write_between('[', ']', values, [&](const auto& entry) { write(entry); });
  }

  template <class T, class Each>
  void write_between(char open, char close, const T& values, Each each) {
    out_ += open;
    if (values.empty()) {
      out_ += close;
      return;
    }
    ++depth_;
    bool first = true;
    for (const auto& value : values) {
      if (!first) out_ += ',';
      first = false;
      line();
      each(value);
    }
    --depth_;
    line();
    out_ += close;
  }

  std::string& out_;
  size_t depth_ = 0;
};

}  // namespace
}  // namespace json

std::string to_json(const Profile& profile) {
  std::string out;
  json::Writer(out).write(profile);
  out += '\n';
  return out;
}

}  // namespace llmprof::profile
