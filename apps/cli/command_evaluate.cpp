// nest evaluate: prices plans that somebody else made, one JSON line each, or in words on a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <thread>
#include <utility>

#include "command.hpp"
#include "nest/base/files.hpp"
#include "nest/plan/text/plan_json.hpp"
#include "nest/price/price.hpp"
#include "nest/report/answer/answer_value.hpp"
#include "nest/report/answer/priced_text.hpp"
#include "plan_options.hpp"

namespace nest::cli {
namespace {

// What a plan is answered with.
struct Answer {
  std::string line;
  Warnings warnings;
  bool invalid = false;
};

// Prices plans against the inputs of the command line, or those that they carry. One for each thread.
class Evaluation {
 public:
  explicit Evaluation(const Arguments& arguments)
      : options_{read_pipeline_model(arguments)}, arguments_(&arguments) {
    if (names_inputs(arguments))
      pricer_ = std::make_unique<Pricer>(read_plan_inputs(arguments, first_warnings_), options_);
  }

  // Of the inputs on the command line.
  [[nodiscard]] const Warnings& first_warnings() const { return first_warnings_; }

  // Bad plans are answered in their line.
  [[nodiscard]] Answer answer(const std::string& file, std::string text, std::int64_t number = 0) {
    const std::string place = number > 0 ? fmt::format("line {}: ", number) : "";
    Answer out;
    priced_.status = PriceStatus::invalid;
    try {
      const Document document = parse_json(file, std::move(text));
      Warnings warnings;
      Plan plan = read(document, warnings);
      warn_of_sequence(pricer_->inputs(), plan.training.sequence, warnings);
      for (const std::string& w : warnings) out.warnings.push_back(place + w);
      last_ = pricer_->complete(std::move(plan));
      pricer_->price(last_, priced_);
    } catch (const InputError& error) {
      priced_.reason = number > 0 ? at_line(error, number) : error.what();
    }
    out.invalid = priced_.status == PriceStatus::invalid;
    out.line = to_json_line(priced_value(priced_)) + "\n";
    return out;
  }

  // The last plan for people.
  [[nodiscard]] std::string text(const std::string& file, const Terminal& terminal) const {
    if (priced_.status == PriceStatus::invalid) {
      const bool named = priced_.reason.starts_with(file);  // what cannot be read says where
      return fmt::format("{}invalid: {}\n", named ? "" : file + ": ", priced_.reason);
    }
    ScreenOptions screen;
    screen.heading = [&](std::string_view heading) { return terminal.heading(heading); };
    return fmt::format("{}: {}\n", file, name_of(priced_.status)) +
           priced_text(last_, priced_, pricer_->inputs(), screen);
  }

  // The last plan as a plan file: completed, placed and with its results.
  [[nodiscard]] std::string plan_text() {
    const Plan placed = pricer_->place(last_);
    return to_json(plan_value(with_results(placed, priced_), pricer_->inputs())) + "\n";
  }

 private:
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
    const bool same = inputs != nullptr ? *inputs == last_inputs_ : last_inputs_.is_null();
    if (!pricer_ || !same) {
      if (inputs != nullptr) {
        Reader carried = reader.object("inputs");
        PlanInputs now = read_inputs(carried, warnings);
        override_inputs(now, *arguments_, warnings);
        pricer_ = std::make_unique<Pricer>(std::move(now), options_);
        last_inputs_ = *inputs;
      } else {
        pricer_ = std::make_unique<Pricer>(read_plan_inputs(*arguments_, warnings), options_);
        last_inputs_ = Value();
      }
    }
    return read_plan(reader, pricer_->inputs().recipe, warnings);
  }

  PriceOptions options_;
  const Arguments* arguments_;
  Warnings first_warnings_;
  std::unique_ptr<Pricer> pricer_;
  Value last_inputs_;
  PricedPlan priced_;
  Plan last_;
};

// Prints answers, and remembers for the exit code whether any plan was invalid.
class Answers {
 public:
  explicit Answers(Terminal& terminal) : terminal_(&terminal) {}

  void print(const Answer& answer) { print(answer, answer.line); }
  // With another text in place of its line.
  void print(const Answer& answer, std::string_view text) {
    for (const std::string& w : answer.warnings) {
      if (++warned_ <= kMostWarnings) terminal_->warn({w});
    }
    terminal_->out(text);
    invalid_ = invalid_ || answer.invalid;
  }
  [[nodiscard]] bool invalid() const { return invalid_; }

 private:
  static constexpr int kMostWarnings = 10;

  Terminal* terminal_;
  bool invalid_ = false;
  int warned_ = 0;
};

struct Line {
  std::int64_t number = 0;
  std::string text;
};

// Batches of lines. Whoever writes a line to standard input and waits for its answer gets it: what has
// arrived is a batch.
class Lines {
 public:
  explicit Lines(std::string file) : file_(std::move(file)) {
    if (file_ == "-") {
      std::ios::sync_with_stdio(false);
      return;
    }
    std::error_code ignored;
    if (!std::filesystem::exists(file_, ignored)) throw InputError(file_, "", "no such file");
    opened_.open(file_);
    if (!opened_ || std::filesystem::is_directory(file_, ignored))
      throw InputError(file_, "", "cannot be read");
  }

  [[nodiscard]] std::vector<Line> next() {
    constexpr std::size_t kMostLines = 1024;
    std::istream& from = file_ == "-" ? std::cin : opened_;
    std::vector<Line> batch;
    std::string text;
    while (batch.size() < kMostLines && std::getline(from, text)) {
      ++number_;
      if (text.find_first_not_of(" \t\r") != std::string::npos) batch.push_back({number_, std::move(text)});
      text.clear();
      if (file_ == "-" && !batch.empty() && from.rdbuf()->in_avail() <= 0) break;
    }
    return batch;
  }

 private:
  std::string file_;
  std::ifstream opened_;
  std::int64_t number_ = 0;
};

// Every thread takes a run of the batch; answers keep the order of the lines.
void price_batch(const std::string& file, std::vector<Line>& batch,
                 std::vector<std::unique_ptr<Evaluation>>& workers, const Arguments& arguments,
                 Answers& answers) {
  constexpr std::size_t kWorthAThread = 64;
  const std::size_t cores = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 8);
  const std::size_t threads = std::clamp<std::size_t>(batch.size() / kWorthAThread, 1, cores);
  while (workers.size() < threads) workers.push_back(std::make_unique<Evaluation>(arguments));
  std::vector<Answer> made(batch.size());
  std::vector<std::exception_ptr> failures(threads);
  const auto work = [&](std::size_t t) {
    try {
      for (std::size_t i = batch.size() * t / threads; i < batch.size() * (t + 1) / threads; ++i)
        made[i] = workers[t]->answer(file, std::move(batch[i].text), batch[i].number);
    } catch (...) {
      failures[t] = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  for (std::size_t t = 1; t < threads; ++t) others.emplace_back(work, t);
  work(0);
  for (std::thread& other : others) other.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  for (const Answer& answer : made) answers.print(answer);
}

int run_evaluate(const Arguments& arguments, Terminal& terminal) {
  const auto lines = arguments.text("--jsonl");
  if (!lines && arguments.positionals.empty())
    throw UsageError("evaluate: give plan files, or --jsonl FILE; see 'nest evaluate --help'");
  if (arguments.has("-o") && (lines || arguments.positionals.size() != 1))
    throw UsageError("evaluate: -o writes one plan; give one plan file");
  std::vector<std::unique_ptr<Evaluation>> workers;
  workers.push_back(std::make_unique<Evaluation>(arguments));
  Evaluation& first = *workers.front();
  terminal.warn(first.first_warnings());
  Answers answers(terminal);
  // Programs read lines; people get the same in words.
  const bool words = terminal.read_by_people() && !lines && !arguments.has("--json");
  for (std::size_t i = 0; i < arguments.positionals.size(); ++i) {
    const std::string& file = arguments.positionals[i];
    const Answer answer = first.answer(file, read_file(file));
    answers.print(answer, words ? (i > 0 ? "\n" : "") + first.text(file, terminal) : answer.line);
  }
  if (lines) {
    Lines input(*lines);
    for (std::vector<Line> batch = input.next(); !batch.empty(); batch = input.next()) {
      price_batch(*lines, batch, workers, arguments, answers);
      if (!terminal.flush()) break;  // nobody reads on; the program says so at its end
    }
  }
  if (!answers.invalid()) write_output(arguments, "-o", [&] { return first.plan_text(); }, terminal);
  return answers.invalid() ? kBadInput : kOk;
}

}  // namespace

std::vector<Command> evaluate_commands() {
  std::vector<Option> options = input_options();
  options.push_back({"--jsonl", "FILE|-", "read one plan per line from a file, or from standard input (-)"});
  options.push_back(
      {"-o", "FILE", "also write the completed plan with every layer, every device and the results"});
  options.push_back(pipeline_model_option());
  options.push_back(json_option());
  return {
      {"evaluate",
       "[PLAN.json...]",
       0,
       100'000,
       "price plans that exist already",
       "Prices plans, whoever made them, and prints one line of JSON for each: its status (feasible, "
       "infeasible if memory does not suffice, or invalid), the reason, the prediction, and the time and "
       "memory of every stage. On a terminal, plan files are shown in words unless --json is given. A plan "
       "file contains its inputs; with --jsonl the options can supply them "
       "instead. A line needs 'training' and 'parallelism'. Without 'stages' the layers are split evenly, "
       "and without 'devices' the usual placement is used. The exit code is 1 if a plan is invalid.",
       std::move(options),
       {{"nest evaluate plan.json", "price a plan"},
        {"nest evaluate degrees.json -o plan.json", "complete a plan from its degrees"},
        {"nest evaluate --model llama3.1-8b --cluster h100-spine-leaf --jsonl plans.jsonl", "many plans"}},
       run_evaluate},
  };
}

}  // namespace nest::cli
