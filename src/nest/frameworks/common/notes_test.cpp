#include "nest/frameworks/common/notes.hpp"

#include <gtest/gtest.h>

#include "nest/frameworks/test_exports.hpp"

namespace nest::frameworks {
namespace {

TEST(Notes, SayWhatIsLostAndWhatIsNext) {
  test::Planner planner("llama3.1-8b");
  const ExportQuestion question =
      planner.question(test::degrees({.tensor = 2, .sequence_parallel = true}, 2, 2));
  ExportResult result;
  result.lost = {"this"};
  result.next = {"that"};
  const RankMap map = make_rank_map(question, RankOrder::data_before_stage);
  EXPECT_EQ(export_notes(question, map, "X", result, {"yours"}),
            "# llama3.1-8b: X\n\n"
            "8 ranks on 1 hosts of h100-spine-leaf: tensor 2, sequence parallel, pipeline 2 (1f1b), data 2, "
            "ZeRO 0, "
            "recomputation none.\n"
            "Global batch 16 of 2048 tokens, 8 micro-batches of 1.\n\n"
            "Ranks are numbered tp-cp-ep-dp-pp (the first varies fastest); the data rank is side + 1 * copy. "
            "placement/rank_map.csv has the device of every rank.\n\n"
            "Host names are made up. Slurm and Kubernetes give the hosts of the plan real ones; for other "
            "launchers "
            "export again with --hosts.\n\n"
            "## Lost in translation\n\n- this\n\n## Yours to say\n\n- yours\n\n## Next\n\n- that\n");
}

TEST(Notes, DataIsTheUsers) {
  test::Planner planner("llama3.1-8b");
  ExportQuestion question = planner.question(test::degrees({.tensor = 2, .sequence_parallel = true}, 2, 2));
  question.plan.training.contents.lengths = std::make_shared<const Lengths>(Lengths({{512, 3}, {1024, 1}}));
  const RankMap map = make_rank_map(question, RankOrder::data_before_stage);
  EXPECT_NE(
      export_notes(question, map, "X", {}, {})
          .find(
              "## Yours to say\n\n- the data: documents of 640 tokens in the mean, packed into sequences, in "
              "which attention stays inside each document\n"),
      std::string::npos);
}

}  // namespace
}  // namespace nest::frameworks
