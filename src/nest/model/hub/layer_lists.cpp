#include "nest/model/hub/layer_lists.hpp"

#include <algorithm>
#include <string_view>

#include "nest/base/document/mismatch.hpp"
#include "nest/base/document/value.hpp"
#include "nest/base/plain_text.hpp"

namespace nest::model {
namespace {

// What a class means that has one kind of layer, or none that these lists could choose.
struct Usual {
  std::string_view key;
  std::vector<std::string> known;
};

const std::vector<Usual>& usual_lists() {
  static const std::vector<Usual> kLists{{"layer_types", {"full_attention", "attention"}},
                                         {"layers_block_type", {"full_attention", "attention"}},
                                         {"mlp_layer_types", {"dense"}},
                                         {"hybrid_override_pattern", {"*"}},
                                         {"block_types", {"attention"}}};
  return kLists;
}

std::vector<Value> entries_of(const Reader& r, const std::string& key, const Value& list) {
  if (const auto* given = list.as_array()) return *given;
  const std::string* pattern = list.as_string();
  if (pattern == nullptr)
    r.fail_at(key, "a list with an entry for each layer is expected, not " + quoted(list));
  std::vector<Value> letters;
  letters.reserve(pattern->size());
  for (const char letter : *pattern) letters.emplace_back(std::string(1, letter));
  return letters;
}

}  // namespace

void check_layer_list(const Reader& r, const std::string& key, const std::string& type,
                      const std::vector<std::string>& known, std::optional<std::int64_t> layers) {
  const Value* list = r.value().find(key);
  if (list == nullptr || list->is_null()) return;
  const std::vector<Value> entries = entries_of(r, key, *list);
  if (entries.empty()) return;  // as where it is left out
  for (const Value& entry : entries) {
    const std::string* word = entry.as_string();
    if (known.empty() || (word != nullptr && std::ranges::find(known, *word) != known.end())) continue;
    r.fail_at(key, quoted(entry) + " is no kind of layer that a '" + type + "' has",
              "known: " + list_words(known));
  }
  if (layers && static_cast<std::int64_t>(entries.size()) != *layers) {
    r.fail_at(key, "its length is " + std::to_string(entries.size()) + ", and the number of layers is " +
                       std::to_string(*layers));
  }
}

void check_other_lists(const Reader& r, const std::string& type, const std::vector<std::string>& read,
                       std::optional<std::int64_t> layers) {
  for (const Usual& usual : usual_lists()) {
    const std::string key(usual.key);
    if (std::ranges::find(read, key) == read.end()) check_layer_list(r, key, type, usual.known, layers);
  }
}

}  // namespace nest::model
