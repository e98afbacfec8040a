#include "nest/report/page/report_others.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "nest/base/document/reader.hpp"
#include "nest/cluster/tree.hpp"

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

Value runner_up(Reader plan) {
  Value v = Value::object();
  v.set("step_s", plan.number("step_s")).set("micro_batch", plan.whole_or("micro_batch", 1));
  v.set("devices", devices(plan.object("parallelism")));
  v.set("parallelism", degrees(plan.object("parallelism")));
  if (auto loss = plan.object_if("loses_most_by")) {
    Value l = Value::object();
    l.set("name", loss->text("name")).set("change_s", loss->number("change_s"));
    v.set("loses_most_by", std::move(l));
  }
  return v;
}

Value whole_plan(Reader plan) {
  Reader predicted = plan.object("predicted");
  Reader training = plan.object("training");
  Value v = Value::object();
  v.set("step_s", predicted.number("step_s")).set("micro_batch", training.whole_or("micro_batch", 1));
  v.set("devices", devices(plan.object("parallelism")));
  v.set("parallelism", degrees(plan.object("parallelism")));
  return v;
}

}  // namespace

Value other_plans(const Document& plan_file) {
  Reader file(plan_file);
  Value list = Value::array();
  if (file.has("runners_up")) {
    for (Reader& plan : file.objects("runners_up")) list.push(runner_up(std::move(plan)));
  } else if (file.has("alternatives")) {
    for (Reader& plan : file.objects("alternatives")) list.push(whole_plan(std::move(plan)));
  }
  return list;
}

}  // namespace nest::report
