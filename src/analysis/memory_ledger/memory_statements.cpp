#include "analysis/memory_ledger/memory_statements.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "analysis/memory_ledger/ledger_contents.h"
#include "base/text.h"
#include "llm/cost.h"

namespace llmprof::analysis {
namespace {

using profile::Bytes;
using profile::LedgerMomentKind;
using profile::LedgerPart;
using profile::Memory;
using profile::MemoryContent;
using profile::MemoryLedger;
using profile::MemoryStatement;
using profile::StatedPart;

constexpr double kMostStated = 0x1p50;  // bytes or tokens; more is no statement

// A number with the value of its last digit: 27.00 has 0.01.
struct Figure {
  double value = 0;
  double digit = 1;
};

std::optional<Figure> read_figure(std::string text) {
  std::erase(text, ',');
  Figure figure;
  const auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), figure.value);
  if (trouble != std::errc() || end != text.data() + text.size()) return std::nullopt;
  const size_t point = text.find('.');
  if (point != std::string::npos) {
    figure.digit = std::pow(10.0, -static_cast<double>(text.size() - point - 1));
  }
  return figure;
}

// The groups of a line that a rule matches.
class Groups {
 public:
  bool match(const MemoryLineRule& rule, std::string_view line) {
    names_ = &rule.expression->NamedCapturingGroups();
    const auto count = static_cast<size_t>(rule.expression->NumberOfCapturingGroups()) + 1;
    groups_.assign(count, re2::StringPiece());
    return rule.expression->Match({line.data(), line.size()}, 0, line.size(), RE2::UNANCHORED,
                                  groups_.data(), static_cast<int>(count));
  }
  // Empty if the rule has no such group, or it matched nothing.
  [[nodiscard]] std::string text(const std::string& name) const {
    const auto found = names_->find(name);
    if (found == names_->end()) return {};
    const re2::StringPiece& group = groups_[static_cast<size_t>(found->second)];
    return {group.data() == nullptr ? "" : group.data(), group.size()};
  }

 private:
  const std::map<std::string, int>* names_ = nullptr;
  std::vector<re2::StringPiece> groups_;
};

class StatementsInOutput {
 public:
  explicit StatementsInOutput(const EngineRules& engines) : engines_(engines) {}

  void read(const ProgramOutput& output) {
    std::string_view rest = output.text;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      constexpr size_t kLongestLine = 4096;
      read_line(output.file, rest.substr(0, std::min(end, kLongestLine)));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }

  std::vector<MemoryStatement> take() {
    std::vector<MemoryStatement> all;
    all.reserve(found_.size());
    for (auto& [key, statement] : found_) all.push_back(std::move(statement));
    return all;
  }

 private:
  void read_line(const std::string& file, std::string_view line) {
    for (const EngineRule& engine : engines_.all()) {
      for (const MemoryLineRule& rule : engine.memory_lines) {
        if (groups_.match(rule, line)) add(file, engine.name, rule);
      }
    }
  }

  void add(const std::string& file, const std::string& engine, const MemoryLineRule& rule) {
    const auto bytes = read_figure(groups_.text("bytes"));
    const auto more = read_figure(groups_.text("more_bytes"));
    const auto tokens = read_figure(groups_.text("tokens"));
    const double stated = ((bytes ? bytes->value : 0) + (more ? more->value : 0)) * rule.unit;
    const auto is_sane = [](double value) { return value >= 0 && value <= kMostStated; };
    if ((!bytes && !tokens) || !is_sane(stated)) return;
    if (tokens && !is_sane(tokens->value)) return;
    const std::string device = groups_.text("device");
    MemoryStatement& statement = found_[{file, engine, rule.part, device}];
    statement.file = file;
    statement.engine = engine;
    statement.part = rule.part;
    if (!device.empty()) statement.device = "cuda:" + device;
    ++statement.lines;
    if (bytes) {
      const double digits = (bytes->digit + (more ? more->digit : 0)) * rule.unit;
      statement.stated = Bytes{stated + (statement.stated ? statement.stated->value : 0)};
      statement.resolution =
          Bytes{digits + (statement.resolution ? statement.resolution->value : 0)};
    }
    if (tokens) {
      statement.tokens = statement.tokens.value_or(0) + static_cast<uint64_t>(tokens->value);
    }
  }

  using Key = std::tuple<std::string, std::string, StatedPart, std::string>;

  const EngineRules& engines_;
  Groups groups_;
  std::map<Key, MemoryStatement> found_;
};

std::optional<LedgerPart> row_of(StatedPart part) {
  if (part == StatedPart::weights) return LedgerPart::weights;
  if (part == StatedPart::kv_cache) return LedgerPart::kv_cache;
  return std::nullopt;
}
MemoryContent content_of(StatedPart part) {
  return part == StatedPart::weights ? MemoryContent::weights : MemoryContent::kv_cache;
}

std::optional<double> sum_of_rows(const MemoryLedger& ledger, size_t moment, StatedPart part) {
  std::optional<double> sum;
  for (const profile::LedgerRow& row : ledger.rows) {
    if (row.moment == moment && row.part == row_of(part)) {
      sum = sum.value_or(0) + row.bytes.value;
    }
  }
  for (const profile::LedgerContents& row : ledger.contents) {
    if (row.moment == moment && row.content == content_of(part)) {
      sum = sum.value_or(0) + row.bytes.value;
    }
  }
  return sum;
}

class ComparedStatements {
 public:
  ComparedStatements(const llm::ModelSpec* model, const std::optional<Memory>& memory,
                     std::optional<MemoryLedger>& ledger)
      : per_token_(model == nullptr ? 0 : llm::kv_bytes_per_token(*model)),
        memory_(memory),
        ledger_(ledger) {
    if (ledger_) {
      for (const auto& moment : ledger_->moments) devices_.insert(moment.device);
    }
    if (memory_ && devices_.empty()) {
      for (const auto& device : memory_->devices) devices_.insert(device.device);
    }
  }

  void compare(MemoryStatement& statement) {
    const auto device = device_of(statement);
    const auto stated = bytes_of(statement);
    if (!row_of(statement.part) || !device || !stated) return;
    const auto recorded = recorded_on(*device, statement.part);
    show_in_rows(*device, statement.part, *stated);
    if (!recorded) return;
    statement.recorded = Bytes{*recorded};
    statement.difference = Bytes{*stated - *recorded};
  }

 private:
  // Lines without a device may be of several processes: only a single one is known to be of the
  // only GPU.
  [[nodiscard]] std::optional<std::string> device_of(const MemoryStatement& statement) const {
    if (statement.device) return statement.device;
    const bool single = statement.lines == 1 || is_pair(statement);
    return devices_.size() == 1 && single ? std::optional(*devices_.begin()) : std::nullopt;
  }
  // One line of bytes and one of tokens.
  static bool is_pair(const MemoryStatement& statement) {
    return statement.lines == 2 && statement.stated && statement.tokens;
  }

  [[nodiscard]] std::optional<double> bytes_of(const MemoryStatement& statement) const {
    if (statement.stated) return statement.stated->value;
    if (!statement.tokens || per_token_ <= 0) return std::nullopt;
    return static_cast<double>(*statement.tokens) * per_token_;
  }

  [[nodiscard]] std::optional<double> recorded_on(const std::string& device,
                                                  StatedPart part) const {
    if (!ledger_) return in_snapshot(device, part);
    for (size_t i = 0; i < ledger_->moments.size(); ++i) {
      const profile::LedgerMoment& moment = ledger_->moments[i];
      if (moment.device == device && moment.kind == LedgerMomentKind::peak) {
        return sum_of_rows(*ledger_, i, part);
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<double> in_snapshot(const std::string& device,
                                                  StatedPart part) const {
    std::optional<double> sum;
    if (!memory_) return sum;
    const profile::MemoryDevice* snapshot = largest_snapshot(*memory_, device);
    for (const profile::MemoryContents& row : memory_->contents) {
      const bool here = snapshot != nullptr && row.snapshot == snapshot->snapshot &&
                        row.device == device && row.at_peak.has_value();
      if (here && row.content == content_of(part)) sum = sum.value_or(0) + row.at_peak->value;
    }
    return sum;
  }

  void show_in_rows(const std::string& device, StatedPart part, double stated) {
    if (!ledger_) return;
    for (profile::LedgerRow& row : ledger_->rows) {
      if (row.part == row_of(part) && ledger_->moments[row.moment].device == device) {
        row.stated = Bytes{stated};
      }
    }
  }

  double per_token_;
  const std::optional<Memory>& memory_;
  std::optional<MemoryLedger>& ledger_;
  std::set<std::string> devices_;
};

// More than 1 %, 1 MiB, and what the printed digits leave open.
bool differs(const MemoryStatement& statement) {
  if (!statement.difference) return false;
  constexpr double kHundredth = 0.01;
  const double least = std::max({0x1p20, kHundredth * statement.recorded->value,
                                 statement.resolution ? statement.resolution->value : 0});
  return std::abs(statement.difference->value) > least;
}

}  // namespace

std::vector<MemoryStatement> find_memory_statements(std::span<const ProgramOutput> outputs,
                                                    const EngineRules& engines) {
  StatementsInOutput found(engines);
  for (const ProgramOutput& output : outputs) found.read(output);
  return found.take();
}

void compare_statements(const llm::ModelSpec* model, const std::optional<Memory>& memory,
                        std::optional<MemoryLedger>& ledger,
                        std::vector<MemoryStatement>& statements, Diagnostics& diagnostics) {
  ComparedStatements compared(model, memory, ledger);
  for (MemoryStatement& statement : statements) {
    compared.compare(statement);
    if (!differs(statement)) continue;
    diagnostics.info(
        "memory_statement_differs",
        fmt::format("{}: {} states {:.0f} bytes of {}; {:.0f} were recorded at the peak",
                    to_printable(statement.file), statement.engine,
                    statement.recorded->value + statement.difference->value,
                    to_string(statement.part), statement.recorded->value));
  }
}

}  // namespace llmprof::analysis
