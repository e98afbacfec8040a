#include "nest/solve/ask/advice.hpp"

#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"
#include "nest/question/make_question.hpp"

namespace nest::solve {
namespace {

constexpr std::int64_t kGib = std::int64_t{1} << 30;

// A question that `fits` may answer with a plan; it is told what a device would need otherwise.
struct Toy {
  std::function<bool(const PlanQuestion&)> fits;
  Bytes needs;
  int searches = 0;
  bool stopped = false;

  [[nodiscard]] std::vector<Advice> advise(const PlanQuestion& question, const AdviceOptions& options = {}) {
    const SearchFunction searching = [this](const PlanQuestion& q) {
      ++searches;
      SearchResult result;
      result.least_memory = needs;
      if (!fits(q)) return result;
      result.status = PlanStatus::feasible;
      result.plans.emplace_back().predicted.emplace().tokens_per_s = 1234.9;
      return result;
    };
    SearchResult none;
    none.least_memory = needs;
    AdviceList found = advise_unfit(question, none, options, searching);
    stopped = found.stopped;
    return std::move(found.all);
  }
};

PlanQuestion question(Asked asked = {}) {
  asked.global_batch = 4;
  return make_question(test::example_inputs(), asked);  // 4 devices in 2 nodes, 80 GB
}

std::vector<std::string> sentences(const std::vector<Advice>& list) {
  std::vector<std::string> out;
  out.reserve(list.size());
  for (const Advice& a : list) out.push_back(a.sentence);
  return out;
}

using Sentences = std::vector<std::string>;

TEST(Advice, NothingHelps) {
  Toy toy{[](const PlanQuestion&) { return false; }, Bytes{0}};
  EXPECT_TRUE(toy.advise(question()).empty());
}

TEST(Advice, EachPinnedChoiceIsLeftOpenInTurn) {
  Asked asked;
  asked.choices.zero = *read_choice("0,1");
  asked.choices.pipeline = Choice(2);
  Toy toy{[](const PlanQuestion& q) { return q.space.zero.has(3); }, Bytes{0}};
  const std::vector<Advice> advice = toy.advise(question(asked));
  EXPECT_EQ(sentences(advice), Sentences{"--zero left open, not 0,1"});
  EXPECT_EQ(advice[0].kind, AdviceKind::knob);
  EXPECT_TRUE(advice[0].plan);
}

// What the rules close (DeepSpeed has no sequence parallelism) was never asked for, and is not left open
// alone.
TEST(Advice, RulesOfAFrameworkAreAKnobToo) {
  Asked asked;
  asked.framework = "deepspeed";
  Toy toy{[](const PlanQuestion& q) { return q.space.sequence_parallel.empty(); }, Bytes{0}};
  EXPECT_EQ(sentences(toy.advise(question(asked))), Sentences{"without --for deepspeed"});
}

// 96.43 GiB are needed: "96.5 GiB" is enough, "96.4 GiB" would not be.
TEST(Advice, MemoryIsRoundedUpAndTried) {
  const Bytes needs{static_cast<std::int64_t>(96.43 * kGib)};
  Toy toy{[&](const PlanQuestion& q) { return q.inputs.cluster.device_memory() >= needs; }, needs};
  const std::vector<Advice> advice = toy.advise(question());
  EXPECT_EQ(sentences(advice), Sentences{"devices with 96.5 GiB of memory in place of 74.5 GiB"});
  EXPECT_EQ(advice[0].kind, AdviceKind::memory);
  EXPECT_GE(advice[0].amount, needs.value);
}

TEST(Advice, MemoryThatDoesNotHelpIsNotNamed) {
  Toy toy{[](const PlanQuestion&) { return false; }, Bytes{200 * kGib}};
  EXPECT_TRUE(toy.advise(question()).empty());
}

// From 4 devices in pairs: 6 would do, found by doubling (6, 12, ..) and closing in.
TEST(Advice, DevicesAreTheFewestThatDo) {
  for (const std::int64_t enough : {6, 10, 34, 200}) {
    Toy toy{[&](const PlanQuestion& q) { return q.inputs.cluster.devices() >= enough; }, Bytes{0}};
    const std::vector<Advice> advice = toy.advise(question());
    ASSERT_EQ(advice.size(), 1U) << enough;
    EXPECT_EQ(advice[0].amount, enough);
    EXPECT_EQ(advice[0].sentence, std::to_string(enough) + " devices in place of 4");
    EXPECT_LT(toy.searches, 24);
  }
}

TEST(Advice, ACutClusterGrowsBackByItsOwnLevels) {
  PlanQuestion asked = question();
  asked.whole = asked.inputs.cluster;
  ClusterParts parts = asked.inputs.cluster.parts();
  parts.levels[0].fan_out.size = 1;
  parts.levels[1].fan_out.size = 1;
  asked.inputs.cluster = Cluster(parts);
  Toy toy{[](const PlanQuestion& q) { return q.inputs.cluster.devices() >= 2 && q.space.offload.empty(); },
          Bytes{0}};
  const std::vector<Advice> advice = toy.advise(asked);
  ASSERT_FALSE(advice.empty());
  EXPECT_EQ(advice[0].sentence, "2 devices in place of 1");
}

TEST(Advice, ALargerBatch) {
  Toy toy{[](const PlanQuestion& q) { return q.training.global_batch == 8; }, Bytes{0}};
  EXPECT_EQ(sentences(toy.advise(question())), Sentences{"--global-batch 8 in place of 4"});
}

TEST(Advice, AShorterSequenceAndWiderChoicesOfModels) {
  Warnings warnings;
  Asked batch;
  batch.global_batch = 4096;
  const PlanQuestion asked = make_question(load_inputs("gpt2", "h100-spine-leaf", "plain", warnings), batch);
  Toy sequence{[](const PlanQuestion& q) { return q.training.sequence == 512; }, Bytes{0}};
  EXPECT_EQ(sentences(sequence.advise(asked)), Sentences{"--sequence 512 in place of 1024"});
  Toy context{[](const PlanQuestion& q) { return !q.space.context.open(); }, Bytes{0}};
  EXPECT_EQ(sentences(context.advise(asked)), Sentences{"--context 1, beyond the default"});
}

// Moments of half as many bits do: fewer are not tried. Nothing is said of what the plain recipe has already.
TEST(Advice, DtypesWithFewerBytes) {
  Warnings warnings;
  const PlanQuestion asked = make_question(load_inputs("gpt2", "h100-spine-leaf", "megatron", warnings));
  Toy moments{[](const PlanQuestion& q) { return q.training.states.moments.has_value(); }, Bytes{0}};
  const std::vector<Advice> advice = moments.advise(asked);
  EXPECT_EQ(sentences(advice), Sentences{"--optimizer-dtype bf16, 14 bytes a parameter in place of 18"});
  EXPECT_EQ(advice[0].field, "optimizer-dtype");
  EXPECT_EQ(advice[0].value, "bf16");
  Toy all{[](const PlanQuestion& q) {
            return q.training.states.moments == StateDType::fp8 && q.training.states.master_weights == false;
          },
          Bytes{0}};
  EXPECT_EQ(
      sentences(all.advise(asked)),
      Sentences{"--gradient-dtype bf16 --reduce-dtype bf16 --optimizer-dtype fp8 --master-weights off, 6 "
                "bytes a parameter in place of 18"});
  Toy plain{[](const PlanQuestion& q) { return q.training.states.any() && q.space.offload.empty(); },
            Bytes{0}};
  EXPECT_TRUE(plain.advise(question()).empty());
}

// Each alone, and both where neither does.
TEST(Advice, HostMemory) {
  const auto offloads = [](bool optimizer, bool activations) {
    return [=](const PlanQuestion& q) {
      return (!optimizer || q.training.states.offload.optimizer) &&
             (!activations || q.training.states.offload.activations) && q.training.states.offload.any();
    };
  };
  const std::string optimizer =
      "--offload optimizer, with a step of 0 s and 0 GiB of host memory for a device";
  const std::string activations =
      "--offload activations, with a step of 0 s and 0 GiB of host memory for a device";
  EXPECT_EQ(sentences(Toy{offloads(true, false), Bytes{0}}.advise(question())), Sentences{optimizer});
  EXPECT_EQ(sentences(Toy{offloads(false, false), Bytes{0}}.advise(question())),
            (Sentences{optimizer, activations}));
  const std::vector<Advice> both = Toy{offloads(true, true), Bytes{0}}.advise(question());
  EXPECT_EQ(sentences(both),
            Sentences{"--offload activations+optimizer, with a step of 0 s and 0 GiB of host memory "
                      "for a device"});
  EXPECT_EQ(both[0].field, "offload");
  EXPECT_EQ(both[0].value, "activations+optimizer");
  Asked muon;
  muon.optimizer = Optimizer::muon;
  Warnings warnings;
  const PlanQuestion asked =
      make_question(load_inputs("gpt2", "h100-spine-leaf", "megatron", warnings), muon);
  EXPECT_TRUE(sentences(Toy{offloads(true, false), Bytes{0}}.advise(asked)).empty());
}

TEST(Advice, ATargetBeyondReachNamesWhatIsReached) {
  PlanQuestion asked = question();
  asked.options.objective = Objective::devices;
  asked.options.target_tokens_per_s = 5000;
  Toy toy{[](const PlanQuestion& q) { return q.options.target_tokens_per_s == 0; }, Bytes{0}};
  EXPECT_EQ(sentences(toy.advise(asked)),
            Sentences{"--target-tokens-per-s 1,234 or less, what the fastest plan found reaches"});
}

TEST(Advice, EverySearchHasALimit) {
  Toy toy{[](const PlanQuestion& q) {
            EXPECT_LE(q.options.deadline.left(), Seconds{2});
            EXPECT_GT(q.options.gap, 1e6);  // the first plan is enough
            return false;
          },
          Bytes{0}};
  AdviceOptions options;
  options.search_limit = Seconds{2};
  EXPECT_TRUE(toy.advise(question(), options).empty());
  EXPECT_GT(toy.searches, 0);
  options.total_limit = Seconds{0};
  toy.searches = 0;
  EXPECT_TRUE(toy.advise(question(), options).empty());
  EXPECT_EQ(toy.searches, 0);
  EXPECT_TRUE(toy.stopped);
}

TEST(Advice, TellsWhatItLooksFor) {
  std::vector<std::string> told;
  AdviceOptions options;
  options.asking = [&](const std::string& what) { told.push_back(what); };
  Toy toy{[](const PlanQuestion&) { return false; }, Bytes{100 * kGib}};
  EXPECT_TRUE(toy.advise(question(), options).empty());
  EXPECT_EQ(told, (std::vector<std::string>{
                      "--offload optimizer", "--offload activations", "--offload activations+optimizer",
                      "devices with 100 GiB of memory", "more devices", "--global-batch 8"}));
}

// Only the search that follows needs the least memory: others that find nothing do not look for it.
TEST(Advice, OnlyOneSearchAsksForTheLeastMemory) {
  const PlanQuestion asked = question();
  const Bytes has = asked.inputs.cluster.device_memory();
  Toy toy{[&](const PlanQuestion& q) {
            EXPECT_EQ(q.options.least_memory, q.inputs.cluster.device_memory() != has);
            return false;
          },
          Bytes{100 * kGib}};
  EXPECT_TRUE(toy.advise(asked).empty());
  EXPECT_GT(toy.searches, 2);
  EXPECT_FALSE(toy.stopped);
}

TEST(Advice, EndsWhenItIsCancelled) {
  PlanQuestion asked = question();
  Toy toy{[&](const PlanQuestion&) {
            asked.options.deadline.cancel();
            return true;
          },
          Bytes{100 * kGib}};
  EXPECT_EQ(toy.advise(asked).size(), 1U);
  EXPECT_EQ(toy.searches, 1);
  EXPECT_TRUE(toy.stopped);
}

}  // namespace
}  // namespace nest::solve
