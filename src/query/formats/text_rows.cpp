#include "query/formats/text_rows.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <set>

#include "base/text.h"

namespace llmprof::query {
namespace {

constexpr size_t kPiece = 64 << 10;

class JsonWriter final : public AnswerWriter {
 public:
  explicit JsonWriter(WriteText write) : write_(std::move(write)) {}

  void begin(const std::vector<AnswerColumn>& columns) override {
    text_ = "{\"columns\": [";
    for (size_t i = 0; i < columns.size(); ++i) {
      text_ += i == 0 ? "\n" : ",\n";
      text_ += "  {\"name\": ";
      append_json_text(columns[i].name, text_);
      add_known("type", columns[i].type);
      add_known("unit", columns[i].unit);
      add_known("meaning", columns[i].meaning);
      text_ += '}';
    }
    text_ += "],\n \"rows\": [";
  }

  void row(std::span<const Value> values) override {
    text_ += rows_++ == 0 ? "\n  [" : ",\n  [";
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0) text_ += ", ";
      append_json(values[i], text_);
    }
    text_ += ']';
    if (text_.size() > kPiece) flush();
  }

  void end(const Answer& answer) override {
    const double ms = std::chrono::duration<double, std::milli>(answer.time).count();
    const std::string note = cut_note(answer);
    text_ += fmt::format(
        "],\n \"row_count\": {},\n \"total_rows\": {},\n"
        " \"total_is_complete\": {},\n \"truncated\": {},\n \"notes\": [",
        answer.rows, answer.total, answer.total_is_complete, answer.cut != Answer::Cut::none);
    bool first = true;
    const auto add = [&](std::string_view text) {
      if (!first) text_ += ", ";
      first = false;
      append_json_text(text, text_);
    };
    if (!note.empty()) add(note);
    for (const std::string& each : answer.notes) add(each);
    text_ += fmt::format("],\n \"elapsed_ms\": {:.3f}}}\n", ms);
    flush();
  }

 private:
  void add_known(std::string_view name, std::string_view value) {
    text_ += fmt::format(", \"{}\": ", name);
    if (value.empty()) {
      text_ += "null";
    } else {
      append_json_text(value, text_);
    }
  }
  void flush() {
    write_(text_);
    text_.clear();
  }

  WriteText write_;
  std::string text_;
  uint64_t rows_ = 0;
};

class NdjsonWriter final : public AnswerWriter {
 public:
  explicit NdjsonWriter(WriteText write) : write_(std::move(write)) {}

  void begin(const std::vector<AnswerColumn>& columns) override {
    for (const std::string& name : distinct_names(columns)) {
      std::string& key = keys_.emplace_back();
      append_json_text(name, key);
      key += ": ";
    }
  }
  void row(std::span<const Value> values) override {
    text_ = '{';
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0) text_ += ", ";
      text_ += keys_[i];
      append_json(values[i], text_);
    }
    text_ += "}\n";
    write_(text_);
  }
  void end(const Answer& /*answer*/) override {}

 private:
  WriteText write_;
  std::vector<std::string> keys_;
  std::string text_;
};

class CsvWriter final : public AnswerWriter {
 public:
  explicit CsvWriter(WriteText write) : write_(std::move(write)) {}

  void begin(const std::vector<AnswerColumn>& columns) override {
    text_.clear();
    for (size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) text_ += ',';
      append_field(columns[i].name);
    }
    text_ += "\n";
    write_(text_);
  }
  void row(std::span<const Value> values) override {
    text_.clear();
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0) text_ += ',';
      if (values[i].kind == Value::Kind::text) {
        append_field(values[i].text);
      } else if (values[i].kind != Value::Kind::null) {
        append_json(values[i], text_);
      }
    }
    text_ += "\n";
    write_(text_);
  }
  void end(const Answer& /*answer*/) override {}

 private:
  void append_field(std::string_view field) {
    const bool plain = !field.empty() && field.find_first_of(",\"\r\n") == std::string_view::npos;
    if (plain) {
      text_ += field;
      return;
    }
    text_ += '"';
    for (const char c : field) {
      if (c == '"') text_ += '"';
      text_ += c;
    }
    text_ += '"';
  }

  WriteText write_;
  std::string text_;
};

}  // namespace

std::unique_ptr<AnswerWriter> json_writer(WriteText write) {
  return std::make_unique<JsonWriter>(std::move(write));
}
std::unique_ptr<AnswerWriter> ndjson_writer(WriteText write) {
  return std::make_unique<NdjsonWriter>(std::move(write));
}
std::unique_ptr<AnswerWriter> csv_writer(WriteText write) {
  return std::make_unique<CsvWriter>(std::move(write));
}

void append_json_text(std::string_view value, std::string& text) {
  constexpr unsigned char kFirstPrintable = 0x20;
  constexpr unsigned char kDelete = 0x7F;
  text += '"';
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (byte < kFirstPrintable || byte == kDelete) {
      text += fmt::format("\\u{:04x}", byte);
    } else {
      text += c;
    }
  }
  text += '"';
}

void append_json(const Value& value, std::string& text) {
  switch (value.kind) {
    case Value::Kind::null:
      text += "null";
      break;
    case Value::Kind::integer:
      fmt::format_to(std::back_inserter(text), "{}", value.integer);
      break;
    case Value::Kind::real:
      if (std::isfinite(value.real)) {
        fmt::format_to(std::back_inserter(text), "{}", value.real);
      } else {
        text += "null";
      }
      break;
    case Value::Kind::text:
      append_json_text(value.text, text);
      break;
  }
}

std::vector<std::string> distinct_names(const std::vector<AnswerColumn>& columns) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const AnswerColumn& column : columns) {
    std::string name = column.name;
    for (size_t number = 2; !taken.insert(name).second; ++number) {
      name = fmt::format("{}_{}", column.name, number);
    }
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace llmprof::query
