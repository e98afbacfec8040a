#include "nest/report/page/report_others.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "nest/base/document/reader.hpp"
#include "nest/cluster/tree.hpp"
#include "nest/solve/search_result.hpp"

namespace nest::report {
namespace {

struct Degree {
  const char* key;
  std::int64_t usual;
};
constexpr std::array<Degree, 9> kDegrees{{{"tensor", 1},
                                          {"context", 1},
                                          {"expert", 1},
                                          {"expert_tensor", 1},
                                          {"pipeline", 1},
                                          {"interleave", 1},
                                          {"data", 1},
                                          {"data_inner", 1},
                                          {"zero", 0}}};

Value degrees(Reader parallelism) {
  Value v = Value::object();
  for (const Degree& d : kDegrees) v.set(d.key, parallelism.whole_or(d.key, d.usual));
  for (const char* key : {"recompute", "schedule"}) {
    if (parallelism.has(key)) v.set(key, parallelism.text(key));
  }
  return v;
}

// The ranks of all stages of all copies. No cluster has more devices than the most.
std::int64_t devices(Reader parallelism) {
  std::int64_t product = 1;
  for (const char* key : {"tensor", "context", "pipeline", "data"}) {
    const std::int64_t degree = std::clamp<std::int64_t>(parallelism.whole_or(key, 1), 0, kMostDevices);
    product = std::min(product * degree, kMostDevices);
  }
  return product;
}

Value loss(Reader told) {
  Value v = Value::object();
  v.set("name", told.text("name")).set("change_s", told.number("change_s"));
  return v;
}

Value row(double step, std::int64_t micro_batch, Reader parallelism) {
  Value v = Value::object();
  v.set("step_s", step).set("micro_batch", micro_batch).set("devices", devices(parallelism));
  v.set("parallelism", degrees(std::move(parallelism)));
  return v;
}

// Rows in the order of the file, and what they are compared with: the fastest plan that the file tells of.
class Others {
 public:
  explicit Others(Reader file) : file_(std::move(file)) {
    if (auto predicted = file_.object_if("predicted")) best_ = predicted->number_or("step_s", 0);
  }

  Value list() {
    if (auto strict = file_.object_if("strict")) {
      best_ = strict->number("step_s");
      Value v = short_plan(*strict);
      v.set("strict", true);
      if (auto told = strict->object_if("taken_loses_most_by"))
        v.set("taken_loses_most_by", loss(std::move(*told)));
      add(std::move(v), best_);
    }
    if (file_.has("runners_up")) {
      for (Reader& plan : file_.objects("runners_up")) {
        Value v = short_plan(plan);
        if (auto told = plan.object_if("loses_most_by")) v.set("loses_most_by", loss(std::move(*told)));
        add(std::move(v), plan.number("step_s"));
      }
    } else if (file_.has("alternatives")) {
      for (Reader& plan : file_.objects("alternatives")) {
        const double step = plan.object("predicted").number("step_s");
        const std::int64_t micro_batch = plan.object("training").whole_or("micro_batch", 1);
        add(row(step, micro_batch, plan.object("parallelism")), step);
      }
    }
    return std::move(list_);
  }

 private:
  static Value short_plan(Reader& plan) {
    const double step = plan.number("step_s");
    const std::int64_t micro_batch = plan.whole_or("micro_batch", 1);
    return row(step, micro_batch, plan.object("parallelism"));
  }

  void add(Value v, double step) {
    if (best_ <= step && step <= best_ * (1 + solve::kNoise)) v.set("near_tie", true);
    list_.push(std::move(v));
  }

  Reader file_;
  double best_ = 0;
  Value list_ = Value::array();
};

}  // namespace

Value other_plans(const Document& plan_file) {
  return Others(Reader(plan_file)).list();
}

}  // namespace nest::report
