// Configs that somebody broke: each is read with sane figures, or refused in one sentence that names a place.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "nest/model/hub/family.hpp"
#include "nest/model/hub/test_configs.hpp"
#include "support/stride.hpp"

namespace nest::model {
namespace {

struct Row {
  std::string type;
  Value config;
};

// The whole configurations of the shared table where it is there, else the types alone.
std::vector<Row> configs() {
  std::vector<Row> out;
  const char* folder = std::getenv("NEST_SHARED");
  std::ifstream in(std::filesystem::path(folder != nullptr ? folder : "../shared") /
                   "models/hub_counts.jsonl");
  for (std::string line; std::getline(in, line);) {
    const Document row = parse_json("hub_counts.jsonl", line);
    out.push_back({*row.root.find("model_type")->as_string(), *row.root.find("config")});
  }
  if (!out.empty()) return out;
  for (const std::string& type : known_model_types()) {
    Value config = Value::object();
    out.push_back({type, config.set("model_type", type)});
  }
  return out;
}

using Dice = std::mt19937_64;

std::size_t below(Dice& dice, std::size_t n) {
  return std::uniform_int_distribution<std::size_t>(0, n - 1)(dice);
}

Value broken(Dice& dice, const Value& was) {
  const std::int64_t* number = was.as_int();
  const std::vector<Value> values{Value(),
                                  Value(0),
                                  Value(-1),
                                  Value(1),
                                  Value(7),
                                  Value(std::int64_t{1} << 40),
                                  Value(std::int64_t{1} << 62),
                                  Value(0.5),
                                  Value(1e300),
                                  Value(-1e-300),
                                  Value(true),
                                  Value("x"),
                                  Value(std::string(300, 'y')),
                                  Value::array(),
                                  Value::array().push(Value(3)),
                                  Value::object(),
                                  number != nullptr ? Value(*number / 3 * 2) : Value("full_attention"),
                                  number != nullptr && *number < (1 << 20) ? Value(*number * 16) : Value(2)};
  return values[below(dice, values.size())];
}

// One key, or one of a part, gets another value, or is gone, or another key has it.
// NOLINTNEXTLINE(misc-no-recursion): as deep as the config
void mutate(Dice& dice, Value& config) {
  Value::Object* members = config.as_object();
  if (members == nullptr || members->empty()) {
    config.set("hidden_size", broken(dice, Value(8)));
    return;
  }
  auto& [key, value] = (*members)[below(dice, members->size())];
  if (value.as_object() != nullptr && below(dice, 4) != 0) return mutate(dice, value);
  if (Value::Array* list = value.as_array(); list != nullptr && !list->empty() && below(dice, 2) == 0) {
    Value& one = (*list)[below(dice, list->size())];
    one = broken(dice, one);
    return;
  }
  switch (below(dice, 8)) {
    case 0:
      key = "not_" + key;
      return;
    case 1:
      members->erase(members->begin() + static_cast<std::ptrdiff_t>(below(dice, members->size())));
      return;
    default:
      value = broken(dice, value);
  }
}

// "line 3, hidden_size", or the key in the sentence: what a file lacks has no place.
bool names_a_key(const InputError& e) {
  const std::string said = e.problem() + " " + e.hint();
  const auto says = [&](const char* word) { return said.find(word) != std::string::npos; };
  return e.place().find(", ") != std::string::npos || says("it depends on ") || says("head_dim") ||
         says("model_type");
}

std::string judge(const std::string& json) {
  try {
    const Model model = build_model(spec_of(json));
    const auto parameters = static_cast<double>(model.parameters());
    const double flops = model.forward_flops().value;
    if (parameters < 0 || parameters > 1e17) return "parameters " + std::to_string(parameters);
    if (!std::isfinite(flops) || flops < 0) return "FLOPs " + std::to_string(flops);
    return {};
  } catch (const InputError& e) {
    const std::string said = e.what();
    if (said.size() > 500 || said.find('\n') != std::string::npos) return "no one sentence: " + said;
    if (said.find("data/families") != std::string::npos) return "blames our file: " + said;
    return names_a_key(e) ? std::string() : "names no key: " + said;
  } catch (const std::exception& e) {
    return std::string("no InputError: ") + e.what();
  }
}

TEST(FamilyMutations, BrokenConfigsAreReadSanelyOrRefused) {
  const std::vector<Row> rows = configs();
  const int seed_step = static_cast<int>(test::stride());
  constexpr int kSeeds = 10000;
  for (int seed = 0; seed < kSeeds; seed += seed_step) {
    Dice dice(static_cast<std::uint64_t>(seed) + 180'000);
    const Row& row = rows[static_cast<std::size_t>(seed) % rows.size()];
    Value config = row.config;
    for (std::size_t n = 1 + below(dice, 3); n > 0; --n) mutate(dice, config);
    const std::string wrong = judge(to_json_line(config));
    EXPECT_EQ(wrong, "") << "seed " << seed << ", " << row.type;
  }
}

}  // namespace
}  // namespace nest::model
