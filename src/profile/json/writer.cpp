#include "profile/json/json.h"

#include <charconv>
#include <cmath>

// Hand-written: a document of a million steps is written during the visit, without a tree in
// memory.
namespace llmprof::profile {
namespace json {
namespace detail {

Type scalar(Type::Kind kind, std::optional<Unit> unit) {
  Type type;
  type.kind = kind;
  if (unit) type.unit = symbol(*unit);
  return type;
}

Type list(Type::Kind kind, const Type& element) {
  Type type = scalar(kind);
  type.element = std::make_shared<Type>(element);
  return type;
}

void add_field(Type& object, const char* name, const char* meaning, const Type& type,
               ptrdiff_t offset) {
  object.fields.push_back({name, meaning, type, static_cast<size_t>(offset)});
}

}  // namespace detail

const Type& profile_type() { return type_of<Profile>(); }

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

// The shortest digits that read back as the same number; never looks like an integer.
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

  void write(const Type& type, const void* value) {
    if (type.nullable) {
      value = type.content(value);
      if (value == nullptr) {
        out_ += "null";
        return;
      }
    }
    switch (type.kind) {
      case Type::Kind::boolean:
        out_ += *static_cast<const bool*>(value) ? "true" : "false";
        break;
      case Type::Kind::integer:
        append_integer(out_, type.integer(value));
        break;
      case Type::Kind::count:
        append_integer(out_, type.count(value));
        break;
      case Type::Kind::number:
        append_double(out_, *static_cast<const double*>(value));
        break;
      case Type::Kind::text:
        append_text(out_, *static_cast<const std::string*>(value));
        break;
      case Type::Kind::word:
        append_text(out_, type.word(value));
        break;
      case Type::Kind::list:
      case Type::Kind::by_name:
        write_list(type, value);
        break;
      case Type::Kind::object:
        write_object(type, value);
        break;
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

  void write_object(const Type& type, const void* value) {
    out_ += '{';
    ++depth_;
    bool first = true;
    for (const Type::Field& field : type.fields) {
      if (!first) out_ += ',';
      first = false;
      line();
      name(field.name);
      write(field.type, static_cast<const char*>(value) + field.offset);
    }
    --depth_;
    line();
    out_ += '}';
  }

  void write_list(const Type& type, const void* value) {
    const bool named = type.kind == Type::Kind::by_name;
    const size_t size = type.size(value);
    out_ += named ? '{' : '[';
    if (size > 0) {
      // The only access by index is the reader's, which takes a mutable list.
      void* const list = const_cast<void*>(value);
      ++depth_;
      for (size_t i = 0; i < size; ++i) {
        if (i > 0) out_ += ',';
        line();
        if (named) {
          write(*type.key, type.key_at(list, i));
          out_ += ": ";
        }
        write(*type.element, type.at(list, i));
      }
      --depth_;
      line();
    }
    out_ += named ? '}' : ']';
  }

  std::string& out_;
  size_t depth_ = 0;
};

}  // namespace

std::string json_text(const Type& type, const void* value) {
  std::string out;
  Writer(out).write(type, value);
  out += '\n';
  return out;
}

}  // namespace json

std::string to_json(const Profile& profile) {
  return json::json_text(json::profile_type(), &profile);
}

}  // namespace llmprof::profile
