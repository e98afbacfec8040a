// The settings of a framework's file, asked for by their dotted names. "auto" and null are as if nothing were
// said. Messages carry file, line and name.
//
//   const Settings settings(parse_toml("train.toml", text));
//   settings.whole("training.seq_len").value_or(2048)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/document/document.hpp"
#include "nest/base/error.hpp"
#include "nest/frameworks/common/flags.hpp"

namespace nest::frameworks {

class Settings {
 public:
  explicit Settings(Document document);

  [[nodiscard]] const std::string& file() const { return document_.file; }
  // What the dotted name leads to; none where there is nothing, null or "auto".
  [[nodiscard]] const Value* find(std::string_view name) const;
  [[nodiscard]] bool automatic(std::string_view name) const;

  // Values of another type are InputErrors; numbers and booleans may be texts, as people quote them in YAML.
  [[nodiscard]] std::optional<std::int64_t> whole(std::string_view name, std::int64_t least = 1) const;
  [[nodiscard]] std::optional<std::string> text(std::string_view name) const;
  [[nodiscard]] std::optional<bool> boolean(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;

  [[noreturn]] void fail(std::string_view name, const std::string& what) const;
  void warn(std::string_view name, const std::string& what, Warnings& warnings) const;
  // A warning for each key of a section that is not among the known ones.
  void warn_unknown(std::string_view section, const std::vector<std::string_view>& known,
                    Warnings& warnings) const;

 private:
  [[nodiscard]] const Value* at(std::string_view name) const;
  [[nodiscard]] std::string place_of(std::string_view name) const;

  Document document_;
};

// Every scalar and list of a tree with its dotted name: what two files of settings are compared by.
[[nodiscard]] std::vector<Flag> flat_settings(const Value& root);

}  // namespace nest::frameworks
