#include "report/writers/writers.h"

#include <algorithm>

#include "base/text.h"
#include "report/format/figures.h"

namespace llmprof::report {
namespace {

std::string cell(const Column& column, std::string_view text) {
  if (text.empty()) return {};
  return column.kind == Column::Kind::code ? markdown_code(text) : markdown_text(text);
}

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (static_cast<unsigned char>(c) & 0x80U) != 0;
}

// There an underscore would start or end emphasis; names like total_ms need no escape.
bool at_word_edge(std::string_view text, size_t i) {
  return i == 0 || i + 1 == text.size() || !is_word(text[i - 1]) || !is_word(text[i + 1]);
}

class MarkdownWriter {
 public:
  void operator()(const Heading& heading) {
    out_ += std::string(static_cast<size_t>(std::clamp(heading.level, 1, 6)), '#') + ' ' +
            markdown_text(heading.text) + "\n\n";
  }
  void operator()(const Paragraph& paragraph) { out_ += markdown_prose(paragraph.text) + "\n\n"; }
  void operator()(const Callout& callout) {
    out_ += callout.kind == Callout::Kind::warning ? "> [!WARNING]\n" : "> [!NOTE]\n";
    out_ += "> " + markdown_prose(callout.text) + "\n\n";
  }
  void operator()(const BulletList& list) {
    for (const std::string& item : list.items) out_ += "- " + markdown_prose(item) + '\n';
    out_ += '\n';
  }
  void operator()(const LinkList& list) {
    for (const auto& [file, about] : list.links) {
      out_ += "- [" + markdown_text(file) + "](" + file + "): " + markdown_prose(about) + '\n';
    }
    out_ += '\n';
  }
  void operator()(const Image& image) {
    out_ += "![" + markdown_text(image.description) + "](" + image.file + ")\n\n";
  }
  void operator()(const Table& table) {
    out_ += '|';
    for (const Column& column : table.columns) out_ += ' ' + markdown_text(column.title) + " |";
    out_ += "\n|";
    for (const Column& column : table.columns) {
      out_ += column.kind == Column::Kind::number ? " ---: |" : " --- |";
    }
    out_ += '\n';
    for (const auto& row : table.rows) {
      out_ += '|';
      for (size_t i = 0; i < row.size(); ++i) {
        out_ += ' ' + cell(table.columns[i], text_of(row[i])) + " |";
      }
      out_ += '\n';
    }
    out_ += '\n';
  }

  std::string take() {
    while (out_.ends_with("\n\n")) out_.pop_back();
    return std::move(out_);
  }

 private:
  std::string out_;
};

// Inside a table a pipe ends the cell even in code, unless escaped.
std::string code_span(std::string_view text, bool in_table) {
  const std::string clean = to_printable(text);
  size_t longest = 0;
  size_t run = 0;
  std::string code;
  for (const char c : clean) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
    if (c == '|' && in_table) code += '\\';
    code += c;
  }
  const std::string fence(longest + 1, '`');
  const bool padded = clean.starts_with('`') || clean.ends_with('`');
  return fence + (padded ? " " : "") + code + (padded ? " " : "") + fence;
}

}  // namespace

std::string markdown_text(std::string_view text) {
  constexpr std::string_view kSpecial = "\\`*[]<>|#~";
  const std::string clean = to_printable(text);
  std::string escaped;
  escaped.reserve(clean.size());
  for (size_t i = 0; i < clean.size(); ++i) {
    const char c = clean[i];
    if (kSpecial.find(c) != std::string_view::npos || (c == '_' && at_word_edge(clean, i))) {
      escaped += '\\';
    }
    escaped += c == '&' ? "&amp;" : std::string(1, c);
  }
  return escaped;
}

std::string markdown_prose(std::string_view text) {
  return with_code(text, markdown_text,
                   [](std::string_view code) { return code_span(code, false); });
}

std::string markdown_code(std::string_view text) { return code_span(text, true); }

std::string to_markdown(const Document& document) {
  MarkdownWriter writer;
  for (const Block& block : document.blocks) std::visit(writer, block);
  return writer.take();
}

}  // namespace llmprof::report
