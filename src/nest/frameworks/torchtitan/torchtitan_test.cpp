#include "nest/frameworks/torchtitan/torchtitan.hpp"

#include <gtest/gtest.h>

#include "nest/frameworks/test_exports.hpp"
#include "nest/frameworks/test_validators.hpp"
#include "nest/frameworks/torchtitan/test_titan_options.hpp"

namespace nest::frameworks {
namespace {

using Settings = test::TitanSettings;

// Texts without their quotes; the main branch counts tokens where 0.2.2 counts sequences.
Settings read_release(const std::string& text) {
  Settings out = test::read_titan_toml(text);
  for (auto& [name, value] : out) value = test::unquoted(value);
  return out;
}

Settings read_main(const std::string& text) {
  Settings out = test::read_titan_python(text);
  for (auto& [name, value] : out) value = test::unquoted(value);
  const auto number = [&](const char* name) { return std::stol(out.at(name)); };
  const long sequence = number("training.max_context_length");
  const long micro = number("training.num_tokens_per_microbatch_per_dp_rank") / sequence;
  const bool pipeline = number("parallelism.pipeline_parallel_degree") > 1;
  out["training.seq_len"] = std::to_string(sequence);
  out["training.local_batch_size"] =
      std::to_string(pipeline ? micro * number("parallelism.num_pp_microbatches") : micro);
  out["training.global_batch_size"] = std::to_string(number("training.num_tokens_per_train_step") / sequence);
  return out;
}

// torchtitan's own arithmetic (ParallelDims, pipeline_module_split), on the text of the files.
std::string check_titan(const Settings& s, const test::Files& files, bool release) {
  const auto number = [&](const std::string& key, long otherwise = 1) {
    const auto at = s.find("parallelism." + key);
    return at == s.end() ? otherwise : std::stol(at->second);
  };
  const long replicate = number("data_parallel_replicate_degree");
  const long shard = number("data_parallel_shard_degree");
  const long tensor = number("tensor_parallel_degree");
  const long context = number("context_parallel_degree");
  const long pipeline = number("pipeline_parallel_degree");
  const long world = static_cast<long>(test::split(files.at("placement/rank_map.csv"), '\n').size()) - 1;
  if (replicate * shard * context * tensor * pipeline != world) return "world";
  const long expert = number("expert_parallel_degree");
  if (expert > 1) {
    if (shard * context * tensor % expert != 0) return "experts";
    const long own = number("expert_tensor_parallel_degree");
    if (release && own == tensor && tensor > 1 && (expert % context != 0 || shard * context % expert != 0))
      return "experts with their tensor degree";
    if (release && own == 1 && expert % (context * tensor) != 0) return "experts without a tensor degree";
    if (release && own != 1 && own != tensor) return "expert tensor degree";
  }
  const long local = std::stol(s.at("training.local_batch_size"));
  const long global = std::stol(s.at("training.global_batch_size"));
  if (global % (local * replicate * shard) != 0) return "batch";
  const long sequence = std::stol(s.at("training.seq_len"));
  if (context > 1 && sequence % (2 * context) != 0) return "sequence";
  if (pipeline > 1) {
    if (global != local * replicate * shard) return "accumulation beside a pipeline";
    const long micro =
        release ? number("pipeline_parallel_microbatch_size") : local / number("num_pp_microbatches");
    if (local % micro != 0) return "micro-batches";
    std::string modules = s.at("parallelism.module_fqns_per_model_part");
    const long parts = std::count(modules.begin(), modules.end(), '[') - 1;
    if (parts % pipeline != 0) return "parts";
    const auto schedule = s.find("parallelism.pipeline_parallel_schedule");
    const bool csv = s.contains("parallelism.pipeline_parallel_schedule_csv");
    if (csv == (schedule != s.end()) || csv != files.contains("schedule.csv")) return "schedule";
    const bool pairs = !csv && schedule->second == "DualPipeV";
    const bool turns = pairs || (!csv && schedule->second == "ZBVZeroBubble");
    if (pairs && local / micro < 2 * pipeline) return "micro-batches of DualPipeV";
    const auto overlap = s.find("parallelism.pipeline_parallel_expert_parallel_overlap");
    if (release && (overlap != s.end()) != (pairs && expert > 1)) return "overlap";
    if (overlap != s.end() && overlap->second == "true" && s.at("activation_checkpoint.mode") != "none")
      return "recomputation beside overlap";
    if (release && turns && s.at("compile.enable") == "true") return "compiled blocks";
    if (turns && parts != 2 * pipeline) return "chunks";
    if (parts > pipeline && !turns &&
        (csv || schedule->second != "Interleaved1F1B" || local / micro % pipeline != 0))
      return "interleaving";
    for (const char c : {'[', ']', '"'}) std::erase(modules, c);
    const std::vector<std::string> names = test::split(modules, ',');
    if (names.front() != "tok_embeddings" || names.back() != (release ? "output" : "lm_head")) return "ends";
    for (std::size_t i = 1; i + 2 < names.size(); ++i) {
      if (names[i] != "layers." + std::to_string(i - 1)) return "modules";
    }
  }
  return test::check_placement(files, tensor, context, pipeline, false);
}

TEST(Torchtitan, PlansThatTheRulesAllowKeepItsArithmetic) {
  int release = 0;
  int main = 0;
  int csv = 0;
  test::for_random_questions("torchtitan", 1000, [&](const ExportQuestion& question, unsigned seed) {
    const test::Exported out = test::exported("torchtitan", question);
    ASSERT_EQ(out.result.rule, "") << "seed " << seed << ": " << out.result.sentence;
    if (out.files.contains("train.toml")) {
      ++release;
      ASSERT_EQ(check_titan(read_release(out.files.at("train.toml")), out.files, true), "")
          << seed << "\n"
          << out.files.at("train.toml");
    }
    if (out.files.contains("nest_plan.py")) {
      ++main;
      ASSERT_EQ(check_titan(read_main(out.files.at("nest_plan.py")), out.files, false), "")
          << seed << "\n"
          << out.files.at("nest_plan.py");
    }
    ASSERT_TRUE(out.files.contains("train.toml") || out.files.contains("nest_plan.py"));
    csv += out.files.contains("schedule.csv") ? 1 : 0;
  });
  EXPECT_GT(release, 300);
  EXPECT_GT(main, 300);
  EXPECT_GT(csv, 20);
}

TEST(Torchtitan, HasZeroBubbleVByName) {
  test::Planner planner("llama3.1-8b", "torchtitan");
  Plan plan = test::degrees({.tensor = 1}, 2, 4);
  plan.parallelism.zero = 3;
  plan.parallelism.zero_shards = 4;
  plan.parallelism.schedule = Schedule::zb_v;
  plan.parallelism.interleave = 2;
  const test::Exported out = test::exported("torchtitan", planner.question(plan));
  const Settings s = read_release(out.files.at("train.toml"));
  EXPECT_EQ(s.at("parallelism.pipeline_parallel_schedule"), "ZBVZeroBubble");
  EXPECT_FALSE(out.files.contains("schedule.csv"));
  EXPECT_EQ(test::exported("megatron", planner.question(plan)).result.sentence,
            "Megatron-LM has no schedule zb-v");
}

// The release hides exchanges with experts in pairs, without recomputation; the main branch has pairs that hide nothing.
TEST(Torchtitan, HasDualPipeVByName) {
  test::Planner planner("qwen3-30b-a3b", "torchtitan");
  Plan plan = test::degrees({.tensor = 1, .expert = 4, .expert_tensor = 1}, 2, 4);
  plan.training.micro_batches = 4;
  plan.training.global_batch = 16;
  plan.parallelism.zero = 3;
  plan.parallelism.zero_shards = 4;
  plan.parallelism.schedule = Schedule::dualpipe_v;
  plan.parallelism.interleave = 2;
  plan.parallelism.strategy.expert_overlap = true;
  const test::Exported out = test::exported("torchtitan", planner.question(plan));
  ASSERT_EQ(out.result.rule, "") << out.result.sentence;
  const Settings s = read_release(out.files.at("train.toml"));
  EXPECT_EQ(s.at("parallelism.pipeline_parallel_schedule"), "DualPipeV");
  EXPECT_EQ(s.at("parallelism.pipeline_parallel_expert_parallel_overlap"), "true");
  EXPECT_EQ(s.at("compile.enable"), "false");
  EXPECT_FALSE(out.files.contains("schedule.csv"));
  EXPECT_FALSE(out.files.contains("nest_plan.py"));
  EXPECT_EQ(out.result.lost[0],
            "no nest_plan.py: the main branch hides no exchange with experts in a pair of passes");
  EXPECT_NE(
      std::find(out.result.lost.begin(), out.result.lost.end(),
                "compilation: torch's schedule DualPipeV refuses blocks as torchtitan 0.2.2 compiles them"),
      out.result.lost.end());
  ExportQuestion main = planner.question(plan);
  main.release = find_releases("torchtitan")->find("main");
  EXPECT_EQ(test::exported("torchtitan", main).result.sentence,
            "torchtitan's main branch runs no exchange with experts beside another micro-batch");
  plan.default_recompute = {RecomputePolicy::full, 0};
  EXPECT_EQ(test::exported("torchtitan", planner.question(plan)).result.sentence,
            "torchtitan recomputes nothing where passes hide exchanges with experts beside each other: full "
            "recomputation");
  plan.parallelism.strategy.expert_overlap = false;
  const test::Exported plain = test::exported("torchtitan", planner.question(plan));
  ASSERT_EQ(plain.result.rule, "") << plain.result.sentence;
  EXPECT_EQ(
      read_release(plain.files.at("train.toml")).at("parallelism.pipeline_parallel_expert_parallel_overlap"),
      "false");
  EXPECT_EQ(read_main(plain.files.at("nest_plan.py")).at("parallelism.pipeline_parallel_schedule"),
            "DualPipeV");
  plan.parallelism.schedule = Schedule::zb_v;
  plan.parallelism.strategy.expert_overlap = true;
  EXPECT_EQ(test::exported("torchtitan", planner.question(plan)).result.sentence,
            "torchtitan 0.2.2 runs exchanges with experts beside another micro-batch in the pairs of "
            "dualpipe-v only");
}

// Nobody else has it; a trace knows no pairs.
TEST(Torchtitan, DualPipeVIsNobodyElses) {
  test::Planner planner("llama3.1-8b", "torchtitan");
  Plan plan = test::degrees({.tensor = 1}, 2, 4);
  plan.training.micro_batches = 4;
  plan.training.global_batch = 16;
  plan.parallelism.schedule = Schedule::dualpipe_v;
  plan.parallelism.interleave = 2;
  const auto sentence = [&](const char* target) {
    return test::exported(target, planner.question(plan)).result.sentence;
  };
  EXPECT_EQ(sentence("megatron"), "Megatron-LM has no schedule dualpipe-v");
  EXPECT_EQ(sentence("deepspeed"), "DeepSpeed has no schedule dualpipe-v");
  EXPECT_EQ(sentence("maxtext"), "MaxText has no schedule dualpipe-v");
  EXPECT_EQ(sentence("accelerate"), "Accelerate has no schedule dualpipe-v");
  EXPECT_EQ(
      sentence("chakra"),
      "a trace runs the passes of a stage one after the other, and dualpipe-v runs some beside each other");
}

TEST(Torchtitan, ShardsAreFsdps) {
  test::Planner planner("llama3.1-8b", "torchtitan");
  Plan plan = test::degrees({.tensor = 2, .sequence_parallel = true, .context = 2}, 1, 8);
  plan.parallelism.zero = 3;
  plan.parallelism.zero_shards = 8;
  const Settings s =
      read_release(test::exported("torchtitan", planner.question(plan)).files.at("train.toml"));
  EXPECT_EQ(s.at("parallelism.data_parallel_shard_degree"), "4");
  EXPECT_EQ(s.at("parallelism.data_parallel_replicate_degree"), "2");
  EXPECT_EQ(s.at("parallelism.fsdp_reshard_after_forward"), "always");
  EXPECT_EQ(s.at("training.local_batch_size"), "1");
  EXPECT_EQ(s.at("model.flavor"), "8B");
}

// "DDP has not supported > 1D parallelism", and without a second copy nothing is cast to bf16.
TEST(Torchtitan, ReplicasRunAloneIn022) {
  test::Planner planner("llama3.1-8b", "torchtitan");
  const auto refusal = [&](std::int64_t tensor, std::int64_t pipeline, std::int64_t data,
                           const char* release) {
    const Strategy strategy{.tensor = tensor, .sequence_parallel = tensor > 1};
    ExportQuestion question = planner.question(test::degrees(strategy, pipeline, data));
    question.release = find_releases("torchtitan")->find(release);
    return test::exported("torchtitan", question).result.rule;
  };
  EXPECT_EQ(refusal(1, 1, 8, "v0.2.2"), "");
  EXPECT_EQ(refusal(2, 1, 4, "v0.2.2"), "replicas-alone");
  EXPECT_EQ(refusal(1, 2, 4, "v0.2.2"), "replicas-alone");
  EXPECT_EQ(refusal(8, 1, 1, "v0.2.2"), "replicas-alone");
  EXPECT_EQ(refusal(2, 1, 4, "main"), "");
  EXPECT_EQ(refusal(1, 2, 4, "main"), "");
}

TEST(Torchtitan, SaysWhichReleaseCannot) {
  test::Planner planner("mixtral-8x7b", "torchtitan");
  Plan plan = test::degrees({.tensor = 2, .sequence_parallel = true, .expert = 4, .expert_tensor = 2}, 1, 4);
  plan.parallelism.zero = 3;
  const test::Exported out = test::exported("torchtitan", planner.question(plan));
  EXPECT_TRUE(out.files.contains("train.toml"));
  EXPECT_FALSE(out.files.contains("nest_plan.py"));
  EXPECT_EQ(out.result.lost[0], "no nest_plan.py: the main branch has no expert tensor degree");
}

}  // namespace
}  // namespace nest::frameworks
