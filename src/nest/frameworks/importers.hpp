// The kinds of launch files that are read as plans, as a table: a new kind is one reader in the folder of its
// framework, its words for `nest lint`, and one row in importers.cpp.
//
//   const Importer& importer = importer_of(question);           // by what the file holds
//   const OpenPlan open = importer.read(question, warnings);
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "nest/frameworks/common/dialect.hpp"
#include "nest/frameworks/common/import_question.hpp"

namespace nest::frameworks {

struct Importer {
  std::string_view name;    // "torchtitan"
  std::string_view title;   // "torchtitan"
  std::string_view file;    // what it reads: "TOML of torchtitan 0.2.2"
  std::string_view sample;  // a real input
  bool (*recognizes)(std::string_view text);
  OpenPlan (*read)(const ImportQuestion& question, Warnings& warnings);
  const Dialect& (*dialect)(std::string_view text);
};

[[nodiscard]] std::span<const Importer> importers();
[[nodiscard]] const Importer* find_importer(std::string_view name);
// The kind that the text shows; an InputError where it is none of them.
[[nodiscard]] const Importer& importer_of(const ImportQuestion& question);

}  // namespace nest::frameworks
