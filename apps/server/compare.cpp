#include "compare.hpp"

#include <fmt/format.h>

#include <utility>

#include "nest/plan/text/diff.hpp"
#include "nest/plan/text/plan_json.hpp"
#include "nest/price/price.hpp"
#include "nest/solve/baselines/baselines.hpp"
#include "safe_inputs.hpp"

namespace nest::server {
namespace {

// Baselines to compare with, by name.
std::vector<std::string> read_methods(Reader& request) {
  std::vector<std::string> names;
  const Value* methods = request.find("with");
  if (methods == nullptr) return names;
  if (methods->as_array() == nullptr) request.fail_at("with", "a list of names is expected");
  for (const Value& name : *methods->as_array()) {
    if (name.as_string() == nullptr) request.fail_at("with", "a list of names is expected");
    if (find_baseline(*name.as_string()) == nullptr)
      request.fail_at("with", "unknown method '" + *name.as_string() + "'");
    names.push_back(*name.as_string());
  }
  return names;
}

ComparedPlan price(const Document& document, const std::string& name, const Limits& limits) {
  Warnings ignored;
  OpenPlan open = open_safe_plan(document, limits, ignored);
  const PricedPlan priced = Pricer(open.inputs).price(open.plan);
  ComparedPlan out{name, std::string(name_of(priced.status)), priced.reason, {}, std::move(open.inputs)};
  if (priced.status != PriceStatus::invalid) out.plan = with_results(std::move(open.plan), priced);
  return out;
}

Value choices_value(const std::vector<ChoiceDifference>& choices) {
  Value list = Value::array();
  for (const ChoiceDifference& c : choices) {
    Value one = Value::object();
    one.set("what", c.what).set("first", c.first).set("second", c.second);
    list.push(std::move(one));
  }
  return list;
}

Value difference_value(const ComparedPlan& first, const ComparedPlan& second) {
  const PlanDifference plans = diff(*first.plan, *second.plan);
  Value terms = Value::array();
  for (const TermDifference& t : plans.terms) {
    Value one = Value::object();
    one.set("name", t.name).set("first_s", t.first.value).set("second_s", t.second.value);
    terms.push(std::move(one));
  }
  Value v = Value::object();
  v.set("name", second.name).set("inputs", choices_value(diff_inputs(first.inputs, second.inputs)));
  v.set("choices", choices_value(plans.choices)).set("terms", std::move(terms));
  v.set("change_s", (plans.second - plans.first).value);
  return v;
}

}  // namespace

CompareRequest read_compare_request(Reader& request, const Limits& limits) {
  CompareRequest out;
  out.with = read_methods(request);
  const Value* plans = request.find("plans");
  if (plans != nullptr && plans->as_array() == nullptr)
    request.fail_at("plans", "a list of plans is expected");
  const std::size_t given = plans == nullptr ? 0 : plans->as_array()->size();
  std::vector<Reader> questions;
  if (request.has("questions")) questions = request.objects("questions");
  if (!out.with.empty() && questions.empty())
    request.fail("'with' needs a question that the methods are asked");
  const std::size_t all = given + questions.size() + out.with.size();
  if (all < 2) request.fail("two or more plans or questions are expected");
  if (all > limits.compared)
    request.fail(fmt::format("more than {} plans and questions in one request", limits.compared));
  out.session = read_session(request);
  request.done();
  for (std::size_t i = 0; i < given; ++i) {
    const Value& plan = (*plans->as_array())[i];
    const Value* name = plan.find("name");
    const bool named = name != nullptr && name->as_string() != nullptr;
    const std::string place = fmt::format("plans[{}]", i);
    out.plans.push_back(price(safe_plan(plan, place), named ? *name->as_string() : place, limits));
  }
  for (std::size_t i = 0; i < questions.size(); ++i) {
    out.questions.push_back(read_plan_request(questions[i], limits));
    PlanRequest& question = out.questions.back();
    if (question.name.empty()) question.name = fmt::format("questions[{}]", i);
    // Together they have the time of one.
    Seconds& limit = *question.question.asked.time_limit;
    limit = std::min(limit, limits.time_limit / static_cast<double>(questions.size() + out.with.size()));
  }
  return out;
}

Value compare_value(const std::vector<ComparedPlan>& plans) {
  Value list = Value::array();
  Value differences = Value::array();
  for (const ComparedPlan& one : plans) {
    Value row = Value::object();
    row.set("name", one.name).set("status", one.status);
    if (one.plan) {
      row.set("predicted", to_value(*one.plan->predicted));
      row.set("parallelism", to_value(one.plan->parallelism, one.plan->stages));
    } else {
      row.set("reason", one.reason);
    }
    list.push(std::move(row));
    const ComparedPlan& first = plans.front();
    if (&one != &first && one.plan && first.plan) differences.push(difference_value(first, one));
  }
  Value v = Value::object();
  v.set("plans", std::move(list)).set("differences", std::move(differences));
  return v;
}

}  // namespace nest::server
