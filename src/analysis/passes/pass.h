#pragma once

#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include "analysis/passes/prepare.h"
#include "profile/profile.h"

namespace llmprof::analysis {

// What the passes found, by its type. Passes that run at the same time write different values.
class PassValues {
 public:
  // Makes room for a value, before any pass runs.
  void expect(std::type_index type) { values_[type]; }

  // Its default where the pass that finds it was skipped.
  template <class Value>
  [[nodiscard]] const Value& get() const {
    const auto known = values_.find(typeid(Value));
    if (known != values_.end() && known->second) {
      return *static_cast<const Value*>(known->second.get());
    }
    if constexpr (std::is_default_constructible_v<Value>) {
      static const Value kNone{};
      return kNone;
    } else {
      throw std::logic_error(std::string("no pass found a ") + typeid(Value).name());
    }
  }

  template <class Value>
  void put(Value&& value) {
    using Own = std::remove_cvref_t<Value>;
    values_.at(typeid(Own)) = std::make_shared<Own>(std::forward<Value>(value));
  }

  template <class Value>
  Value take() {
    const auto known = values_.find(typeid(Value));
    if (known == values_.end() || !known->second) return {};
    return std::move(*static_cast<Value*>(std::exchange(known->second, nullptr).get()));
  }

  void release(std::type_index type) { values_.at(type).reset(); }

 private:
  std::map<std::type_index, std::shared_ptr<void>> values_;
};

// What a pass may take beside what other passes found.
template <class Type>
inline constexpr bool kAlwaysThere =
    std::is_same_v<Type, Prepared> || std::is_same_v<Type, trace::Trace> ||
    std::is_same_v<Type, trace::DeviceKind> || std::is_same_v<Type, DescribedNames> ||
    std::is_same_v<Type, Diagnostics>;

struct PassInputs {
  const Prepared& prepared;
  const PassValues& found;
  Diagnostics& diagnostics;

  template <class Parameter>
  [[nodiscard]] auto& get() const {
    using Type = std::remove_cvref_t<Parameter>;
    if constexpr (std::is_same_v<Type, Prepared>) {
      return prepared;
    } else if constexpr (std::is_same_v<Type, trace::Trace>) {
      return prepared.trace;
    } else if constexpr (std::is_same_v<Type, trace::DeviceKind>) {
      return prepared.device;
    } else if constexpr (std::is_same_v<Type, DescribedNames>) {
      return prepared.names;
    } else if constexpr (std::is_same_v<Type, Diagnostics>) {
      return diagnostics;
    } else {
      return found.get<Type>();
    }
  }
};

// A pass is a function: its parameters are what it reads, its return type is what it finds. So a
// pass sees nothing that it did not ask for. One that finds several things returns a tuple of them.
class Pass {
 public:
  template <class Function>
  Pass(std::string_view name, Function function) : Pass(name, std::function(std::move(function))) {}

  template <class Value, class... Parameters>
  Pass(std::string_view name, std::function<Value(Parameters...)> find) : name_(name) {
    (need<Parameters>(), ...);
    offer(static_cast<Value*>(nullptr));
    run_ = [find = std::move(find)](const PassInputs& in, PassValues& out) {
      if constexpr (std::is_void_v<Value>) {
        find(in.get<Parameters>()...);
      } else {
        store(find(in.get<Parameters>()...), out);
      }
    };
  }

  // `why` says why the pass has nothing to do here; nothing where it has.
  template <class... Parameters>
  [[nodiscard]] Pass skipped_if(std::string (*why)(Parameters...)) && {
    (need<Parameters>(), ...);
    why_skipped_ = [why](const PassInputs& in) { return why(in.get<Parameters>()...); };
    return std::move(*this);
  }

  // What grows with the trace and only passes read is freed when the last of them is done.
  [[nodiscard]] Pass freed_early() && {
    freed_early_ = true;
    return std::move(*this);
  }

  // What it finds is part of the result: a member for each value.
  template <class... Values>
  [[nodiscard]] Pass into(Values profile::Profile::*... members) && {
    fill_ = [members...](PassValues& found, profile::Profile& profile) {
      ((profile.*members = found.take<Values>()), ...);
    };
    return std::move(*this);
  }

  // Where that is not enough: `put` puts it there.
  template <class Value>
  [[nodiscard]] Pass into(void (*put)(Value&&, profile::Profile&)) && {
    fill_ = [put](PassValues& found, profile::Profile& profile) {
      put(found.take<Value>(), profile);
    };
    return std::move(*this);
  }

  [[nodiscard]] std::string_view name() const { return name_; }
  [[nodiscard]] const std::vector<std::type_index>& needs() const { return needs_; }
  [[nodiscard]] const std::vector<std::type_index>& finds() const { return finds_; }
  [[nodiscard]] bool is_freed_early() const { return freed_early_; }

  [[nodiscard]] std::string why_skipped(const PassInputs& in) const {
    return why_skipped_ ? why_skipped_(in) : std::string();
  }
  void run(const PassInputs& in, PassValues& out) const { run_(in, out); }
  // When all passes are done.
  void fill(PassValues& found, profile::Profile& profile) const {
    if (fill_) fill_(found, profile);
  }

 private:
  template <class Parameter>
  void need() {
    using Type = std::remove_cvref_t<Parameter>;
    if constexpr (!kAlwaysThere<Type>) needs_.emplace_back(typeid(Type));
  }

  void offer(void* /*nothing*/) {}
  template <class Value>
  void offer(Value* /*one*/) {
    finds_.emplace_back(typeid(Value));
  }
  template <class... Values>
  void offer(std::tuple<Values...>* /*several*/) {
    (finds_.emplace_back(typeid(Values)), ...);
  }

  template <class Value>
  static void store(Value&& value, PassValues& out) {
    out.put(std::forward<Value>(value));
  }
  template <class... Values>
  static void store(std::tuple<Values...>&& values, PassValues& out) {
    (out.put(std::move(std::get<Values>(values))), ...);
  }

  std::string_view name_;
  std::vector<std::type_index> needs_;
  std::vector<std::type_index> finds_;
  std::function<std::string(const PassInputs&)> why_skipped_;
  std::function<void(const PassInputs&, PassValues&)> run_;
  std::function<void(PassValues&, profile::Profile&)> fill_;
  bool freed_early_ = false;
};

// All passes, each after those that find what it needs.
const std::vector<Pass>& all_passes();

}  // namespace llmprof::analysis
