#include "query/model/column.h"

#include <array>

namespace llmprof::query {
namespace {

class Constant final : public ColumnValues {
 public:
  explicit Constant(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] Value at(size_t /*row*/, std::string& /*scratch*/) const override {
    return decoded(0);
  }
  [[nodiscard]] uint32_t codes() const override { return 1; }
  [[nodiscard]] Value decoded(uint32_t /*code*/) const override { return Value::of(text_); }

 private:
  std::string text_;
};

}  // namespace

std::string_view to_string(ColumnType type) {
  constexpr std::array<std::string_view, 4> kNames = {"integer", "real", "text", "boolean"};
  return kNames[static_cast<size_t>(type)];
}

Values constant(std::string text) { return std::make_unique<Constant>(std::move(text)); }

}  // namespace llmprof::query
