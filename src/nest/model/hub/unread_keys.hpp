// Keys of a config.json that say something which nobody here reads. A framework that is not told it trains another
// model, so exports name them.
//
//   unread_keys(r, {})  ->  {"embedding_multiplier 12"}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nest/base/document/reader.hpp"

namespace nest::model {

// Of the reader's object, after all has been read: "key value" in the order of the file. Keys about tokens, dropout,
// initialisation, inference and checkpoints are passed over, and so are values that turn something off.
// `mentioned`: more keys that are understood.
[[nodiscard]] std::vector<std::string> unread_keys(const Reader& r,
                                                   const std::vector<std::string>& mentioned);

// Whether a key says nothing of what is trained.
[[nodiscard]] bool is_harmless_key(std::string_view key);

}  // namespace nest::model
