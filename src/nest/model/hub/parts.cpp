#include "nest/model/hub/parts.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "nest/base/plain_text.hpp"

namespace nest::model {
namespace {

constexpr std::array<std::string_view, 4> kTextParts{"text_config", "llm_config", "language_config",
                                                     "language_model_config"};
// A group with one of these has layers, or a width.
constexpr std::array<std::string_view, 14> kTelling{
    "model_type",        "hidden_size", "d_model", "n_embd",   "embed_dim", "hidden_dim", "width",
    "num_hidden_layers", "num_layers",  "n_layer", "n_layers", "depth",     "layers",     "encoder_layers"};

bool describes_part(const Value& value) {
  return std::ranges::any_of(kTelling, [&](std::string_view key) {
    const Value* said = value.find(key);
    const std::string* text = said == nullptr ? nullptr : said->as_string();
    return said != nullptr && !said->is_null() && (text == nullptr || !text->empty());
  });
}

}  // namespace

std::vector<std::string> parts_of_config(const Value& config) {
  std::vector<std::string> out;
  if (config.as_object() == nullptr) return out;
  for (const auto& [key, value] : *config.as_object()) {
    if (key != "nest" && value.as_object() != nullptr && describes_part(value)) out.push_back(key);
  }
  return out;
}

std::optional<std::string> text_part_of(const Value& config) {
  for (const std::string_view key : kTextParts) {
    const Value* part = config.find(key);
    if (part != nullptr && part->as_object() != nullptr && !part->as_object()->empty())
      return std::string(key);
  }
  return std::nullopt;
}

void refuse_unread_parts(const Reader& r, const std::string& type,
                         const std::vector<std::string>& mentioned) {
  for (const std::string& key : parts_of_config(r.value())) {
    if (r.knows(key) || std::ranges::find(mentioned, key) != mentioned.end()) continue;
    r.fail_at(key, "a '" + type + "' has no such part, and nothing of it would be read",
              "give the model_type of the whole, or this part as a file of its own");
  }
}

std::string left_out_warning(const Reader& r, const std::string& like, const std::string& part) {
  std::vector<std::string> others = parts_of_config(r.value());
  std::erase(others, part);
  const std::string rest = others.empty() ? "" : "; left out: " + printable(list_words(others));
  return r.place_of(part) + "--like " + like + " reads " + part + " alone" + rest;
}

}  // namespace nest::model
