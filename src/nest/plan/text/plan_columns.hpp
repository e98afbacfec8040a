// Many plans as columns: a key of a plan's "training" or "parallelism" each, with a number or a word for every plan.
// 0 and "" leave a key open, as if a plan's JSON did not have it; where 0 says something (zero, sequence_parallel, ..)
// -1 does.
//
//   PlanColumns columns(recipe);
//   columns.add("tensor", {8, 4});
//   columns.add("recompute", {0, 1}, {"none", "full"});
//   columns.plan(1)   -> tensor 4, full recomputation, all else open
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "nest/base/document/value.hpp"
#include "nest/plan/plan.hpp"
#include "nest/recipe/recipe.hpp"

namespace nest::plan {

class PlanColumns {
 public:
  // What the columns leave open of the training is that of `training`; 0 micro-batches and 0 sequences in one are open.
  PlanColumns(Recipe recipe, Training training);

  // The keys that may be columns, in the order of plan files.
  [[nodiscard]] static const std::vector<std::string>& number_keys();
  [[nodiscard]] static const std::vector<std::string>& word_keys();

  // Throws an InputError where there is no such key, it is added twice, columns differ in length, or a value is out of
  // range or is no word of the key.
  void add(const std::string& key, std::vector<std::int64_t> numbers);
  // Indices into a list of words.
  void add(const std::string& key, std::vector<std::int32_t> indices, std::vector<std::string> words);

  [[nodiscard]] std::size_t size() const { return size_; }
  // Training and parallelism of a plan without stages; `into` keeps its stages.
  [[nodiscard]] Plan plan(std::size_t row) const;
  void put(std::size_t row, Plan& into) const;

 private:
  struct Numbers {
    std::size_t key;  // of the table
    std::vector<std::int64_t> values;
  };
  struct Words {
    std::string key;
    std::vector<std::int32_t> indices;
    std::vector<std::string> words;
  };

  void take_length(const std::string& key, std::size_t length);
  // What the words of a row and its chunks say.
  const Plan& base(std::size_t row) const;
  [[nodiscard]] Plan read_base(const std::vector<std::int64_t>& of) const;

  Recipe recipe_;
  Training training_;
  std::vector<Numbers> numbers_;
  std::vector<Words> words_;
  std::vector<std::int64_t> chunks_;  // "interleave", from which the schedule may follow; empty: no column
  bool length_known_ = false;
  std::optional<std::size_t> sequence_parallel_;  // of numbers_
  std::size_t size_ = 0;
  mutable std::map<std::vector<std::int64_t>, Plan> bases_;
  mutable std::vector<std::int64_t> key_;
};

}  // namespace nest::plan
