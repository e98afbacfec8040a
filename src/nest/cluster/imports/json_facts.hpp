// Ways into JSON (or YAML) that other programs print: members that may be missing, and complaints with the line.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/document/document.hpp"
#include "nest/base/document/value.hpp"

namespace nest::cluster {

// The member at the end of a way of keys; nullptr where any of them is missing.
[[nodiscard]] const Value* member(const Value& value, std::initializer_list<std::string_view> way);
// Its text, also of a number; empty where there is none.
[[nodiscard]] std::string text_of(const Value& value, std::initializer_list<std::string_view> way);
[[nodiscard]] std::string text_of(const Value* value);

// The entries of a list, each with its path for messages: those of the root or of one of its members.
struct Entry {
  const Value* value = nullptr;
  Path path;
};
// Of the first of `keys` that the root has as a list, of the root where it is a list, or the root itself.
[[nodiscard]] std::vector<Entry> entries_of(const Document& document,
                                            std::initializer_list<std::string_view> keys);

[[noreturn]] void fail_entry(const Document& document, const Entry& entry, const std::string& what,
                             const std::string& hint = {});

// Whether a text is JSON or YAML that holds a key, without reading all of it.
[[nodiscard]] bool has_key(std::string_view text, std::string_view key);

}  // namespace nest::cluster
