#include <simdjson.h>
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/streams/byte_stream.h"
#include "base/text.h"
#include "readers/ncu/launches.h"
#include "readers/shared/json_text.h"
#include "readers/shared/reader.h"

namespace llmprof::readers {
namespace {

constexpr size_t kChunk = 1UL << 20U;
constexpr size_t kReadableBehindObject = 64;
constexpr size_t kLongestObject = 32UL << 20U;

// Passes each outermost object of a JSON array, or of a text with consecutive objects, to `use`; 64
// bytes after it are readable. Returns how many could not be passed on: an object cut off by the
// end of the content, or one longer than any row can be.
Result<uint64_t> each_json_object(ByteStream& stream,
                                  const std::function<void(std::string_view)>& use) {
  std::string buffer;
  ObjectDepth depth;
  uint64_t lost = 0;
  size_t begin = 0;  // of the open object
  size_t filled = 0;
  bool ended = false;
  while (!ended) {
    buffer.erase(0, begin);
    size_t at = filled - begin;
    begin = 0;
    buffer.resize(at + kChunk + kReadableBehindObject);
    auto got = stream.read(std::span(buffer).subspan(at, kChunk));
    if (!got) return fail_with(got.error());
    ended = *got < kChunk;
    filled = at + *got;
    const std::string_view content(buffer.data(), filled);
    while (at < filled) {
      if (depth.depth == 0) begin = at = std::min(content.find('{', at), filled);
      at = walk_object(content, at, depth);
      if (depth.depth > 0 || begin == filled) continue;
      use(content.substr(begin, at - begin));
      begin = at;
    }
    if (filled - begin > kLongestObject) {
      depth = {};
      begin = filled;
      ++lost;
    }
  }
  return lost + (depth.depth > 0 ? 1 : 0);
}

constexpr std::string_view kNcuJsonFormat = "ncu JSON rows";

bool recognizes_ncu_json(std::string_view head) {
  head = trim(head);
  if (!head.starts_with('[') && !head.starts_with('{')) return false;
  if (!contains(head, "\"Kernel Name\"") || contains(head, "\"traceEvents\"")) return false;
  return contains(head, "\"ID\"") || contains(head, "\"Process ID\"") ||
         contains(head, "\"Metric Name\"") || contains(head, "gpu__time_duration");
}

// Reads objects as rows of the table whose header is their keys.
class RowObjects {
 public:
  explicit RowObjects(DecimalConvention convention) : launches_(convention), numbers_{convention} {}

  void add(std::string_view object) {
    if (!take_cells(object)) {
      ++launches_.bad_rows;
      return;
    }
    NcuTable& row = table().row;
    if (row.columns && is_units_row(*row.columns)) {
      launches_.close_launch();
      row.columns = std::make_shared<const NcuColumns>(row.columns->with_units(cells_));
      return;
    }
    row.records.clear();
    row.values.clear();
    if (row.columns && add_ncu_record(cells_, numbers_, row)) {
      launches_.add(row);
    } else {
      ++launches_.bad_rows;
    }
  }

  // Adds the number of objects that could not be passed on, and why the content ended early.
  NcuLaunches finish(uint64_t lost, std::string damage) {
    launches_.bad_rows += lost;
    launches_.other_convention = numbers_.other_convention;
    launches_.damage = std::move(damage);
    return std::move(launches_);
  }

 private:
  struct Table {
    std::vector<std::string> keys;
    NcuTable row;  // one at a time
  };
  bool take_cells(std::string_view object) {
    keys_.clear();
    cells_.clear();
    simdjson::ondemand::document document;
    simdjson::ondemand::object fields;
    const size_t capacity = object.size() + simdjson::SIMDJSON_PADDING;
    if (parser_.iterate(object.data(), object.size(), capacity).get(document) != 0) return false;
    if (document.get_object().get(fields) != 0) return false;
    for (auto field : fields) {
      std::string_view key;
      simdjson::ondemand::value value;
      simdjson::ondemand::json_type type{};
      if (field.unescaped_key().get(key) != 0 || field.value().get(value) != 0 ||
          value.type().get(type) != 0) {
        return false;
      }
      std::string_view cell = object.substr(0, 0);
      if (type == simdjson::ondemand::json_type::string) {
        if (value.get_string().get(cell) != 0) return false;
      } else if (type == simdjson::ondemand::json_type::number) {
        cell = trim(value.raw_json_token());
      }
      keys_.push_back(key);
      cells_.push_back(cell);
    }
    return true;
  }

  Table& table() {
    // Objects without some keys (rule rows) alternate with complete ones.
    constexpr size_t kMostTables = 16;
    for (Table& known : tables_) {
      if (std::equal(keys_.begin(), keys_.end(), known.keys.begin(), known.keys.end()))
        return known;
    }
    if (tables_.size() == kMostTables) tables_.erase(tables_.begin());
    Table& fresh = tables_.emplace_back();
    fresh.keys.assign(keys_.begin(), keys_.end());
    if (auto columns = ncu_columns(keys_)) {
      fresh.row.columns = std::make_shared<const NcuColumns>(std::move(*columns));
    }
    return fresh;
  }

  [[nodiscard]] bool is_units_row(const NcuColumns& columns) const {
    const auto blank = [&](NcuField field) {
      const uint32_t column = columns.column(field);
      return column >= cells_.size() || trim(cells_[column]).empty();
    };
    return !columns.details && blank("ID") && blank("Kernel Name");
  }

  NcuLaunches launches_;
  NcuNumbers numbers_;
  simdjson::ondemand::parser parser_;
  std::vector<std::string_view> keys_;
  std::vector<std::string_view> cells_;
  std::vector<Table> tables_;
};

Result<NcuLaunches> read_json_pass(const std::filesystem::path& path,
                                   DecimalConvention convention) {
  auto stream = open_byte_stream(path);
  if (!stream) return fail_with(stream.error());
  RowObjects rows(convention);
  const auto lost = each_json_object(**stream, [&](std::string_view object) { rows.add(object); });
  if (!lost) return fail_with(lost.error());
  return rows.finish(*lost, (*stream)->damage());
}

Result<void> read_ncu_json_file(const std::filesystem::path& path, trace::TraceBuilder& builder) {
  return read_ncu_file(path, kNcuJsonFormat, read_json_pass, builder);
}

}  // namespace

const Reader kNcuJsonReader = {kNcuJsonFormat, recognizes_ncu_json, read_ncu_json_file};

}  // namespace llmprof::readers
