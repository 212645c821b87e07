#include "config/compose.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/text.h"
#include "config/config_tree.h"
#include "testing/temporary_folder.h"

namespace llmprof::config {
namespace {

ComposeContext context() {
  ComposeContext made;
  made.working_folder = "/here";
  made.now = "2026-11-15T07:33:09";
  made.home = "/opt/llmprof";
  made.bin = "/opt/llmprof/bin";
  made.environment = [](const std::string& name) -> std::optional<std::string> {
    return name == "SET" ? std::optional<std::string>("value") : std::nullopt;
  };
  return made;
}

// A conf folder over the shipped files, none of which has these names.
class Compose : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    const auto path = folder_.path() / (name + ".yaml");
    std::filesystem::create_directories(path.parent_path());
    folder_.write(name + ".yaml", text);
  }

  [[nodiscard]] Result<ComposedConfig> composed(const std::vector<std::string>& overrides = {},
                                                const std::string& primary = "main") const {
    const auto conf = ConfFiles::open(folder_.path());
    EXPECT_TRUE(conf);
    return compose(*conf, primary, overrides, context());
  }

  // The tree as JSON: an independent and readable form.
  [[nodiscard]] std::string tree(const std::vector<std::string>& overrides = {}) const {
    const auto config = composed(overrides);
    return config ? to_json(config->tree.root) : config.error().message;
  }

  [[nodiscard]] std::string error(const std::vector<std::string>& overrides = {}) const {
    const auto config = composed(overrides);
    EXPECT_FALSE(config) << to_json(config->tree.root);
    if (config) return {};
    EXPECT_EQ(config.error().kind, ErrorKind::usage);
    return config.error().message;
  }

  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_.path() / name).string();
  }

 private:
  testing::TemporaryFolder folder_;
};

TEST_F(Compose, LaterFilesWinAndMapsMerge) {
  write("main", "defaults:\n  - db: mysql\n  - _self_\nname: main\ndb: {port: 1, more: {b: 2}}\n");
  write("db/mysql", "host: local\nport: 3306\nmore: {a: 1}\nlist: [1, 2]\n");
  EXPECT_EQ(tree(), R"({"db":{"host":"local","port":1,"more":{"a":1,"b":2},"list":[1,2]},)"
                    R"("name":"main"})");
  write("main", "defaults:\n  - _self_\n  - db: mysql\ndb: {port: 1, list: [7, 8, 9]}\n");
  EXPECT_EQ(tree(), R"({"db":{"port":3306,"list":[1,2],"host":"local","more":{"a":1}}})");
  // Without _self_, the file itself comes last, as in Hydra since 1.1.
  write("main", "defaults:\n  - db: mysql\ndb: {port: 1}\n");
  EXPECT_EQ(error({"~db.list=[1]"}),
            "override '~db.list=[1]': 'db.list' is [1,2], so nothing was removed");
  EXPECT_EQ(tree({"~db.more", "~db.list"}), R"({"db":{"host":"local","port":1}})");
}

TEST_F(Compose, GroupsAreChosenAddedAndRemoved) {
  write("main", "defaults:\n  - db: mysql\n  - optional cache: none\nx: 1\n");
  write("db/mysql", "kind: mysql\n");
  write("db/old/pg", "kind: pg\n");
  write("log/loud", "level: 9\n");
  EXPECT_EQ(tree({"db=old/pg"}), R"({"db":{"kind":"pg"},"x":1})");
  EXPECT_EQ(tree({"db=[mysql,old/pg]"}), R"({"db":{"kind":"pg"},"x":1})");
  EXPECT_EQ(tree({"+log=loud"}), R"({"db":{"kind":"mysql"},"x":1,"log":{"level":9}})");
  EXPECT_EQ(tree({"+log@a.b=loud", "a.b.level=3"}),
            R"({"db":{"kind":"mysql"},"x":1,"a":{"b":{"level":3}}})");
  EXPECT_EQ(tree({"~db"}), R"({"x":1})");
  EXPECT_EQ(tree({"~db=mysql"}), R"({"x":1})");
  EXPECT_EQ(tree({"db=null"}), R"({"x":1})");
  const auto config = composed({"db=old/pg", "+log=loud"});
  ASSERT_TRUE(config);
  ASSERT_EQ(config->choices.size(), 2U);
  EXPECT_EQ(config->choices[0].group + "=" + config->choices[0].choice, "db=old/pg");
  EXPECT_EQ(config->choices[1].group + "=" + config->choices[1].choice, "log=loud");
}

TEST_F(Compose, WrongChoicesNameTheNearest) {
  write("main", "defaults:\n  - db: mysql\n");
  write("db/mysql", "kind: mysql\n");
  write("db/old/pg", "kind: pg\n");
  write("log/loud", "level: 9\n");
  EXPECT_EQ(error({"db=mysqll"}),
            "override 'db=mysqll': unknown value 'mysqll' for db; did you mean 'mysql'? Available: "
            "mysql, old/pg");
  EXPECT_EQ(error({"db=pg"}),
            "override 'db=pg': unknown value 'pg' for db; did you mean 'old/pg'? Available: mysql, "
            "old/pg");
  EXPECT_EQ(
      error({"db=zzzzzzzzzz"}),
      "override 'db=zzzzzzzzzz': unknown value 'zzzzzzzzzz' for db; available: mysql, old/pg");
  EXPECT_EQ(
      error({"log=loud"}),
      "override 'log=loud': no defaults list has the group 'log' (+log=... adds it); available "
      "groups: db");
  EXPECT_EQ(error({"db/old=pg"}), "override 'db/old=pg': the group is 'db': write db=old/pg");
  EXPECT_EQ(error({"db={a: 1}"}), "override 'db={a: 1}': 'db' is a config group: write db=CHOICE");
  EXPECT_EQ(error({"~db=old/pg"}),
            "override '~db=old/pg': 'db' is 'mysql', so nothing was removed");
  write("main", "a: 1\ndefaults:\n  - db: mysqll\n");
  EXPECT_EQ(error(),
            path("main.yaml") +
                ":3: unknown value 'mysqll' for db; did you mean 'mysql'? Available: mysql, "
                "old/pg");
  EXPECT_EQ(composed({}, "no_such").error().message, "there is no no_such.yaml in conf");
}

TEST_F(Compose, PackagesSayWhereAGroupGoes) {
  write("main", "defaults:\n  - tools/a: one\n  - tools/b@short: one\n  - tools/c: one\n");
  write("tools/a/one", "v: 1\n");
  write("tools/b/one", "# @package ignored.here\nv: 2\n");
  write("tools/b/two", "v: 22\n");
  write("tools/c/one", "# A comment first.\n# @package _global_\nglobal: 3\n");
  EXPECT_EQ(tree(), R"({"tools":{"a":{"v":1}},"short":{"v":2},"global":3})");
  EXPECT_EQ(tree({"tools/b=two"}), R"({"tools":{"a":{"v":1}},"short":{"v":22},"global":3})");
  EXPECT_EQ(tree({"tools/b@short=two", "~tools/a"}), R"({"short":{"v":22},"global":3})");
  EXPECT_EQ(tree({"tools/b=b.two", "~tools/a"}), R"({"short":{"v":22},"global":3})");
  EXPECT_TRUE(contains(error({"tools/b@other=two"}), "no defaults list has the group"));
}

TEST_F(Compose, NestedDefaultsAndOverrideLines) {
  write("main",
        "defaults:\n  - server: big\n  - override /db: pg\n  - _self_\nx: ${server.size}\n");
  write("server/big", "defaults:\n  - base\n  - /db@store: mysql\n  - _self_\nsize: 9\n");
  write("server/base", "size: 1\nport: 80\n");
  write("db/mysql", "kind: mysql\n");
  write("db/pg", "kind: pg\n");
  EXPECT_EQ(tree(), R"({"server":{"size":9,"port":80,"store":{"kind":"pg"}},"x":9})");
  EXPECT_EQ(tree({"db=mysql"}),
            R"({"server":{"size":9,"port":80,"store":{"kind":"mysql"}},"x":9})");
}

TEST_F(Compose, CirclesOfDefaultsAreErrors) {
  write("main", "defaults:\n  - g: a\n");
  write("g/a", "defaults:\n  - b\n");
  write("g/b", "defaults:\n  - a\n");
  EXPECT_EQ(error(), "circular defaults: main -> g/a -> g/b -> g/a");
  write("g/a", "alias_of: a\n");
  EXPECT_EQ(error(), "circular defaults: main -> g/a -> g/a");
}

TEST_F(Compose, AnAliasIsWhatItNames) {
  write("main", "defaults:\n  - g: x/alt\n");
  write("g/x/alt", "alias_of: other\n");
  write("g/x/other", "v: 1\n");
  EXPECT_EQ(tree(), R"({"g":{"v":1}})");
  EXPECT_EQ(composed()->choices.front().choice, "x/alt");
  write("g/x/alt", "alias_of: othr\n");
  EXPECT_EQ(error(), path("g/x/alt.yaml") +
                         ":1: unknown value 'othr' for g/x; did you mean 'other'? Available: alt, "
                         "other");
}

TEST_F(Compose, ChoicesMayDependOnValuesAndChoices) {
  write("main",
        "defaults:\n  - _self_\n  - a: one\n  - b: ${a.wants}\n  - c: ${pick.${mode}}\n"
        "  - optional d: ${a}_${b}\nmode: deep\npick: {deep: one, light: two}\n");
  write("a/one", "wants: one\n");
  write("a/two", "wants: two\n");
  for (const char* name : {"b/one", "c/one", "b/two", "c/two", "d/two_two"}) {
    write(name, std::string("v: ") + name + "\n");
  }
  EXPECT_EQ(tree({"~pick"}),
            R"({"mode":"deep","a":{"wants":"one"},"b":{"v":"b/one"},"c":{"v":"c/one"}})");
  EXPECT_EQ(tree({"a=two", "mode=light", "~pick"}),
            R"({"mode":"light","a":{"wants":"two"},"b":{"v":"b/two"},"c":{"v":"c/two"},)"
            R"("d":{"v":"d/two_two"}})");
  EXPECT_EQ(tree({"a=two", "b=one", "c=one", "mode=light", "~pick"}),
            R"({"mode":"light","a":{"wants":"two"},"b":{"v":"b/one"},"c":{"v":"c/one"}})");
  EXPECT_EQ(error({"mode=lihgt"}),
            path("main.yaml") +
                ":5: ${pick.${mode}}: there is no key 'pick.lihgt'; did you mean "
                "'pick.light'?");
}

TEST_F(Compose, TheUsersFileReplacesTheShippedOneAsAWhole) {
  write("workload/cpu_llm", "name: mine\n");
  write("main", "defaults:\n  - workload: cpu_llm\n  - model: llm/llama3_8b\n");
  const auto config = composed();
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(to_json(*config->tree.root.find("workload")), R"({"name":"mine"})");
  EXPECT_EQ(config->tree.root.find("model")->find("variant")->text, "llama");
}

TEST_F(Compose, ValuesAreParsed) {
  write("main", "a: 1\nm: {x: 1, y: {z: 2}}\nl: [1, 2]\nn: null\n");
  EXPECT_EQ(tree({"a=-2.5"}), R"({"a":-2.5,"m":{"x":1,"y":{"z":2}},"l":[1,2],"n":null})");
  const auto a = [&](const std::string& value) {
    const auto config = composed({"a=" + value});
    return config ? to_json(*config->tree.root.find("a")) : config.error().message;
  };
  EXPECT_EQ(a(""), R"("")");
  EXPECT_EQ(a("null"), "null");
  EXPECT_EQ(a("'null'"), R"("null")");
  EXPECT_EQ(a("true"), "true");
  EXPECT_EQ(a("\"12\""), R"("12")");
  EXPECT_EQ(a("it's: a text #1"), R"("it's: a text #1")");
  EXPECT_EQ(a("x=y"), R"("x=y")");
  EXPECT_EQ(a(" spaced "), R"("spaced")");
  EXPECT_EQ(a(R"('it\'s \\ \n')"), R"("it's \\ \\n")");
  EXPECT_EQ(a("[1, 'b, c', [d], {e: f}, ${oc.env:NO,[x}]"), R"([1,"b, c",["d"],{"e":"f"},"[x"])");
  EXPECT_EQ(a("{b: {c: 1}, 'd e': null}"), R"({"b":{"c":1},"d e":null})");
  EXPECT_EQ(a("[]"), "[]");
  EXPECT_EQ(a("{}"), "{}");
  EXPECT_EQ(a("1,2"),
            "override 'a=1,2': has several values: write [a, b] for a list, or quote it "
            "to make it a string");
  for (const char* broken : {"[1", "[1]x", "{a}", "{a: 1", "'x", "[a,,b]", "\"x\" y",
                             "{a: 1, a: 2}", "${x", "[[[[", "{", "["}) {
    EXPECT_TRUE(a(broken).starts_with("override 'a=")) << a(broken);
  }
}

TEST_F(Compose, KeysAreSetAddedAndRemoved) {
  write("main", "run: {mode: deep, repeats: 1}\nl: [a, b]\nn: null\n");
  EXPECT_EQ(tree({"run.mode=light", "l.1=c"}),
            R"({"run":{"mode":"light","repeats":1},"l":["a","c"],"n":null})");
  EXPECT_EQ(tree({"l[0]=z", "+n.deep.er=1", "~run"}), R"({"l":["z","b"],"n":{"deep":{"er":1}}})");
  EXPECT_EQ(tree({"run={mode: light}", "++new=1", "~l", "~n"}),
            R"({"run":{"mode":"light","repeats":1},"new":1})");
  EXPECT_EQ(tree({"+run.mode=light", "~run.repeats=1", "~l", "~n"}), R"({"run":{"mode":"light"}})");
  EXPECT_EQ(error({"run.moed=light"}),
            "override 'run.moed=light': there is no key 'run.moed'; did you mean 'run.mode'? "
            "(+run.moed=... adds a key)");
  EXPECT_EQ(error({"run={mod: light}"}),
            "override 'run={mod: light}': there is no key 'run.mod'; did you mean 'run.mode'? "
            "(+run.mod=... adds a key)");
  EXPECT_EQ(error({"mode=light"}),
            "override 'mode=light': there is no key 'mode'; did you mean 'run.mode'? (+mode=... "
            "adds a key)");
  EXPECT_EQ(error({"~run.repaets"}),
            "override '~run.repaets': there is no key 'run.repaets'; did you mean "
            "'run.repeats'?");
  EXPECT_EQ(error({"~run.mode=light"}),
            "override '~run.mode=light': 'run.mode' is \"deep\", so nothing was removed");
  EXPECT_EQ(
      error({"run=5"}),
      "override 'run=5': 'run' is a map: set one of its keys, such as run.mode=... (++run=... "
      "replaces it with a value)");
  EXPECT_EQ(tree({"++run=5"}), R"({"run":5,"l":["a","b"],"n":null})");
  EXPECT_TRUE(contains(error({"+run.mode.x=1"}), "a part of 'run.mode.x' is neither a map"));
  EXPECT_TRUE(contains(error({"l.9=1"}), "there is no key 'l.9'"));
  EXPECT_TRUE(contains(error({"light"}), "override 'light': has no '='; write key=value"));
  EXPECT_TRUE(contains(error({"=1"}), "'' is not a valid key"));
  EXPECT_TRUE(contains(error({"a..b=1"}), "'a..b' is not a valid key"));
  EXPECT_TRUE(contains(error({"a b=1"}), "'a b' is not a valid key"));
}

TEST_F(Compose, Interpolations) {
  write("main", R"(
a: 1
b: {c: "${a}", up: "${..a}", beside: "${.c}", d: "x${b.c}y"}
whole: ${b}
through: ${whole.d}
name: b
nested: ${${name}.c}
env: ${oc.env:SET}
otherwise: ${oc.env:UNSET,fallback}
nothing: ${oc.env:UNSET,null}
text: ${oc.env:UNSET,"a, b"}
time: ${now:%Y%m%d-%H%M%S}
cwd: ${hydra:runtime.cwd}/x
dir: ${hydra:run.dir}
hydra: {run: {dir: "out/${now:%H}"}}
selected: ${oc.select:no.such,${a}}
lazy: ${oc.select:a,${no.such}}
literal: \${a}
json: ${llmprof:json,hydra}
home: ${llmprof:home} ${llmprof:bin}
option: ["${llmprof:option,--a,a}", "${llmprof:option,--h,hydra}", "${llmprof:option,--n,nothing}"]
first: ${list.0}${list[1]}
list: [p, q]
)");
  const auto config = composed();
  ASSERT_TRUE(config) << config.error().message;
  const ConfigNode& root = config->tree.root;
  EXPECT_EQ(to_json(*root.find("b")), R"({"c":1,"up":1,"beside":1,"d":"x1y"})");
  EXPECT_EQ(to_json(*root.find("whole")), R"({"c":1,"up":1,"beside":1,"d":"x1y"})");
  EXPECT_EQ(root.find("through")->text, "x1y");
  EXPECT_EQ(root.find("nested")->text, "1");
  EXPECT_EQ(root.find("env")->text, "value");
  EXPECT_EQ(root.find("otherwise")->text, "fallback");
  EXPECT_TRUE(root.find("nothing")->is_null());
  EXPECT_EQ(root.find("text")->text, "a, b");
  EXPECT_EQ(root.find("time")->text, "20261115-073309");
  EXPECT_EQ(root.find("cwd")->text, "/here/x");
  EXPECT_EQ(root.find("dir")->text, "out/07");
  EXPECT_EQ(root.find("selected")->text, "1");
  EXPECT_EQ(root.find("lazy")->text, "1");
  EXPECT_EQ(root.find("literal")->text, "${a}");
  EXPECT_EQ(root.find("json")->text, R"({"run":{"dir":"out/07"}})");
  EXPECT_EQ(root.find("home")->text, "/opt/llmprof /opt/llmprof/bin");
  EXPECT_EQ(to_json(*root.find("option")),
            R"x([["--a",1],["--h","{\"run\":{\"dir\":\"out/07\"}}"],[]])x");
  EXPECT_EQ(root.find("first")->text, "pq");
}

TEST_F(Compose, InterpolationsThatCannotBeResolved) {
  const auto of = [&](const std::string& text) {
    write("main", "first: 1\nx: " + text + "\nmap: {a: 1}\n");
    const std::string message = error();
    const std::string place = path("main.yaml") + ":2: ";
    EXPECT_TRUE(message.starts_with(place)) << message;
    return message.substr(std::min(place.size(), message.size()));
  };
  EXPECT_EQ(of("${frist}"), "${frist}: there is no key 'frist'; did you mean 'first'?");
  EXPECT_EQ(of("${x}"), "circular interpolation: x -> x");
  EXPECT_EQ(of("a${map}"), "${map}: is a map or a list, which cannot be part of a string");
  EXPECT_EQ(of("${oc.env:UNSET}"),
            "${oc.env:UNSET}: environment variable UNSET is not set; set it, or give a default: "
            "${oc.env:UNSET,DEFAULT}");
  EXPECT_TRUE(contains(of("${oc.evn:SET}"), "unknown function 'oc.evn'; did you mean 'oc.env'?"));
  EXPECT_EQ(of("\"${first\""), "'${first' has a '${' without its '}'");
  EXPECT_TRUE(contains(of("${hydra:nothing}"), "is unknown"));
  EXPECT_TRUE(contains(of("${llmprof:hom}"), "is unknown"));
  EXPECT_TRUE(contains(of("${....first}"), "is not a valid key"));
  EXPECT_EQ(of("???"), "'x' has no value; give it one: x=VALUE");
  write("main", "a: ${b.c}\nb: {c: \"${a}\"}\n");
  EXPECT_EQ(error(), path("main.yaml") + ":1: circular interpolation: a -> b.c -> a");
}

TEST_F(Compose, InterpolationsDoNotExplode) {
  std::string text = "a0: xxxxxxxxxxxxxxxx\n";
  std::string lists = "b0: [1, 2]\n";
  for (int i = 1; i < 60; ++i) {
    text += fmt::format("a{0}: ${{a{1}}}${{a{1}}}\n", i, i - 1);
    lists += fmt::format("b{0}: [\"${{b{1}}}\", \"${{b{1}}}\"]\n", i, i - 1);
  }
  write("main", text);
  EXPECT_TRUE(contains(error(), "without limit")) << error();
  write("main", lists);
  EXPECT_TRUE(contains(error(), "without limit")) << error();
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "${";
  deep += "x" + std::string(1000, '}');
  write("main", "x: 1\ny: " + deep + "\n");
  EXPECT_TRUE(contains(error(), "nested too deeply")) << error();
}

TEST_F(Compose, BrokenFilesNameTheLine) {
  write("main", "a: 1\nb: [\n");
  EXPECT_TRUE(error().starts_with(path("main.yaml") + ":")) << error();
  write("main", "a: 1\nb: {x: 1, y: 2}\na: 2\n");
  EXPECT_EQ(error(), path("main.yaml") + ":3: duplicate key 'a'");
  write("main", "- a\n");
  EXPECT_EQ(error(), path("main.yaml") + ":1: expected 'key: value' lines");
  write("main", "defaults: x\n");
  EXPECT_EQ(error(), path("main.yaml") + ":1: 'defaults' must be a list");
  write("main", "defaults:\n  - {a: b, c: d}\n");
  EXPECT_TRUE(contains(error(), "main.yaml:2: an entry of a defaults list is _self_")) << error();
  write("main", "");
  EXPECT_EQ(tree(), "{}");
}

TEST_F(Compose, WhatToYamlWritesComposesToTheSame) {
  write("main", R"yaml(
plain: text
number: 1.5
quoted: "1.5"
"key: odd": {empty: {}, none: null, list: []}
texts: ["a: b", " lead", "tail ", "#no", "- x", "it's", "say \"hi\"", "two\nlines\t", "\\", "~", "null", "???",
        "", "...", "é", "a #b", "{x}", "[y]", "*z", "&w", "!v", "%u", "@t", "`s", "|", ">", "?", ":", "-", "-5"]
nested: [[1, [2, {a: 1, b: [3]}]], {c: {d: e}, f: g}]
literal: \${plain} and ${plain}
slash: C:\dir\${plain}
path: /a/b:c
negative: -3
)yaml");
  const auto first = composed();
  ASSERT_TRUE(first) << first.error().message;
  const std::string yaml = to_yaml(first->tree.root);
  const std::string json = to_json(first->tree.root);
  write("main", yaml);
  const auto again = composed();
  ASSERT_TRUE(again) << again.error().message << "\n" << yaml;
  EXPECT_EQ(to_json(again->tree.root), json) << yaml;
  EXPECT_EQ(to_yaml(again->tree.root), yaml);
  EXPECT_TRUE(contains(json, R"("quoted":"1.5")"));
  EXPECT_TRUE(contains(json, R"("literal":"${plain} and text")")) << json;
}

TEST_F(Compose, ShippedConfigurationsCompose) {
  const auto conf = ConfFiles::open(std::nullopt);
  ASSERT_TRUE(conf);
  for (const std::string& model : conf->names_in("model/llm")) {
    const std::vector<std::string> overrides = {"model=llm/" + model};
    const auto config = compose(*conf, "runner/stage2", overrides, context());
    ASSERT_TRUE(config) << model << ": " << config.error().message;
    // config.yaml is complete: it composes to itself.
    write("main", to_yaml(config->tree.root));
    const auto again = composed();
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(to_json(again->tree.root), to_json(config->tree.root)) << model;
  }
}

// A small deterministic generator, so that failures can be reproduced.
class Noise {
 public:
  explicit Noise(uint64_t seed) : state_(seed) {}
  uint64_t below(uint64_t limit) {
    constexpr uint64_t kFactor = 6364136223846793005ULL;
    constexpr uint64_t kStep = 1442695040888963407ULL;
    constexpr unsigned kHigh = 33;
    state_ = state_ * kFactor + kStep;
    return (state_ >> kHigh) % limit;
  }

 private:
  uint64_t state_;
};

TEST_F(Compose, GarbageNeverCrashes) {
  const auto conf = ConfFiles::open(std::nullopt);
  ASSERT_TRUE(conf);
  const std::vector<std::string> words = {
      "run",       ".",     "mode",    "=",   "+",         "~",        "++",   "@",
      "${",        "}",     "model",   "/",   "llm",       "workload", "[",    "]",
      "{",         "'",     "\"",      ",",   ":",         "alt",      "null", "oc.env",
      "llmprof",   "..",    "\\",      "\n",  "\xff",      "_self_",   "json", "nsys",
      "1",         "hydra", "now",     "%s",  " ",         "option",   "0",    std::string(1, '\0'),
      "profiling", "ncu",   "default", "???", "oc.select", "command",  "#",    "-",
      "é",         "light"};
  size_t accepted = 0;
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    Noise noise(seed);
    std::vector<std::string> overrides(1 + noise.below(2));
    for (std::string& text : overrides) {
      const uint64_t length = 1 + noise.below(9);
      for (uint64_t i = 0; i < length; ++i) text += words[noise.below(words.size())];
    }
    const auto config = compose(*conf, "runner/stage2", overrides, context());
    if (config) {
      ++accepted;
      EXPECT_TRUE(parse_yaml(to_yaml(config->tree.root), "again")) << overrides.front();
    } else {
      EXPECT_EQ(config.error().kind, ErrorKind::usage);
      EXPECT_FALSE(config.error().message.empty());
    }
  }
  EXPECT_LT(accepted, 1500U);
}

TEST(TreePath, SplitsKeys) {
  EXPECT_EQ(split_key("a.b[0].c"), (KeyPath{"a", "b", "0", "c"}));
  EXPECT_EQ(split_key("a"), (KeyPath{"a"}));
  for (const char* wrong : {"", ".", "a.", ".a", "a..b", "a[", "a[]", "a]", "[0]", "a[[0]"}) {
    EXPECT_FALSE(split_key(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace llmprof::config
