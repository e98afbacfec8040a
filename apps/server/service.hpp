// The API without HTTP: each function takes a request's body and gives the answer, or throws an ApiError or
// an InputError. Safe to call from many threads.
//
//   Service service;
//   service.plan(R"({"model": "llama3.1-8b", "devices": 64})")   -> what `nest plan --json` prints
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "jobs.hpp"
#include "limits.hpp"
#include "nest/base/document/document.hpp"
#include "nest/base/document/value.hpp"
#include "nest/solve/ask/answer.hpp"
#include "plan_request.hpp"

namespace nest::server {

// Told how far a search is; false where nobody listens any more.
using Listening = std::function<bool(const SearchProgress&)>;
// Told, where nothing fits, which change is tried next; false where nobody listens any more.
using Asking = std::function<bool(const std::string& change)>;

class Service {
 public:
  explicit Service(const Limits& limits = {}) : limits_(limits), jobs_(limits) {}

  [[nodiscard]] const Limits& limits() const { return limits_; }
  [[nodiscard]] Jobs& jobs() { return jobs_; }

  // In two steps, so that a bad request is refused before an answer is begun.
  [[nodiscard]] PlanRequest read_plan(const std::string& body) const;
  [[nodiscard]] Value plan(PlanRequest request, const Listening& listening = {}, const Asking& asking = {});
  [[nodiscard]] Value plan(const std::string& body) { return plan(read_plan(body)); }

  // A pasted model or cluster, as the catalog shows its own.
  [[nodiscard]] Value describe_model(const std::string& body) const;
  [[nodiscard]] Value describe_cluster(const std::string& body) const;

  // Texts of other programs as a cluster file (imports.hpp).
  [[nodiscard]] Value import_cluster(const std::string& body);

  // What more of each level's bandwidth, of memory and of devices would buy: a search each.
  [[nodiscard]] Value shadow_prices(const std::string& body);

  [[nodiscard]] Value evaluate(const std::string& body);
  [[nodiscard]] Value compare(const std::string& body);
  [[nodiscard]] Value cancel(const std::string& body);
  // {"files": [{"name", "text"}], "notes": [..]}: the plan in another tool's words.
  [[nodiscard]] Value export_plan(const std::string& body);
  // The report as one HTML page, and the data of its views.
  [[nodiscard]] std::string report(const std::string& body);
  [[nodiscard]] Value views(const std::string& body);

 private:
  [[nodiscard]] SearchResult search(PlanRequest& request, const Deadline& deadline, Ticket& ticket,
                                    const Listening& listening);
  [[nodiscard]] Value answer(PlanRequest& request, Ticket& ticket, const SearchResult& found,
                             const Asking& asking);
  // The plan of {"plan": {..}}, in words of the catalog alone.
  [[nodiscard]] Document read_plan_file(const std::string& body) const;
  [[nodiscard]] Document parse(const std::string& body) const;
  [[nodiscard]] static Document parse(const std::string& body, std::size_t most);

  Limits limits_;
  Jobs jobs_;
};

}  // namespace nest::server
