// What a model has besides its shape: no size and no price depends on it, but a framework that is told other values
// trains another model. Exports write them; hub/hub_details reads them from a config.json.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "nest/base/rooms.hpp"

namespace nest::model {

// How rotary positions are stretched beyond the length that a model was first trained with.
struct RotaryScaling {
  enum class Kind { llama3, yarn, linear, other };
  Kind kind = Kind::other;
  double factor = 1;
  double original_positions = 0;  // 0: not stated
  double low_frequency = 1;       // llama3
  double high_frequency = 4;
  double beta_fast = 32;  // yarn
  double beta_slow = 1;
  double mscale = 1;
  double mscale_all = 0;
  bool whole_range = true;  // the dimensions between the betas are rounded to whole ones
};

struct RouterDetails {
  std::int64_t groups = 0;           // of experts, of which a token uses some; 0 or 1: no groups
  std::int64_t group_top_k = 0;      // groups that a token uses
  double scale = 1;                  // of the weights of the chosen experts
  bool normalized = true;            // the weights of the chosen experts add up to 1
  double balance_loss = 0;           // weight of the loss that balances experts
  bool balance_by_sequence = false;  // which is taken over each sequence, not over the batch
  bool sigmoid = false;              // scores of experts are sigmoids, not a softmax
  bool balance_bias = false;         // a bias for each expert, in the choice alone, balances them
};

struct ModelDetails {
  double norm_epsilon = 0;  // 0: not known
  double rotary_base = 0;   // 0: not known, or no rotary positions
  double rotary_share = 1;  // of a head's dimensions that are turned
  std::optional<RotaryScaling> scaling;
  RouterDetails router;
  // By the names of detail_numbers(); what is not there has its neutral value.
  std::map<std::string, double, std::less<>> numbers;
  // Parts that no size shows and that exports do not carry yet, such as "the streams of its residual".
  std::vector<std::string> special;
  std::vector<std::string> unread;  // keys of the file with their values that nobody here reads
};

}  // namespace nest::model
