// What of a model is trained: all of it, adapters of low rank beside some of its products, or some of its layers; and
// what of the rest stays as it is, in how many bits. A plain value, with its words on command lines and its keys in
// plans:
//
//   Tuning tuning;
//   read_train("lora:16:q_proj+v_proj", tuning)   -> "": no problem; adapters of rank 16 beside two products
//   spell_train(tuning)                           -> "lora:16:q_proj+v_proj"
//   put_tuning(training, tuning)                  "train": {"lora": {"rank": 16, "targets": ["q_proj", "v_proj"]}}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/document/reader.hpp"
#include "nest/base/document/value.hpp"

namespace nest::model {

// Blocks of a stack, counted from 0, both ends included. Without an end: and all that comes after them.
struct BlockRange {
  std::int64_t first = 0;
  std::optional<std::int64_t> last;

  [[nodiscard]] bool has(std::int64_t block) const { return block >= first && (!last || block <= *last); }
  bool operator==(const BlockRange&) const = default;
};

struct Tuning {
  enum class Kind { all, lora, layers };
  Kind kind = Kind::all;
  std::int64_t rank = 0;             // of adapters
  std::vector<std::string> targets;  // products that adapters stand beside
  BlockRange layers;                 // the blocks that are trained, where those alone are
  std::vector<std::string> freeze;   // parts that are not trained in any case
  std::int64_t frozen_bits = 16;     // of a value of frozen products: 4, 8 or 16

  // Everything is trained.
  [[nodiscard]] bool whole() const { return kind == Kind::all && freeze.empty(); }
  bool operator==(const Tuning&) const = default;
};

// Where nobody names targets: what makes queries, keys and values, and what takes the attention's result.
[[nodiscard]] const std::vector<std::string>& default_targets();

// "24..", "8..15", "..7", "5"; none where the text is no range.
[[nodiscard]] std::optional<BlockRange> read_block_range(std::string_view text);
[[nodiscard]] std::string spell(const BlockRange& range);

// What is wrong with the text as one sentence; empty where it was understood.
[[nodiscard]] std::string read_train(std::string_view text, Tuning& out);
[[nodiscard]] std::string read_freeze(std::string_view text, Tuning& out);
[[nodiscard]] std::string read_frozen_bits(std::string_view text, Tuning& out);

// As those read it; empty where nothing differs from training everything.
[[nodiscard]] std::string spell_train(const Tuning& tuning);
[[nodiscard]] std::string spell_freeze(const Tuning& tuning);

// The keys of a plan's `training`: nothing where everything is trained.
void put_tuning(Value& training, const Tuning& tuning);
[[nodiscard]] Tuning read_tuning(Reader& training, Warnings& warnings);

}  // namespace nest::model
