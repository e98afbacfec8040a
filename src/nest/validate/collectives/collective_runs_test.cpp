#include "nest/validate/collectives/collective_runs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "nest/base/files.hpp"

namespace nest::validate {
namespace {

CollectiveRow row(const std::string& id, double bytes, double time_us) {
  CollectiveRow out;
  out.id = id;
  out.collective = "all_reduce";
  out.hardware = "A100";
  out.devices = 8;
  out.nodes = 1;
  out.devices_per_node = 8;
  out.message_bytes = bytes;
  out.time_us = time_us;
  return out;
}

TEST(CheckCollectives, CountsRowsUsableAndSkipped) {
  std::vector<CollectiveRow> rows{row("small", 1000, 50), row("a", 1e9, 8000), row("b", 1e9, 9000)};
  rows.push_back(row("c", 1e9, 8000));
  rows.back().hardware = "not stated";
  const CollectiveRuns runs = check_collectives(rows);
  EXPECT_EQ(runs.all.rows, 2);
  EXPECT_EQ(runs.pairs, 1);
  const Value v = to_value(runs);
  EXPECT_EQ(*v.find("rows")->as_int(), 4);
  EXPECT_EQ(*v.find("usable")->as_int(), 3);
  EXPECT_EQ(*v.find("skipped")->as_int(), 1);
  EXPECT_TRUE(v.find("constant_model")->find("median_abs_error"));
  EXPECT_EQ(v.find("strata")->as_array()->size(), 3U);
  EXPECT_EQ(check_collectives(rows, {.all = true}).all.rows, 3);
}

TEST(CheckCollectives, StrataOfLargeMessages) {
  std::vector<CollectiveRow> rows{row("a", 1e9, 8000), row("b", 1e9, 9000), row("c", 1e9, 9000)};
  rows[1].devices = 2;
  rows[1].collective = "all_to_all";
  rows[2].message_bytes = 16e6;  // not above
  std::vector<std::string> names;
  std::vector<std::int64_t> counts;
  for (const ErrorSummary& s : check_collectives(rows).strata) {
    names.push_back(s.name);
    counts.push_back(s.rows);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"all_reduce, A100", "all_to_all, A100", "2 members above 16 MB",
                                             "8 members above 16 MB", "all-reduce above 16 MB",
                                             "all-to-all above 16 MB"}));
  EXPECT_EQ(counts, (std::vector<std::int64_t>{2, 1, 1, 1, 1, 1}));
}

TEST(CheckCollectives, IdealConstantsGiveIdealTimes) {
  const std::vector<CollectiveRow> rows{row("a", 1e9, 8000)};
  const CollectiveRuns runs = check_collectives(
      rows, {.constants = [](const CollectiveCase& c) { return ideal_constants(*c.cluster); }});
  EXPECT_EQ(runs.rows[0].predicted, runs.rows[0].ideal);
  EXPECT_NEAR(runs.rows[0].ideal.value, 2 * (7.0 / 8) * 1e9 / 300e9 + 6e-6, 1e-9);
}

// The table of tests/data, which is always there.
std::vector<CollectiveRow> small_table() {
  return read_collective_rows("collectives.csv", read_file(NEST_SOURCE_DIR "/tests/data/collectives.csv"));
}

// A large table, in addition: empty where the folder of NEST_SHARED (by default the folder `shared` beside
// the repository) does not have it.
std::vector<CollectiveRow> large_table(const std::string& name = "collectives.csv") {
  const char* folder = std::getenv("NEST_SHARED");
  const std::filesystem::path file =
      std::filesystem::path(folder ? folder : NEST_SOURCE_DIR "/../shared") / "runs" / name;
  if (!std::filesystem::exists(file)) return {};
  return read_collective_rows(file.filename().string(), read_file(file.string()));
}

TEST(CheckCollectives, MeasurementsOfASmallTable) {
  const CollectiveRuns runs = check_collectives(small_table());
  EXPECT_EQ(runs.all.rows, 11);
  EXPECT_LE(runs.all.median, 0.10);
  EXPECT_LE(runs.all.p90, 0.25);
  EXPECT_LT(runs.all.median, runs.constant.median / 3);
}

TEST(CheckCollectives, PublishedMeasurements) {
  const auto rows = large_table();
  if (rows.empty()) GTEST_SKIP() << "the large table is absent; the small one is read above";
  const CollectiveRuns runs = check_collectives(rows);
  EXPECT_GE(runs.all.rows, 65);
  EXPECT_LE(runs.all.median, 0.10);
  EXPECT_LE(runs.all.p90, 0.25);
  EXPECT_LT(runs.all.median, runs.constant.median / 3);
  EXPECT_GE(runs.right, runs.pairs * 9 / 10);
}

// Groups of 2, 4 and 8 inside a node, A100 to GB300.
TEST(CheckCollectives, SmallGroups) {
  const auto rows = large_table("collectives_2026.csv");
  if (rows.empty()) GTEST_SKIP() << "the table of small groups is absent";
  const CollectiveRuns runs = check_collectives(rows);
  EXPECT_EQ(runs.all.rows, 380);
  EXPECT_LE(runs.all.median, 0.06);
  EXPECT_LE(runs.all.p90, 0.22);
  std::map<std::string, ErrorSummary> strata;
  for (const ErrorSummary& s : runs.strata) strata[s.name] = s;
  for (const std::string what :
       {"2 members", "4 members", "8 members", "all-reduce", "reduce-scatter", "all-gather", "all-to-all"}) {
    const ErrorSummary& s = strata.at(what + " above 16 MB");
    EXPECT_LE(s.median, 0.06) << what;
    EXPECT_LE(s.p90, 0.14) << what;
    EXPECT_LE(std::abs(s.signed_median), 0.03) << what;
  }
}

// Every fabric with the constants of its nearest relative, to which none of its own rows was fitted. How far
// the figures above carry over to a fabric without measurements; docs/collectives.md quotes it.
CollectiveRuns with_nearest_constants(const std::vector<CollectiveRow>& rows) {
  static const std::map<std::string, std::string> kNearest{{"nvlink3", "nvlink4"}, {"nvlink4", "nvlink5"},
                                                           {"nvlink5", "nvlink4"}, {"efa-p4", "efa-p5"},
                                                           {"efa-p5", "efa-p6"},   {"efa-p6", "efa-p5"}};
  const auto relative = [](const CollectiveCase& c) {
    std::vector<std::string> names = c.fabrics;
    for (std::string& name : names) {
      if (const auto found = kNearest.find(name); found != kNearest.end()) name = found->second;
    }
    return fabric_constants(*c.cluster, names);
  };
  return check_collectives(rows, {.constants = relative});
}

TEST(CheckCollectives, WithTheConstantsOfTheNearestFabricOverASmallTable) {
  const CollectiveRuns runs = with_nearest_constants(small_table());
  EXPECT_LE(runs.all.median, 0.25);
  EXPECT_GT(runs.all.median, check_collectives(small_table()).all.median);  // its own constants are better
}

TEST(CheckCollectives, WithTheConstantsOfTheNearestFabric) {
  const auto rows = large_table();
  if (rows.empty()) GTEST_SKIP() << "the large table is absent; the small one is read above";
  const CollectiveRuns runs = with_nearest_constants(rows);
  RecordProperty("median", std::to_string(runs.all.median));
  RecordProperty("p90", std::to_string(runs.all.p90));
  EXPECT_LE(runs.all.median, 0.15);
  EXPECT_LE(runs.all.p90, 0.60);
}

}  // namespace
}  // namespace nest::validate
