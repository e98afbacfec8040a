#include "service.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "api_error.hpp"
#include "catalog.hpp"
#include "compare.hpp"
#include "exports.hpp"
#include "imports.hpp"
#include "nest/plan/text/plan_json.hpp"
#include "nest/price/price.hpp"
#include "nest/report/answer/answer_value.hpp"
#include "nest/report/answer/shadow_text.hpp"
#include "nest/report/answer/whole_answer.hpp"
#include "nest/solve/ask/shadow_prices.hpp"
#include "nest/solve/baselines/baselines.hpp"
#include "safe_inputs.hpp"
#include "views.hpp"

namespace nest::server {

Document Service::parse(const std::string& body) const {
  return parse(body, limits_.body_bytes);
}

Document Service::parse(const std::string& body, std::size_t most) {
  if (body.size() > most) throw ApiError(413, "request", fmt::format("more than {} bytes", most));
  return parse_json("request", body);
}

PlanRequest Service::read_plan(const std::string& body) const {
  const Document document = parse(body);
  return read_plan_request(Reader(document), limits_);
}

SearchResult Service::search(PlanRequest& request, const Deadline& deadline, Ticket& ticket,
                             const Listening& listening) {
  SearchOptions& options = request.question.options;
  options.deadline = deadline;
  if (listening) {
    options.progress = [&](const SearchProgress& progress) {
      if (!listening(progress)) ticket.cancel();
    };
  }
  SearchResult found = nest::solve::answer(request.question);
  options.progress = {};
  ticket.check();
  if (found.status == PlanStatus::disagreement)
    throw ApiError(500, "", "this is a bug in nest, not in your input: " + found.reason);
  return found;
}

Value Service::answer(PlanRequest& request, Ticket& ticket, const SearchResult& found, const Asking& told) {
  const PlanQuestion& question = request.question;
  WholeAnswer also{.warnings = request.warnings, .in_full = request.in_full, .stats = request.stats};
  AdviceList advice;
  if (found.plans.empty() && found.status != PlanStatus::limit && request.advice) {
    AdviceOptions options;
    options.search_limit = limits_.advice / 2;
    options.total_limit = limits_.advice;
    if (told) {
      options.asking = [&](const std::string& change) {
        if (!told(change)) ticket.cancel();
      };
    }
    advice = advise_unfit(question, found, options, [&](const PlanQuestion& other) {
      ticket.check();
      return ask(other);
    });
    also.advice = &advice;
  }
  Value v = whole_answer(question, found, also);
  if (request.views && !found.plans.empty()) v.set("views", views_value(v, [&] { ticket.check(); }));
  ticket.check();
  return v;
}

Value Service::plan(PlanRequest request, const Listening& listening, const Asking& asking) {
  Ticket ticket = jobs_.begin(request.session, *request.question.asked.time_limit);
  const auto began = std::chrono::steady_clock::now();
  const SearchResult found = search(request, ticket.deadline(), ticket, listening);
  // The search is over, and what it found is known before the views are made, which may take longer.
  if (listening && !found.plans.empty()) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    const Seconds best = found.plan().predicted->step;
    (void)listening({.elapsed = Seconds{took.count()},
                     .bound = std::min(found.lower_bound, best),
                     .best = best,
                     .fills = found.stats.fills});
  }
  return answer(request, ticket, found, asking);
}

Value Service::shadow_prices(const std::string& body) {
  PlanRequest request = read_plan(body);
  const Ticket ticket = jobs_.begin(request.session, *request.question.asked.time_limit);
  request.question.options.deadline = ticket.deadline();
  ShadowOptions options;
  options.limit = limits_.advice;
  const ShadowPrices prices = solve::shadow_prices(request.question, options, [&](const PlanQuestion& other) {
    ticket.check();
    return ask(other);
  });
  ticket.check();
  Value v = Value::object();
  v.set("shadow_prices", to_value(prices));
  if (prices.stopped) v.set("stopped", true);
  return v;
}

Value Service::describe_model(const std::string& body) const {
  const Document document = parse(body);
  Reader request(document);
  Warnings warnings;
  const PlanInputs inputs = read_sized_inputs(request, limits_, warnings);
  request.done();
  return show_model(inputs.source);
}

Value Service::describe_cluster(const std::string& body) const {
  const Document document = parse(body);
  Reader request(document);
  Warnings warnings;
  const PlanInputs inputs = read_sized_inputs(request, limits_, warnings);
  request.done();
  return show_cluster(inputs.cluster);
}

Value Service::import_cluster(const std::string& body) {
  const Document document = parse(body, limits_.import_bytes);
  Reader request(document);
  const Ticket ticket = jobs_.begin("", limits_.time_limit);
  return imported_cluster(request, limits_);
}

Value Service::evaluate(const std::string& body) {
  const Document document = parse(body);
  Reader request(document);
  const Value* plans = request.find("plans");
  if (plans == nullptr || plans->as_array() == nullptr || plans->as_array()->empty())
    request.fail("'plans' is missing: a list of plans");
  if (plans->as_array()->size() > limits_.plans)
    request.fail_at("plans", fmt::format("more than {} plans in one request", limits_.plans));
  Warnings warnings;
  const Value inputs = to_value(read_sized_inputs(request, limits_, warnings));
  const Ticket ticket = jobs_.begin(read_session(request), limits_.time_limit);
  request.done();
  Value results = Value::array();
  for (std::size_t i = 0; i < plans->as_array()->size(); ++i) {
    PricedPlan priced;
    priced.status = PriceStatus::invalid;
    try {
      const Document plan = safe_plan((*plans->as_array())[i], fmt::format("plans[{}]", i), &inputs);
      const OpenPlan open = open_safe_plan(plan, limits_, warnings);
      priced = Pricer(open.inputs).price(open.plan);
    } catch (const InputError& error) {
      priced.reason = error.what();
    }
    results.push(priced_value(priced));
    if (ticket.deadline().over()) throw ApiError(408, "plans", "the time for one request is up");
  }
  Value v = Value::object();
  v.set("results", std::move(results));
  return v;
}

Value Service::compare(const std::string& body) {
  const Document document = parse(body);
  Reader request(document);
  CompareRequest asked = read_compare_request(request, limits_);
  Ticket ticket = jobs_.begin(asked.session, limits_.time_limit);
  std::vector<ComparedPlan> plans = std::move(asked.plans);
  for (PlanRequest& question : asked.questions) {
    const Deadline deadline = ticket.deadline().within(*question.question.asked.time_limit);
    const SearchResult found = search(question, deadline, ticket, {});
    ComparedPlan one{
        question.name, std::string(name_of(found.status)), found.reason, {}, question.question.inputs};
    if (!found.plans.empty()) one.plan = found.plans.front();
    plans.push_back(std::move(one));
  }
  for (const std::string& name : asked.with) {
    PlanQuestion question = asked.questions.front().question;
    question.options.deadline = ticket.deadline().within(*question.asked.time_limit);
    BaselineResult result = ask_baseline(*find_baseline(name), question);
    ticket.check();
    plans.push_back(
        {name, std::string(name_of(result.status)), result.reason, std::move(result.plan), question.inputs});
  }
  return compare_value(plans);
}

Value Service::cancel(const std::string& body) {
  const Document document = parse(body);
  Reader request(document);
  const std::string session = read_session(request);
  request.done();
  if (session.empty()) throw ApiError(400, "session", "'session' is missing");
  Value v = Value::object();
  v.set("cancelled", jobs_.cancel(session));
  return v;
}

Value Service::export_plan(const std::string& body) {
  const Document document = parse(body);
  Reader request(document);
  const Value* plan = request.find("plan");
  if (plan == nullptr) request.fail("'plan' is missing");
  const std::string target = request.text_or("to", "json");
  request.done();
  Warnings warnings;
  const Target to = find_target(target);
  const Ticket ticket = jobs_.begin("", limits_.time_limit);
  return exported(to, open_safe_plan(safe_plan(*plan, "plan"), limits_, warnings));
}

Document Service::read_plan_file(const std::string& body) const {
  const Document document = parse(body);
  Reader request(document);
  const Value* plan = request.find("plan");
  if (plan == nullptr) request.fail("'plan' is missing");
  request.done();
  return safe_plan(*plan, "plan");
}

std::string Service::report(const std::string& body) {
  const Document plan = read_plan_file(body);
  const Ticket ticket = jobs_.begin("", limits_.time_limit);
  return report_html(plan);
}

Value Service::views(const std::string& body) {
  const Document plan = read_plan_file(body);
  const Ticket ticket = jobs_.begin("", limits_.time_limit);
  return plan_views(plan, [&] { ticket.check(); });
}

}  // namespace nest::server
