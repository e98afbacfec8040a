// nest evaluate: prices plans that somebody else made, one JSON line each.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <utility>

#include "command.hpp"
#include "nest/base/files.hpp"
#include "nest/plan/plan_json.hpp"
#include "nest/plan/price.hpp"
#include "plan_options.hpp"

namespace nest::cli {
namespace {

// Prices plans against the inputs of the command line, or those that they carry.
class Evaluation {
 public:
  Evaluation(const Arguments& arguments, Terminal& terminal)
      : options_{read_pipeline_model(arguments)}, arguments_(&arguments), terminal_(&terminal) {
    if (!names_inputs(arguments)) return;
    Warnings warnings;
    pricer_ = std::make_unique<Pricer>(read_plan_inputs(arguments, warnings), options_);
    terminal.warn(warnings);
  }

  // Bad plans are answered in their line, and remembered for the exit code.
  void line(const std::string& file, std::string text, std::int64_t number = 0) {
    const std::string place = number > 0 ? fmt::format("line {}: ", number) : "";
    priced_.status = PriceStatus::invalid;
    try {
      const Document document = parse_json(file, std::move(text));
      Warnings warnings;
      Plan plan = read(document, warnings);
      for (const std::string& w : warnings) {
        if (++warned_ <= kMostWarnings) terminal_->warn({place + w});
      }
      last_ = pricer_->complete(std::move(plan));
      pricer_->price(last_, priced_);
    } catch (const InputError& error) {
      priced_.reason = number > 0 ? at_line(error, number) : error.what();
    }
    invalid_ = invalid_ || priced_.status == PriceStatus::invalid;
    terminal_->out(to_json(priced_value(priced_), false) + "\n");
  }

  [[nodiscard]] bool invalid() const { return invalid_; }

  // The last plan as a plan file: completed, placed and with its results.
  [[nodiscard]] std::string plan_text() {
    const Plan placed = pricer_->place(last_);
    return to_json(plan_value(with_results(placed, priced_), pricer_->inputs())) + "\n";
  }

 private:
  static constexpr int kMostWarnings = 10;

  // Each line is a document of its own: its line 1 is the file's line `number`.
  static std::string at_line(const InputError& error, std::int64_t number) {
    std::string place = error.place();
    const std::string own = "line 1";
    if (place.starts_with(own)) place.erase(0, own.size());
    if (place.starts_with(", ") || place.starts_with("--")) place.erase(0, 2);
    const std::string where = fmt::format("line {}{}", number, place.empty() ? "" : ", " + place);
    return InputError(error.file(), where, error.problem(), error.hint()).what();
  }

  Plan read(const Document& document, Warnings& warnings) {
    Reader reader(document);
    const Value* inputs = document.root.find("inputs");
    if (inputs == nullptr && !names_inputs(*arguments_)) {
      reader.fail("'inputs' is missing: say which model, cluster and recipe the plan is for",
                  "or give --model and --cluster");
    }
    // Lines of one search carry the same inputs: what was worked out for the last one serves the next.
    const Value carried = inputs != nullptr ? *inputs : Value();
    if (!pricer_ || !(carried == last_inputs_)) {
      PlanInputs now = inputs != nullptr ? read_plan_file(document, warnings).inputs
                                         : read_plan_inputs(*arguments_, warnings);
      if (inputs != nullptr) override_inputs(now, *arguments_, warnings);
      pricer_ = std::make_unique<Pricer>(std::move(now), options_);
      last_inputs_ = carried;
    }
    for (const char* key : {"inputs", "nest", "model", "cluster", "search"})
      static_cast<void>(reader.find(key));
    return read_plan(reader, pricer_->inputs().recipe, warnings);
  }

  PriceOptions options_;
  const Arguments* arguments_;
  Terminal* terminal_;
  std::unique_ptr<Pricer> pricer_;
  Value last_inputs_;
  PricedPlan priced_;
  Plan last_;
  bool invalid_ = false;
  int warned_ = 0;
};

void price_lines(const std::string& file, Evaluation& evaluation) {
  std::ifstream opened;
  if (file != "-") {
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) throw InputError(file, "", "no such file");
    opened.open(file);
    if (!opened || std::filesystem::is_directory(file, ignored)) throw InputError(file, "", "cannot be read");
  }
  std::istream& lines = file == "-" ? std::cin : opened;
  std::string text;
  for (std::int64_t n = 1; std::getline(lines, text); ++n) {
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    evaluation.line(file, std::move(text), n);
    text.clear();
  }
}

int run_evaluate(const Arguments& arguments, Terminal& terminal) {
  const auto lines = arguments.text("--jsonl");
  if (!lines && arguments.positionals.empty())
    throw UsageError("evaluate: give plan files, or --jsonl FILE; see 'nest evaluate --help'");
  if (arguments.has("-o") && (lines || arguments.positionals.size() != 1))
    throw UsageError("evaluate: -o writes one plan; give one plan file");
  Evaluation evaluation(arguments, terminal);
  for (const std::string& file : arguments.positionals) evaluation.line(file, read_file(file));
  if (lines) price_lines(*lines, evaluation);
  if (!evaluation.invalid()) write_output(arguments, "-o", [&] { return evaluation.plan_text(); }, terminal);
  return evaluation.invalid() ? kBadInput : kOk;
}

}  // namespace

std::vector<Command> evaluate_commands() {
  std::vector<Option> options = input_options();
  options.push_back({"--jsonl", "FILE|-", "one plan a line, from a file or standard input"});
  options.push_back({"-o", "FILE", "also write the plan, completed: every layer, every device, the results"});
  options.push_back(pipeline_model_option());
  options.push_back(json_option());
  return {
      {"evaluate",
       "[PLAN.json...]",
       0,
       100'000,
       "the price of plans that exist already",
       "Prices plans, whoever made them, and answers with one JSON line each: status (feasible, infeasible "
       "where memory is not enough, invalid), the reason, what is predicted, and time and memory of every "
       "stage. A plan file carries its inputs; lines of --jsonl may leave them to the options. A line needs "
       "training and parallelism; without stages the layers are split evenly, without devices the placement "
       "rule applies. Exits 1 where a plan is invalid.",
       std::move(options),
       {{"nest evaluate plan.json", "price a plan again"},
        {"nest evaluate degrees.json -o plan.json", "from degrees to a whole plan"},
        {"nest evaluate --model llama3.1-8b --cluster h100-spine-leaf --jsonl plans.jsonl", "many plans"}},
       run_evaluate},
  };
}

}  // namespace nest::cli
