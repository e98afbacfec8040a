#include "import_question.hpp"

#include "nest/base/files.hpp"

namespace nest::cli {

std::vector<Option> import_options() {
  return {
      {"--model", "NAME|FILE", "default: the model of the zoo with this shape, or one built from the flags"},
      {"--cluster", "NAME|FILE", "default " + std::string(kDefaultCluster)},
      {"--recipe", "NAME|FILE", "default megatron, with the overlap that the flags give"},
      {"--devices", "N", "ranks (default: what the file says, else all of the cluster)"},
      {"--ranks", "FILE", "rank_map.csv of an export (default: rank r runs on device r)"}};
}

ImportQuestion read_import_question(const Arguments& arguments) {
  const std::string& file = arguments.positionals.front();
  ImportQuestion question{.file = file, .text = read_file(file), .model = arguments.text("--model")};
  question.cluster = arguments.text("--cluster").value_or(std::string(kDefaultCluster));
  question.recipe = arguments.text("--recipe");
  question.devices = arguments.whole("--devices").value_or(0);
  if (const auto ranks = arguments.text("--ranks")) {
    question.rank_map_file = *ranks;
    question.rank_map = read_file(*ranks);
  }
  return question;
}

}  // namespace nest::cli
