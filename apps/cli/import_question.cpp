#include "import_question.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "nest/base/closest.hpp"
#include "nest/base/files.hpp"

namespace nest::cli {

std::vector<Option> import_options() {
  return {
      {"--model", "NAME|FILE",
       "the model (default: the known model with this shape, or one built from the flags; files of DeepSpeed "
       "and Accelerate name none)"},
      {"--cluster", "NAME|FILE", "default " + std::string(kDefaultCluster)},
      {"--recipe", "NAME|FILE", "the recipe (default: the framework's, with what the file turns on and off)"},
      {"--devices", "N", "the number of ranks (default: as the file says, or else the whole cluster)"},
      {"--ranks", "FILE", "the rank_map.csv of an export (default: rank r runs on device r)"},
      {"--global-batch", "G", "sequences of a step, where the file does not say it"},
      {"--micro-batch", "N", "sequences of a micro-batch, where the file does not say it"},
      {"--sequence", "S", "tokens of a sequence, where the file does not say it"},
      {"--precision", "P", "where the file does not say it"},
      {"--tensor", "N", "the tensor degree, where the file does not say it"},
      {"--context", "N", "the context degree, where the file does not say it"},
      {"--expert", "N", "the expert degree, where the file does not say it"},
      {"--pipeline", "N", "the pipeline degree, where the file does not say it"},
      {"--recompute", "none|full",
       "recomputation of DeepSpeed's and Accelerate's runs, which is the script's"}};
}

const Importer& kind_named(const std::string& name) {
  if (const Importer* importer = find_importer(name)) return *importer;
  std::vector<std::string> names;
  for (const Importer& each : importers()) names.emplace_back(each.name);
  const std::string guess = did_you_mean(name, names);
  throw UsageError(fmt::format("there is no kind '{}'{}", name, guess.empty() ? "" : "; " + guess));
}

namespace {

std::optional<std::int64_t> size(const Arguments& arguments, std::string_view option) {
  const auto value = option == "--sequence" ? arguments.length(option) : arguments.whole(option);
  if (value && *value < 1) throw UsageError(fmt::format("{}: a whole number from 1 on is expected", option));
  return value;
}

// The word of an option that is one of a few.
template <class Choice>
std::optional<Choice> choice(const Arguments& arguments, std::string_view option,
                             std::initializer_list<Choice> all) {
  const auto word = arguments.text(option);
  if (!word) return std::nullopt;
  for (const Choice each : all) {
    if (name_of(each) == *word) return each;
  }
  throw UsageError(fmt::format("{}: '{}' is none of its values", option, *word));
}

GivenSizes given_sizes(const Arguments& arguments) {
  GivenSizes given;
  given.global_batch = size(arguments, "--global-batch");
  given.micro_batch = size(arguments, "--micro-batch");
  given.sequence = size(arguments, "--sequence");
  given.tensor = size(arguments, "--tensor");
  given.context = size(arguments, "--context");
  given.expert = size(arguments, "--expert");
  given.pipeline = size(arguments, "--pipeline");
  if (const auto word = arguments.text("--precision")) {
    given.precision = find_precision(*word);
    if (!given.precision) throw UsageError(fmt::format("--precision: '{}' is none of its values", *word));
  }
  given.recompute = choice(arguments, "--recompute", {RecomputePolicy::none, RecomputePolicy::full});
  return given;
}

}  // namespace

ImportQuestion read_import_question(const Arguments& arguments) {
  const std::string& file = arguments.positionals.front();
  ImportQuestion question{.file = file, .text = read_file(file), .model = arguments.text("--model")};
  question.cluster = arguments.text("--cluster").value_or(std::string(kDefaultCluster));
  question.recipe = arguments.text("--recipe");
  question.given = given_sizes(arguments);
  question.beside = [folder = std::filesystem::path(file).parent_path()](
                        const std::string& name) -> std::optional<std::string> {
    const std::string path = (folder / name).string();
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
    return read_file(path);
  };
  question.devices = arguments.whole("--devices").value_or(0);
  if (const auto ranks = arguments.text("--ranks")) {
    question.rank_map_file = *ranks;
    question.rank_map = read_file(*ranks);
  }
  return question;
}

}  // namespace nest::cli
