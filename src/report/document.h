#pragma once

#include <string>
#include <variant>
#include <vector>

namespace llmprof {

// What a report says, before anyone decides how it looks. Texts are plain; a writer escapes them.
struct Heading {
  int level = 1;
  std::string text;
};

struct Paragraph {
  std::string text;
};

// A statement that the reader must not miss.
struct Callout {
  enum class Kind { note, warning };
  Kind kind = Kind::note;
  std::string text;
};

struct BulletList {
  std::vector<std::string> items;
};

// Files beside the report, each with what it holds.
struct LinkList {
  struct Link {
    std::string file;
    std::string about;
  };
  std::vector<Link> links;
};

struct Column {
  enum class Kind { text, number, code };  // numbers are right-aligned, code is shown as typed
  std::string title;
  Kind kind = Kind::text;
  int priority = 0;  // where there is no room for all, columns with the lowest are left out first
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
};

using Block = std::variant<Heading, Paragraph, Callout, BulletList, LinkList, Table>;

struct Document {
  std::vector<Block> blocks;

  template <class B>
  void add(B block) {
    blocks.emplace_back(std::move(block));
  }
};

}  // namespace llmprof
