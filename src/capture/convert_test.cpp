#include "capture/convert.h"

#include "capture/shell.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "testing/temporary_folder.h"

namespace llmprof::capture {
namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;
using std::filesystem::path;
using testing::file_bytes;
using testing::TemporaryFolder;

constexpr std::string_view kReport = "NVIDIA Tegra Profiler Report 1.\n";
constexpr std::string_view kStream = "U3w[END]NVIDIA Nsight Systems Stream 2025.3.1.0!\n";
constexpr std::string_view kNcuReport = "NVR\0\n"sv;

TEST(ReportKindOf, GoesByContentWhateverTheName) {
  EXPECT_EQ(report_kind("a.bin", "NVIDIA Tegra Profiler Report 1.\n\v"), ReportKind::nsys_report);
  EXPECT_EQ(report_kind("a.bin", "NVIDIA Tegra Profiler Report 36398880."),
            ReportKind::nsys_report);
  EXPECT_EQ(report_kind("a.nsys-rep", kStream), ReportKind::nsys_stream);
  EXPECT_EQ(report_kind("a", "NVR\0\x02\0\0\0"sv), ReportKind::ncu_report);
  EXPECT_EQ(report_kind("a.nsys-rep", "NVR\0\x02\0\0\0"sv), ReportKind::ncu_report);
}

TEST(ReportKindOf, GoesByTheNameOtherwise) {
  EXPECT_EQ(report_kind("dir.ncu-rep/a.nsys-rep", ""), ReportKind::nsys_report);
  EXPECT_EQ(report_kind("a.QDREP", "x"), ReportKind::nsys_report);
  EXPECT_EQ(report_kind("a.b.qdstrm", "x"), ReportKind::nsys_stream);
  EXPECT_EQ(report_kind("a.ncu-rep", "NVR"), ReportKind::ncu_report);
}

TEST(ReportKindOf, LeavesTheRestToOthers) {
  EXPECT_EQ(report_kind("a.sqlite", "SQLite format 3\0"sv), std::nullopt);
  EXPECT_EQ(report_kind("a.csv", "\"ID\",\"NVR\""), std::nullopt);
  EXPECT_EQ(report_kind("nsys-rep", ""), std::nullopt);
  EXPECT_EQ(report_kind("", ""), std::nullopt);
  const std::string late = std::string(100, ' ') + std::string(kStream);
  EXPECT_EQ(report_kind("a.txt", late), std::nullopt);
}

TEST(ConversionCommands, AreReadyToPaste) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(conversion_commands("run.nsys-rep", ReportKind::nsys_report),
            Lines{"nsys export --type sqlite --output run.sqlite run.nsys-rep"});
  EXPECT_EQ(conversion_commands("/data/old.qdrep", ReportKind::nsys_report),
            Lines{"nsys export --type sqlite --output /data/old.sqlite /data/old.qdrep"});
  EXPECT_EQ(conversion_commands("run.qdstrm", ReportKind::nsys_stream),
            (Lines{"QdstrmImporter -i run.qdstrm -o run.nsys-rep",
                   "nsys export --type sqlite --output run.sqlite run.nsys-rep"}));
  EXPECT_EQ(conversion_commands("d/k.ncu-rep", ReportKind::ncu_report),
            Lines{"ncu --import d/k.ncu-rep --page raw --csv > d/k.csv"});
  EXPECT_EQ(
      conversion_commands("it's my run.ncu-rep", ReportKind::ncu_report),
      Lines{"ncu --import 'it'\\''s my run.ncu-rep' --page raw --csv > 'it'\\''s my run.csv'"});
  EXPECT_EQ(conversion_commands("-x.ncu-rep", ReportKind::ncu_report),
            Lines{"ncu --import ./-x.ncu-rep --page raw --csv > ./-x.csv"});
  EXPECT_EQ(conversion_commands("misnamed.sqlite", ReportKind::nsys_report),
            Lines{"nsys export --type sqlite --output misnamed.sqlite.sqlite misnamed.sqlite"});
}

TEST(LastWords, LeaveOutProgressAndWhatCannotBePrinted) {
  EXPECT_EQ(last_words("\rProcessing [=6%   ]\rProcessing [==100%]\nError: \x1B[1mbad\n\n"),
            "Error:  [1mbad");
  EXPECT_EQ(last_words("one\ntwo\nthree\nfour\n"), "two | three | four");
  EXPECT_EQ(last_words(std::string(299, 'x') + "\nlast"), "last");
  EXPECT_EQ(last_words(""), "");
  EXPECT_LT(last_words(std::string(10000, 'x')).size(), 310U);
}

// A machine with the fakes installed, a read-only folder with the report, and a place for results.
class Convert : public ::testing::Test {
 protected:
  Convert() {
    options.search.root = machine.path();
    options.search.machine = "x86_64";
    options.search.chosen.clear();
    options.search.path_list.clear();
    options.timeout = 60s;
    options.grace = 200ms;
  }

  ~Convert() override {
    // Conversions must leave nothing but their result.
    for (const auto& entry : std::filesystem::directory_iterator(output.path())) {
      EXPECT_FALSE(entry.path().filename().string().starts_with(".")) << entry.path();
    }
  }

  void install(std::string_view fake, std::string_view place) const {
    const path file = machine.path() / place;
    std::filesystem::create_directories(file.parent_path());
    std::filesystem::create_symlink(std::filesystem::absolute("tests/fakes") / fake, file);
  }
  void install_nsys() const { install("nsys", "opt/nvidia/nsight-systems/2025.3.1/bin/nsys"); }
  void install_importer() const {
    install("QdstrmImporter", "opt/nvidia/nsight-systems/2025.3.1/host-linux-x64/QdstrmImporter");
  }
  void install_ncu() const { install("ncu", "opt/nvidia/nsight-compute/2025.3.1/ncu"); }

  path report(std::string_view name, std::string_view magic, std::string_view behavior = "") {
    content = std::string(magic) + std::string(behavior) + "\n";
    return input.write(name, content);
  }

  Result<path> convert(const path& file) {
    const auto kind = report_kind(file, file_bytes(file));
    EXPECT_TRUE(kind);
    auto result =
        convert_report(file, kind.value_or(ReportKind::nsys_report), output.path(), options);
    EXPECT_EQ(file_bytes(file), content) << "the report was changed";
    const auto beside = std::filesystem::directory_iterator(input.path());
    EXPECT_EQ(std::distance(begin(beside), end(beside)), 1) << "something was written beside it";
    return result;
  }

  Error refusal(const path& file) {
    const auto result = convert(file);
    EXPECT_FALSE(result);
    EXPECT_TRUE(std::filesystem::is_empty(output.path()));
    return result ? Error{} : result.error();
  }

  TemporaryFolder machine;
  TemporaryFolder input;
  TemporaryFolder output;
  ConversionOptions options;
  std::string content;
};

TEST_F(Convert, ExportsAnNsysReport) {
  install_nsys();
  for (const char* name : {"run.nsys-rep", "-my run.qdrep"}) {
    const path file = report(name, kReport);
    const auto made = convert(file);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(*made, output.path() / file.stem().concat(".sqlite"));
    const std::string bytes = file_bytes(*made);
    EXPECT_TRUE(bytes.starts_with("SQLite format 3\0"sv));
    EXPECT_TRUE(contains(bytes, "input=input.nsys-rep\n"));
    EXPECT_TRUE(contains(bytes, "home=" + output.path().string() + "/.convert-"));
    EXPECT_TRUE(contains(bytes, "folder=" + output.path().string() + "/.convert-"));
    EXPECT_TRUE(contains(bytes, "locale=C\n"));
    EXPECT_TRUE(bytes.ends_with(content));
    std::filesystem::remove(file);
  }
}

TEST_F(Convert, ReadsFromAReadOnlyFolder) {
  install_nsys();
  install_importer();
  const path file = report("run.qdstrm", kStream);
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  std::filesystem::permissions(
      input.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const auto made = convert(file);
  EXPECT_TRUE(made) << made.error().message;
  std::filesystem::permissions(input.path(), std::filesystem::perms::owner_all);
}

TEST_F(Convert, NeverReplacesAFile) {
  install_nsys();
  const path taken = output.write("run.sqlite", "mine");
  const path file = report("run.nsys-rep", kReport);
  const auto second = convert(file);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->filename(), "run-2.sqlite");
  EXPECT_EQ(convert(file)->filename(), "run-3.sqlite");
  EXPECT_EQ(file_bytes(taken), "mine");
}

TEST_F(Convert, MakesTheOutputFolder) {
  install_nsys();
  const path file = report("run.nsys-rep", kReport);
  const auto made =
      convert_report(file, ReportKind::nsys_report, output.path() / "a" / "b", options);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(*made, output.path() / "a" / "b" / "run.sqlite");
}

TEST_F(Convert, ImportsAStreamFirst) {
  install_nsys();
  install_importer();
  const auto made = convert(report("run.qdstrm", kStream));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->filename(), "run.sqlite");
  EXPECT_TRUE(contains(file_bytes(*made), "input=imported.nsys-rep\n"));
}

TEST_F(Convert, PrintsTheRawPageOfAnNcuReport) {
  install_ncu();
  const auto made = convert(report("decode.ncu-rep", kNcuReport));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->filename(), "decode_raw.csv");
  EXPECT_TRUE(contains(file_bytes(*made), "\"0\",\"scale(float *, float)\",\"1024\"\n"));
}

TEST_F(Convert, TriesEveryInstallation) {
  install("nsys_of_another_version", "opt/nvidia/nsight-systems/2026.1.1/bin/nsys");
  install_nsys();
  const auto made = convert(report("run.nsys-rep", kReport));
  EXPECT_TRUE(made) << made.error().message;
}

TEST_F(Convert, RefusesWithTheCommandWhereNsysIsMissing) {
  const path file = report("run.nsys-rep", kReport);
  const Error error = refusal(file);
  EXPECT_EQ(error.kind, ErrorKind::input);
  EXPECT_TRUE(contains(error.message, file.string() + ": an Nsight Systems report"));
  const std::string stem = (input.path() / "run").string();
  EXPECT_TRUE(contains(error.message, "\n  nsys export --type sqlite --output " + stem +
                                          ".sqlite " + stem + ".nsys-rep\n"))
      << error.message;
  EXPECT_TRUE(contains(error.message, "LLMPROF_NSYS"));
}

TEST_F(Convert, RefusesAStreamWhereEitherToolIsMissing) {
  const path file = report("run.qdstrm", kStream);
  Error error = refusal(file);
  EXPECT_EQ(error.kind, ErrorKind::input);
  EXPECT_TRUE(contains(error.message, "\n  QdstrmImporter -i "));
  EXPECT_TRUE(contains(error.message, "\n  nsys export --type sqlite --output "));
  EXPECT_TRUE(contains(error.message, "version that wrote the stream: 2025.3.1.0."));
  install_importer();
  error = refusal(file);
  EXPECT_EQ(error.kind, ErrorKind::input);
  EXPECT_TRUE(contains(error.message, "LLMPROF_NSYS"));
}

TEST_F(Convert, RefusesAnNcuReportWhereNcuIsMissing) {
  const Error error = refusal(report("k.ncu-rep", kNcuReport));
  EXPECT_EQ(error.kind, ErrorKind::input);
  EXPECT_TRUE(contains(error.message, "/k.ncu-rep --page raw --csv > "));
}

TEST_F(Convert, QuotesWhatAFailingToolSaid) {
  install_nsys();
  const Error error = refusal(report("run.nsys-rep", kReport, "nsys:fail"));
  EXPECT_EQ(error.kind, ErrorKind::tool);
  EXPECT_TRUE(contains(error.message,
                       "nsys could not convert it: exit code 1; it printed \"Exportation error: "
                       "Version not supported: 36398880\"."))
      << error.message;
  EXPECT_TRUE(contains(error.message, "\n  nsys export --type sqlite --output "));
}

TEST_F(Convert, ReportsThatAToolCrashed) {
  install_nsys();
  const Error error = refusal(report("run.nsys-rep", kReport, "nsys:crash"));
  EXPECT_EQ(error.kind, ErrorKind::tool);
  EXPECT_TRUE(contains(error.message, "killed by signal 11")) << error.message;
}

TEST_F(Convert, QuotesWhatAFailingImporterSaid) {
  install_nsys();
  install_importer();
  Error error = refusal(report("run.qdstrm", kStream, "importer:fail"));
  EXPECT_EQ(error.kind, ErrorKind::tool);
  EXPECT_TRUE(contains(error.message, "Qdstrm version 2025.3.1.0 is not supported."));
  EXPECT_TRUE(contains(error.message, "LLMPROF_QDSTRM_IMPORTER"));
  error = refusal(report("run.qdstrm", kStream, "importer:empty"));
  EXPECT_TRUE(contains(error.message, "it reported success but left no usable output"));
  error = refusal(report("run.qdstrm", kStream, "nsys:fail"));
  EXPECT_TRUE(contains(error.message, "Version not supported")) << error.message;
}

TEST_F(Convert, QuotesWhatAFailingNcuSaid) {
  install_ncu();
  const Error error = refusal(report("k.ncu-rep", kNcuReport, "ncu:fail"));
  EXPECT_EQ(error.kind, ErrorKind::tool);
  EXPECT_TRUE(contains(error.message, "exit code 1; it printed \"==ERROR== Failed to load report"))
      << error.message;
}

TEST_F(Convert, DoesNotTakeUselessOutputForSuccess) {
  install_nsys();
  install_ncu();
  for (const char* behavior : {"nsys:nothing", "nsys:empty", "nsys:garbage"}) {
    const Error error = refusal(report("run.nsys-rep", kReport, behavior));
    EXPECT_EQ(error.kind, ErrorKind::tool) << behavior;
    EXPECT_TRUE(contains(error.message, "left no usable output")) << behavior;
  }
  std::filesystem::remove(input.path() / "run.nsys-rep");
  for (const char* behavior : {"ncu:empty", "ncu:garbage"}) {
    const Error error = refusal(report("k.ncu-rep", kNcuReport, behavior));
    EXPECT_EQ(error.kind, ErrorKind::tool) << behavior;
    EXPECT_TRUE(contains(error.message, "left no usable output")) << behavior;
  }
}

TEST_F(Convert, EndsAToolThatHangs) {
  install_nsys();
  options.timeout = 500ms;
  const Error error = refusal(report("run.nsys-rep", kReport, "nsys:hang"));
  EXPECT_EQ(error.kind, ErrorKind::tool);
  EXPECT_TRUE(contains(error.message, "not finished after")) << error.message;
}

TEST_F(Convert, PassesOnAWrongVariable) {
  options.search.chosen[Tool::nsys] = "/nowhere/nsys";
  EXPECT_EQ(refusal(report("run.nsys-rep", kReport)).kind, ErrorKind::usage);
}

TEST_F(Convert, RefusesWhatCannotBeAReport) {
  install_nsys();
  content = "";
  Error error = refusal(input.write("run.nsys-rep", content));
  EXPECT_EQ(error.kind, ErrorKind::input);
  EXPECT_TRUE(contains(error.message, "the file is empty"));
  content = "\x1F\x8B\x08";
  error = refusal(input.write("run.nsys-rep", content));
  EXPECT_EQ(error.kind, ErrorKind::input);
  EXPECT_TRUE(contains(error.message, "gunzip"));
  const auto absent =
      convert_report(input.path() / "absent", ReportKind::nsys_report, output.path(), options);
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().kind, ErrorKind::input);
  EXPECT_TRUE(contains(absent.error().message, "No such file"));
  const auto folder = convert_report(input.path(), ReportKind::nsys_report, output.path(), options);
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().kind, ErrorKind::input);
}

}  // namespace
}  // namespace llmprof::capture
