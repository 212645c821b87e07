#include "report/terminal.h"

#include <algorithm>

#include "base/text.h"
#include "report/format/figures.h"

namespace llmprof::report {
namespace {

// Characters, not bytes; good enough for the Latin, Greek and symbols that reports use.
size_t width(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::string padded(const std::string& text, size_t to, bool right) {
  const std::string blanks(to - std::min(to, width(text)), ' ');
  return right ? blanks + text : text + blanks;
}

class Writer {
 public:
  void operator()(const Heading& heading) { out_ += to_printable(heading.text) + "\n\n"; }
  void operator()(const Paragraph& paragraph) { out_ += to_printable(paragraph.text) + "\n\n"; }
  void operator()(const Callout& callout) {
    out_ += callout.kind == Callout::Kind::warning ? "WARNING: " : "note: ";
    out_ += to_printable(callout.text) + "\n\n";
  }
  void operator()(const BulletList& list) {
    for (const std::string& item : list.items) out_ += "  - " + to_printable(item) + '\n';
    out_ += '\n';
  }
  void operator()(const LinkList& list) {
    for (const auto& [file, about] : list.links) {
      out_ += "  - " + to_printable(file) + ": " + to_printable(about) + '\n';
    }
    out_ += '\n';
  }
  void operator()(const Table& table) {
    const size_t count = table.columns.size();
    std::vector<std::vector<std::string>> lines(1);
    for (const Column& column : table.columns) lines[0].push_back(column.title);
    for (const auto& row : table.rows) {
      auto& line = lines.emplace_back();
      for (const Cell& cell : row) line.push_back(to_printable(text_of(cell)));
      line.resize(count);
    }
    std::vector<size_t> widths(count, 0);
    for (const auto& line : lines) {
      for (size_t i = 0; i < count; ++i) widths[i] = std::max(widths[i], width(line[i]));
    }
    for (const auto& line : lines) {
      std::string text;
      for (size_t i = 0; i < count; ++i) {
        const bool right = table.columns[i].kind == Column::Kind::number;
        text += "  " + padded(line[i], widths[i], right);
      }
      text.erase(text.find_last_not_of(' ') + 1);
      out_ += text + '\n';
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

}  // namespace

std::string to_terminal(const Document& document) {
  Writer writer;
  for (const Block& block : document.blocks) std::visit(writer, block);
  return writer.take();
}

}  // namespace llmprof::report
