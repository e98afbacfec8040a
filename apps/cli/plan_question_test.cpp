#include "plan_question.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "nest/base/document/document.hpp"
#include "nest/question/make_question.hpp"
#include "nest/report/sweep/sweep_question.hpp"
#include "plan_options.hpp"
#include "plan_request.hpp"

namespace nest::cli {
namespace {

using testing::HasSubstr;

using Settings = std::vector<std::pair<std::string, std::string>>;  // fields by name; model and cluster too

// The options of `nest plan`.
const Command& plan_command() {
  for (const Command& command : commands()) {
    if (command.name == "plan") return command;
  }
  throw std::logic_error("there is no command 'plan'");
}

bool is_switch(const std::string& name) {
  const AskedField* field = find_asked_field(name);
  return field != nullptr && field->argument.empty();
}

// Each front end's question as JSON without limits of time, which the server sets, or what it refuses.
std::string told(const std::function<PlanQuestion()>& make) {
  try {
    PlanQuestion question = make();
    question.asked.time_limit.reset();
    return to_json(to_value(question));
  } catch (const InputError& error) {
    return "refused: " + error.problem();
  } catch (const UsageError& error) {
    const std::string text = error.what();
    return "refused: " + text.substr(text.find(": ") + 2);
  }
}

std::string by_command_line(const Settings& settings) {
  return told([&] {
    std::vector<std::string> words;
    for (const auto& [name, text] : settings) {
      words.push_back("--" + name);
      if (!is_switch(name)) words.push_back(text);
    }
    const Arguments arguments = parse(plan_command(), words);
    Terminal terminal;
    Warnings told;
    return read_question(arguments, read_asked(arguments), terminal, told);
  });
}

std::string by_server(const Settings& settings) {
  return told([&] {
    Value body = Value::object();
    Value choices = Value::object();
    for (const auto& [name, text] : settings) {
      const AskedField* field = find_asked_field(name);
      if (find_space_option(name) != nullptr)
        choices.set(name, text);
      else
        body.set(field == nullptr ? name : field->key, is_switch(name) ? Value(true) : Value(text));
    }
    body.set("choices", std::move(choices));
    const Document document = parse_json("request", to_json(body));
    return server::read_plan_request(Reader(document), {}).question;
  });
}

// Everything that may be varied is, the rest is the study's.
std::string by_sweep(const Settings& settings) {
  return told([&] {
    Warnings warnings;
    SweepBase base{load_inputs(std::string(kDefaultModel), std::string(kDefaultCluster),
                               std::string(kDefaultRecipe), warnings),
                   {}};
    std::vector<FieldValue> fields;
    for (const auto& [name, text] : settings) {
      const AskedField* field = find_asked_field(name);
      if (field != nullptr && !field->varies)
        set_asked(base.asked, name, text);
      else
        fields.emplace_back(name, text);
    }
    return question_with(base, fields);
  });
}

struct Range {
  std::string name;
  std::vector<std::string> values;
};

const std::vector<Range>& ranges() {
  static const std::vector<Range> kRanges{{"model", {"llama3.1-8b", "gpt2-xl", "t5-11b", "mixtral-8x7b"}},
                                          {"cluster", {"h100-spine-leaf", "dgx-a100-superpod", "dgx2-v100"}},
                                          {"recipe", {"megatron", "torchtitan", "plain"}},
                                          {"devices", {"64", "16", "100", "0", "1,024"}},
                                          {"global-batch", {"512", "0", "many"}},
                                          {"sequence", {"1024", "2048", "1000000"}},
                                          {"precision", {"bf16", "fp16", "fp8", "int4"}},
                                          {"optimizer", {"adam", "sgd", "adamw"}},
                                          {"tensor", {"1", "1,2,4", "2..8", "2..x", "0"}},
                                          {"pipeline", {"1", "2", "1..4", "4..2"}},
                                          {"zero", {"0,1", "4"}},
                                          {"recompute", {"none", "selective", "full:2", "half"}},
                                          {"schedule", {"1f1b", "gpipe", "interleaved,1f1b"}},
                                          {"sequence-parallel", {"on", "off,on"}},
                                          {"context-method", {"ring", "all_to_all", "auto", "hybrid"}},
                                          {"context-inner", {"2", "2,4", "x"}},
                                          {"for", {"megatron", "torchtitan", "deepspeed", "none"}},
                                          {"uniform", {"on"}},
                                          {"mixed", {"on"}},
                                          {"objective", {"step", "devices"}},
                                          {"target-tokens-per-s", {"5e5", "-1"}},
                                          {"gap", {"2%", "0.05", "x"}},
                                          {"work-limit", {"1000", "1.5"}},
                                          {"memory-limit", {"1 GB", "much"}},
                                          {"top", {"1", "3", "0"}}};
  return kRanges;
}

RC_GTEST_PROP(PlanQuestion, IsTheSameWhoeverAsks, ()) {
  Settings settings;
  const auto count = *rc::gen::inRange<std::size_t>(0, 6);
  std::set<std::size_t> used;
  for (std::size_t i = 0; i < count; ++i) {
    const auto which = *rc::gen::inRange<std::size_t>(0, ranges().size());
    if (!used.insert(which).second) continue;
    const Range& range = ranges()[which];
    settings.emplace_back(range.name, range.values[*rc::gen::inRange<std::size_t>(0, range.values.size())]);
  }
  const std::string typed = by_command_line(settings);
  const std::string posted = by_server(settings);
  const std::string varied = by_sweep(settings);
  // Of several mistakes each may name another first.
  if (typed.starts_with("refused") || posted.starts_with("refused") || varied.starts_with("refused")) {
    RC_ASSERT(typed.starts_with("refused"));
    RC_ASSERT(posted.starts_with("refused"));
    RC_ASSERT(varied.starts_with("refused"));
    RC_ASSERT(settings.size() != 1 || typed == posted);
  } else {
    RC_ASSERT(typed == posted);
    RC_ASSERT(typed == varied);
  }
}

// What was seen to differ, one by one.
TEST(PlanQuestion, TheDefectsThatWereSeen) {
  const auto same = [](const Settings& settings) {
    const std::string typed = by_command_line(settings);
    EXPECT_EQ(typed, by_server(settings));
    EXPECT_EQ(typed, by_sweep(settings));
    return typed;
  };
  EXPECT_THAT(same({{"model", "t5-11b"}, {"for", "megatron@core_v0.17"}}), HasSubstr("without a pipeline"));
  EXPECT_EQ(same({{"cluster", "dgx-a100-superpod"}, {"precision", "fp8"}}),
            "refused: a100-80 has no 8-bit matrix products");
  EXPECT_EQ(same({{"for", "deepspeed"}, {"recompute", "selective"}}),
            "refused: DeepSpeed has no recomputation selective");
  EXPECT_THAT(
      same({{"cluster", "gb200-nvl72"}, {"devices", "72"}, {"model", "llama3.1-8b"}, {"sequence", "2048"}}),
      HasSubstr("\"sequence\": 2048"));
  EXPECT_THAT(same({{"target-tokens-per-s", "5e5"}}), HasSubstr("\"objective\": \"devices\""));
}

// Options, keys and help come from one table: none is missing anywhere.
TEST(PlanQuestion, EveryFieldIsAnOptionOfPlan) {
  for (const AskedField& field : asked_fields()) {
    if (std::ranges::count(kOfSizeOnly, field.name) > 0) continue;
    const auto& options = plan_command().options;
    const auto at = std::find_if(options.begin(), options.end(),
                                 [&](const Option& o) { return o.name == "--" + field.name; });
    ASSERT_EQ(at != options.end(), field.option) << field.name;
    EXPECT_EQ(field.option ? at->text : field.text, field.text);
  }
}

}  // namespace
}  // namespace nest::cli
