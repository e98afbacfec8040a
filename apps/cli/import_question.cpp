#include "import_question.hpp"

#include "nest/base/files.hpp"

namespace nest::cli {

std::vector<Option> import_options() {
  return {
      {"--model", "NAME|FILE",
       "the model (default: the known model with this shape, or one built from the flags)"},
      {"--cluster", "NAME|FILE", "default " + std::string(kDefaultCluster)},
      {"--recipe", "NAME|FILE", "the recipe (default: megatron, with the overlap that the flags turn on)"},
      {"--devices", "N", "the number of ranks (default: as the file says, or else the whole cluster)"},
      {"--ranks", "FILE", "the rank_map.csv of an export (default: rank r runs on device r)"}};
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
