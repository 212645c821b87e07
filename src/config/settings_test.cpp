#include "config/settings.h"

#include <gtest/gtest.h>

#include "base/needed.h"

namespace llmprof::config {
namespace {

constexpr std::string_view kModes = "deep light";

ConfigDocument document(std::string_view text) {
  auto parsed = parse_yaml(text, "f.yaml");
  EXPECT_TRUE(parsed) << parsed.error().message;
  return std::move(*parsed);
}

// The error that `read` reports for a document; empty: none.
template <class Read>
std::string fault(std::string_view text, Read read) {
  const ConfigDocument tree = document(text);
  Settings settings(tree, tree.root, "run");
  const auto done = attempt([&] {
    read(settings);
    settings.refuse_unknown_keys();
  });
  return done ? std::string() : done.error().message;
}

TEST(Settings, ReadsValuesAndTheirDefaults) {
  const ConfigDocument tree = document(
      "t: x\nm: light\nb: true\nw: 3\nn: 2.5\nl: [a, [b, ~], c]\none: z\nnull_: ~\nin: {k: 1}");
  Settings settings(tree, tree.root);
  EXPECT_EQ(settings.text("t"), "x");
  EXPECT_EQ(settings.text("absent", "o"), "o");
  EXPECT_EQ(settings.text("null_", "o"), "o");
  EXPECT_EQ(settings.one_of("m", kModes, "deep"), "light");
  EXPECT_EQ(settings.one_of("absent", kModes, "deep"), "deep");
  EXPECT_TRUE(settings.boolean("b", false));
  EXPECT_TRUE(settings.boolean("absent", true));
  EXPECT_EQ(settings.whole("w", 1), 3U);
  EXPECT_EQ(settings.optional_whole("absent"), std::nullopt);
  EXPECT_EQ(settings.optional_number("n", 0, 9), 2.5);
  EXPECT_EQ(settings.texts("l"), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(settings.texts("one"), (std::vector<std::string>{"z"}));
  EXPECT_TRUE(settings.texts("absent").empty());
  settings.section("in", [](Settings& inner) { EXPECT_EQ(inner.whole("k", 0), 1U); });
  settings.section("absent", [](Settings& inner) { EXPECT_EQ(inner.whole("k", 7), 7U); });
  EXPECT_NO_THROW(settings.refuse_unknown_keys());
}

TEST(Settings, FaultsNamePlaceKeyAndWhatIsExpected) {
  EXPECT_EQ(fault("a: 1\nmode: deap",
                  [](Settings& s) { s.allow({"a"}), s.one_of("mode", kModes, "deep"); }),
            "f.yaml:2: run.mode must be one of deep, light, but is 'deap'; did you mean 'deep'?");
  EXPECT_EQ(fault("mode: [x]", [](Settings& s) { s.one_of("mode", kModes, "deep"); }),
            "f.yaml:1: run.mode must be one of deep, light, but is [\"x\"]");
  EXPECT_EQ(fault("b: yes", [](Settings& s) { s.boolean("b", true); }),
            "f.yaml:1: run.b must be true or false, but is 'yes'");
  for (const char* value : {"-1", "1.5", "x", "[1]", "99999999999999999999"}) {
    EXPECT_TRUE(fault(std::string("w: ") + value, [](Settings& s) { s.whole("w", 1); })
                    .starts_with("f.yaml:1: run.w must be an integer of at least 0, but is "))
        << value;
  }
  EXPECT_EQ(fault("w: 9", [](Settings& s) { s.whole("w", 1, 2, 8); }),
            "f.yaml:1: run.w must be an integer from 2 to 8, but is '9'");
  EXPECT_EQ(fault("n: nan", [](Settings& s) { s.optional_number("n", 0, 1); }),
            "f.yaml:1: run.n must be a number from 0 to 1, or null, but is 'nan'");
  EXPECT_EQ(fault("t: {a: 1}", [](Settings& s) { s.text("t"); }),
            "f.yaml:1: run.t must be a string, but is {\"a\":1}");
  EXPECT_EQ(fault("l: [a, {b: 1}]", [](Settings& s) { s.texts("l"); }),
            "f.yaml:1: run.l must be a list of strings, but contains {\"b\":1}");
  EXPECT_EQ(fault("l: [deep, lihgt]", [](Settings& s) { s.each_one_of("l", kModes); }),
            "f.yaml:1: run.l must be one of deep, light, but is 'lihgt'; did you mean 'light'?");
  EXPECT_EQ(fault("in: 3", [](Settings& s) { s.section("in", [](Settings&) {}); }),
            "f.yaml:1: run.in must be a map of keys, but is '3'");
}

TEST(Settings, UnknownKeysNameTheNearest) {
  EXPECT_EQ(fault("repeats: 1\nrepaets: 2", [](Settings& s) { s.whole("repeats", 1); }),
            "f.yaml:2: unknown key 'run.repaets'; did you mean 'repeats'?");
  EXPECT_EQ(fault("zzzzzzzzz: 1", [](Settings& s) { s.allow({"a", "b"}); }),
            "f.yaml:1: unknown key 'run.zzzzzzzzz'; available: a, b");
  EXPECT_EQ(
      fault("in: {x: 1}",
            [](Settings& s) { s.section("in", [](Settings& inner) { inner.whole("y", 1); }); }),
      "f.yaml:1: unknown key 'run.in.x'; did you mean 'y'?");
}

TEST(Settings, TheFirstFaultIsReported) {
  EXPECT_EQ(fault("a: x\nb: y\nc: z",
                  [](Settings& s) {
                    s.boolean("b", true);
                    s.boolean("a", true);
                  }),
            "f.yaml:2: run.b must be true or false, but is 'y'");
}

}  // namespace
}  // namespace llmprof::config
