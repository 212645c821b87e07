#include "report/writers/writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/text.h"
#include "report/format/figures.h"

namespace llmprof::report {
namespace {

using Entity = std::pair<char, std::string_view>;
constexpr std::array<Entity, 5> kEntities = {
    {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}}};

std::string escaped(std::string_view text, std::span<const Entity> entities) {
  std::string out;
  for (const char c : to_printable(text)) {
    const auto entity = std::ranges::find(entities, c, &Entity::first);
    out += entity == entities.end() ? std::string(1, c) : std::string(entity->second);
  }
  return out;
}

std::string html_prose(std::string_view text) {
  return with_code(text, html_text, [](std::string_view code) {
    return fmt::format("<code>{}</code>", html_text(code));
  });
}

void add_items(const auto& items, const auto& prose, std::string& out) {
  out += "<ul>\n";
  for (const auto& item : items) out += fmt::format("<li>{}</li>\n", prose(item));
  out += "</ul>\n";
}

class HtmlWriter {
 public:
  void operator()(const Heading& heading) {
    const int level = std::clamp(heading.level, 1, 6);
    out_ += fmt::format("<h{0}>{1}</h{0}>\n", level, html_text(heading.text));
  }
  void operator()(const Paragraph& paragraph) {
    out_ += fmt::format("<p>{}</p>\n", html_prose(paragraph.text));
  }
  void operator()(const Callout& callout) {
    out_ += fmt::format("<p class=\"{}\">{}</p>\n",
                        callout.kind == Callout::Kind::warning ? "warning" : "note",
                        html_prose(callout.text));
  }
  void operator()(const BulletList& list) { add_items(list.items, html_prose, out_); }
  void operator()(const LinkList& list) {
    add_items(
        list.links,
        [](const LinkList::Link& link) {
          return html_text(link.file) + ": " + html_prose(link.about);
        },
        out_);
  }
  void operator()(const Table& table) {
    out_ += "<div class=\"table\"><table>\n<thead><tr>";
    for (const Column& column : table.columns) {
      out_ += fmt::format("<th scope=\"col\"{}>{}</th>", align(column), html_text(column.title));
    }
    out_ += "</tr></thead>\n<tbody>\n";
    for (const auto& row : table.rows) {
      out_ += "<tr>";
      for (size_t i = 0; i < row.size(); ++i) {
        const std::string text = html_text(text_of(row[i]));
        const bool code = table.columns[i].kind == Column::Kind::code && !text.empty();
        out_ += fmt::format("<td{}>{}</td>", align(table.columns[i]),
                            code ? fmt::format("<code>{}</code>", text) : text);
      }
      out_ += "</tr>\n";
    }
    out_ += "</tbody></table></div>\n";
  }

  // A self-contained page has no pictures next to it: the description replaces them.
  void operator()(const Image& image) {
    out_ += fmt::format("<p>{}</p>\n", html_prose(image.description));
  }

  std::string take() { return std::move(out_); }

 private:
  static std::string_view align(const Column& column) {
    return column.kind == Column::Kind::number ? " class=\"number\"" : "";
  }

  std::string out_;
};

}  // namespace

std::string xml_text(std::string_view text) { return escaped(text, std::span(kEntities).first(4)); }

std::string html_text(std::string_view text) { return escaped(text, kEntities); }

std::string to_html(const Document& document) {
  HtmlWriter writer;
  for (const Block& block : document.blocks) std::visit(writer, block);
  return writer.take();
}

}  // namespace llmprof::report
