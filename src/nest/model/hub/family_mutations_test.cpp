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
  const std::vector<Value> values{
      Value(),
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
      number != nullptr && *number < (1 << 20) ? Value(*number * 16) : Value(2),
      number != nullptr && *number < (1 << 20) ? Value(*number * 1000) : Value(3),
      number != nullptr && *number < (1 << 20) ? Value(*number * 1000000) : Value()};
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

// A part of another file, or a whole one, stands where a part of this one is.
void graft(Dice& dice, Value& config, const std::vector<Row>& rows) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : *config.as_object()) {
    if (value.as_object() != nullptr) parts.push_back(key);
  }
  const std::string place = parts.empty() ? "text_config" : parts[below(dice, parts.size())];
  const Row& other = rows[below(dice, rows.size())];
  Value given = other.config;
  if (below(dice, 3) == 0) given = Value::object().set("model_type", other.type);
  std::erase_if(*config.as_object(), [&](const Value::Member& m) { return m.first == place; });
  config.set(place, std::move(given));
}

// "line 3, text_config.hidden_size" is a place where the file has a key, and "hidden_size" is one in a sentence.
bool names_a_key(const InputError& e, const Value& config) {
  const std::size_t comma = e.place().find(", ");
  if (comma != std::string::npos) {
    const std::string path = e.place().substr(comma + 2);
    return config.find(path) != nullptr || config.find(path.substr(0, path.find_first_of(".["))) != nullptr;
  }
  const std::string said = e.problem() + " " + e.hint();
  const auto says = [&](const char* word) { return said.find(word) != std::string::npos; };
  return says("it depends on ") || says("head_dim") || says("model_type");
}

// What of a model's figures no model has.
std::string absurd(const Model& model) {
  const auto is_wrong = [](double figure, double most) {
    return !std::isfinite(figure) || figure < 0 || figure > most;
  };
  if (is_wrong(static_cast<double>(model.parameters()), 1e17)) return "parameters";
  if (model.active_parameters() < 0 || model.active_parameters() > model.parameters())
    return "active parameters";
  if (is_wrong(model.forward_flops().value, 1e27)) return "FLOPs";
  for (const LayerType& type : model.types) {
    const auto parameters = static_cast<double>(type.parameters());
    if (is_wrong(parameters, 1e15) || is_wrong(type.forward_flops().value, 1e26)) return type.name;
    if (is_wrong(static_cast<double>(type.stash_bytes().value), 1e17)) return "the stash of " + type.name;
    if (is_wrong(static_cast<double>(type.output_bytes().value), 1e17)) return "the result of " + type.name;
  }
  return {};
}

std::string judge(const std::string& json, const Value& config) {
  try {
    return absurd(build_model(spec_of(json)));
  } catch (const InputError& e) {
    const std::string said = e.what();
    if (said.size() > 500 || said.find('\n') != std::string::npos) return "no one sentence: " + said;
    if (said.find("data/families") != std::string::npos) return "blames our file: " + said;
    return names_a_key(e, config) ? std::string() : "names no key: " + said;
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
    for (std::size_t n = below(dice, 4); n > 0; --n) mutate(dice, config);
    if (below(dice, 2) == 0) graft(dice, config, rows);
    const std::string wrong = judge(to_json_line(config), config);
    EXPECT_EQ(wrong, "") << "seed " << seed << ", " << row.type;
  }
}

}  // namespace
}  // namespace nest::model
