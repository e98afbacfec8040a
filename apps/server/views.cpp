#include "views.hpp"

#include "nest/report/page/report_data.hpp"
#include "nest/report/page/report_page.hpp"

namespace nest::server {
namespace {

// What a browser draws in the moment between two moves of a slider, and the server simulates in it.
constexpr std::size_t kMostSegments = 20'000;
constexpr double kMostPasses = 1e5;

}  // namespace

Value plan_views(const Document& plan, const std::function<void()>& go_on) {
  ReportOptions options;
  options.go_on = go_on;
  options.most_segments = kMostSegments;
  options.most_passes = kMostPasses;
  return report_value(plan, options);
}

Value views_value(const Value& answer, const std::function<void()>& go_on) {
  return plan_views(parse_json("plan", to_json(answer)), go_on);
}

std::string report_html(const Document& plan) {
  return report_page(report_value(plan));
}

}  // namespace nest::server
