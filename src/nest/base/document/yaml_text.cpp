#include "nest/base/document/yaml_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace nest::base {
namespace {

// Letters, digits and a few marks, and no word that stands for something else in any case of letters.
bool plain(std::string_view text) {
  constexpr std::array<std::string_view, 9> kWords{"no",    "yes",  "on", "off", "true",
                                                   "false", "null", "y",  "n"};
  const auto harmless = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' || c == '/';
  };
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0 &&
         std::all_of(text.begin(), text.end(), harmless) &&
         std::none_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
           return std::equal(word.begin(), word.end(), text.begin(), text.end(), [](char a, char b) {
             return a == static_cast<char>(std::tolower(static_cast<unsigned char>(b)));
           });
         });
}

}  // namespace

std::string yaml_word(const std::string& text) {
  return plain(text) ? text : to_json_line(text);
}

std::string to_yaml(const Value& value, const std::string& indent) {
  std::string out;
  for (const auto& [key, inner] : *value.as_object()) {
    out += indent;
    out += key;
    if (inner.as_object() != nullptr) {
      out += ":\n" + to_yaml(inner, indent + "  ");
    } else {
      const std::string* text = inner.as_string();
      out += ": " + (text != nullptr ? yaml_word(*text) : to_json_line(inner)) + "\n";
    }
  }
  return out;
}

}  // namespace nest::base
