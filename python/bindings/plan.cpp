#include "plan.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "errors.hpp"
#include "interruptible.hpp"
#include "nest/base/document/reader.hpp"
#include "nest/base/error.hpp"
#include "nest/base/files.hpp"
#include "nest/frameworks/common/export_folder.hpp"
#include "nest/frameworks/exporters.hpp"
#include "nest/plan/text/diff.hpp"
#include "nest/plan/text/plan_json.hpp"
#include "nest/plan/text/spell_plan.hpp"
#include "nest/question/make_question.hpp"
#include "nest/report/answer/answer_value.hpp"
#include "nest/report/answer/explain.hpp"
#include "nest/report/answer/shadow_text.hpp"
#include "nest/report/page/report_data.hpp"
#include "nest/report/page/report_page.hpp"
#include "nest/simulate/listeners/gantt.hpp"
#include "nest/simulate/listeners/trace.hpp"
#include "nest/simulate/simulate.hpp"
#include "nest/solve/ask/shadow_prices.hpp"
#include "question.hpp"
#include "values.hpp"

namespace nest::python {
namespace {

using Released = nb::gil_scoped_release;

PricedPlan valid_price(Pricer& pricer, const Plan& plan) {
  PricedPlan priced = pricer.price(plan);
  if (priced.status == PriceStatus::invalid) throw InputError("", "plan", priced.reason);
  return priced;
}

nb::object price(const PlanHandle& handle) {
  Value value;
  {
    const Released released;
    value = priced_value(Pricer(handle.inputs(), handle.options()).price(handle.plan()));
  }
  return to_python(value);
}

nb::list segments_of(const Timeline& timeline) {
  nb::list out;
  for (const Segment& s : timeline.segments()) {
    const Worker& worker = timeline.workers()[static_cast<std::size_t>(s.worker)];
    const std::string_view kind = name_of(s.kind);
    out.append(nb::make_tuple(static_cast<std::int64_t>(worker.stage), static_cast<std::int64_t>(worker.copy),
                              nb::str(kind.data(), kind.size()), s.task.micro_batch, s.task.chunk,
                              s.from.value, s.to.value, s.stream == Stream::communication));
  }
  return out;
}

// What `nest simulate --json` prints, the segments of every worker, a trace and a drawing.
nb::tuple simulate(const PlanHandle& handle, bool all_devices, bool drawn) {
  Value value;
  Timeline timeline;
  MemoryUse memory(drawn);
  std::string trace;
  std::string svg;
  {
    const Released released;
    Pricer pricer(handle.inputs());
    const PricedPlan priced = valid_price(pricer, handle.plan());
    const Plan placed = pricer.place(handle.plan());
    (void)count_passes(placed, {.all_devices = all_devices, .drawn = drawn}, "");
    std::vector<Listener*> listeners;
    if (drawn) listeners = {&timeline, &memory};
    const SimulationResult result =
        run_simulation(placed, priced, pricer.inputs(), {.all_devices = all_devices}, listeners);
    value = to_value(result);
    value.set("status", name_of(priced.status)).set("reason", priced.reason);
    put_certainty(value, priced.predicted);
    if (drawn) {
      trace = chrome_trace(timeline, memory);
      svg = gantt_svg(timeline, {.title = "One step: " + spell_degrees(placed)});
    }
  }
  return nb::make_tuple(to_python(value), segments_of(timeline), trace, svg);
}

nb::object explain_plan(const PlanHandle& handle) {
  Value value;
  {
    const Released released;
    value = to_value(explain(handle.plan(), handle.inputs(), handle.options()));
  }
  return to_python(value);
}

// The shadow prices of `nest explain --json`.
nb::object more_of(const PlanHandle& handle, double time_limit, nb::object callback) {
  PlanQuestion question = question_of(handle.plan(), handle.inputs(), handle.options().pipeline_model);
  Progress progress(std::move(callback), question.options.deadline);
  question.options.progress = progress.listener();
  ShadowOptions options;
  options.limit = Seconds{time_limit};
  options.asking = progress.phases();
  const auto prices = interruptibly<ShadowPrices>(progress, [&] { return shadow_prices(question, options); });
  Value value = Value::object();
  put_shadow_prices(value, prices);
  return to_python(value);
}

nb::object difference(const PlanHandle& first, const PlanHandle& second) {
  Value value;
  {
    const Released released;
    const auto priced = [](const PlanHandle& handle) {
      Pricer pricer(handle.inputs(), handle.options());
      return with_results(handle.plan(), valid_price(pricer, handle.plan()));
    };
    const Plan one = priced(first);
    const Plan other = priced(second);
    PlanDifference d = diff(one, other);
    const std::vector<ChoiceDifference> inputs = diff_inputs(first.inputs(), second.inputs());
    d.choices.insert(d.choices.begin(), inputs.begin(), inputs.end());
    value = to_value(d, one, other);
  }
  return to_python(value);
}

struct ExportWish {
  std::string target;
  std::vector<std::string> hosts;
  std::int64_t devices_per_host = 0;
};

// Writes with `sink` what `nest export` writes; gives lost, next and releases.
Value export_to(const PlanHandle& handle, const ExportWish& wish, const ExportSink& sink) {
  const ExportTarget to = read_target(wish.target);
  Pricer pricer(handle.inputs());
  const PricedPlan priced = valid_price(pricer, handle.plan());
  ExportQuestion question{.plan = with_results(pricer.place(handle.plan()), priced),
                          .inputs = handle.inputs(),
                          .hosts = wish.hosts,
                          .devices_per_host = wish.devices_per_host,
                          .release = to.release};
  const ExportResult result = to.exporter->write(question, sink);
  if (!result.rule.empty())
    throw InputError(
        "", "plan",
        std::string(to.exporter->title) + " cannot run this plan (" + result.rule + "): " + result.sentence);
  const auto texts = [](const std::vector<std::string>& lines) {
    Value list = Value::array();
    for (const std::string& line : lines) list.push(line);
    return list;
  };
  Value releases = Value::array();
  for (const Release* release : result.releases) releases.push(release->name);
  Value out = Value::object();
  out.set("target", to.exporter->name).set("lost", texts(result.lost)).set("next", texts(result.next));
  out.set("releases", std::move(releases));
  return out;
}

nb::object export_folder(const PlanHandle& handle, const std::string& target, const std::string& folder,
                         bool force, const std::vector<std::string>& hosts, std::int64_t devices_per_host) {
  Value value;
  {
    const Released released;
    ExportFolder files(folder, force);
    value = export_to(handle, {target, hosts, devices_per_host},
                      [&](const ExportFile& file) { files.write(file); });
    files.finish();
    Value names = Value::array();
    for (const auto& file : files.files()) names.push(file.name);
    value.set("folder", files.target()).set("files", std::move(names));
  }
  return to_python(value);
}

nb::tuple export_files(const PlanHandle& handle, const std::string& target,
                       const std::vector<std::string>& hosts, std::int64_t devices_per_host) {
  Value value;
  std::vector<ExportFile> files;
  {
    const Released released;
    value = export_to(handle, {target, hosts, devices_per_host},
                      [&](const ExportFile& file) { files.push_back(file); });
  }
  nb::dict texts;
  for (const ExportFile& file : files)
    texts[file.name.c_str()] = nb::bytes(file.bytes.data(), file.bytes.size());
  return nb::make_tuple(to_python(value), texts);
}

std::string report(const PlanHandle& handle, const std::string& json, const std::string& title,
                   const std::vector<std::string>& sections) {
  const Released released;
  ReportOptions options;
  options.price = handle.options();
  options.title = title;
  options.command = "Plan.report()";
  return report_page(report_value(parse_json("plan", json), options), sections);
}

nb::object report_data(const std::string& json) {
  Value value;
  {
    const Released released;
    value = report_value(parse_json("plan", json), {.command = "Plan.report()"});
  }
  return to_python(value);
}

// Of every stage and copy, the devices of a cell; placed by the rule where the plan has none.
std::vector<std::vector<std::vector<std::int32_t>>> devices_of(const PlanHandle& handle) {
  const Released released;
  const Plan placed = Pricer(handle.inputs()).place(handle.plan());
  std::vector<std::vector<std::vector<std::int32_t>>> out;
  for (const Stage& stage : placed.stages) {
    auto& cells = out.emplace_back();
    for (const Cell& cell : stage.devices) {
      auto& ids = cells.emplace_back();
      for (const DeviceId id : cell) ids.push_back(id.value);
    }
  }
  return out;
}

// A plan's JSON, as a text or in Python's own words, for the inputs that it carries or for those given.
PlanHandle open_plan(const std::string& file, nb::handle source,
                     const std::optional<std::tuple<nb::object, nb::object, nb::object>>& given) {
  Document document;
  if (nb::isinstance<nb::str>(source)) {
    document = parse_json(file, nb::cast<std::string>(source));
  } else {
    document = as_document(file, from_python(source, ""));
  }
  GivenInputs inputs;
  if (given) {
    const auto& [model, cluster, recipe] = *given;
    inputs = {from_python(model, "model"), from_python(cluster, "cluster"), from_python(recipe, "recipe"), "",
              Value()};
  }
  const Released released;
  Warnings unheard;
  if (document.root.find("inputs") != nullptr) {
    OpenPlan open = read_plan_file(document, unheard);
    Plan plan = Pricer(open.inputs).complete(std::move(open.plan));
    return {std::make_shared<const PlanInputs>(std::move(open.inputs)), std::move(plan)};
  }
  if (!given)
    throw InputError(file, "", "'inputs' is missing: say which model the plan is for",
                     "give model=, and cluster= and recipe= where they are not the usual ones");
  return read_handle(document, std::make_shared<const PlanInputs>(open_inputs(inputs, unheard)));
}

void put(Value& object, const std::string& key, Value value) {
  if (object.find(key) == nullptr) object.set(key, std::move(value));
}

// A plan of one's own for a question: what it leaves out of its training is the question's.
PlanHandle plan_of(const Question& question, nb::handle given) {
  Value plan = from_python(given, "");
  const Released released;
  const Training& t = question.made().training;
  const Value* said = plan.find("training");
  Value training = said != nullptr && said->as_object() != nullptr ? *said : Value::object();
  put(training, "global_batch", t.global_batch);
  put(training, "sequence", t.sequence);
  put(training, "precision", name_of(t.precision));
  put(training, "optimizer", name_of(t.optimizer));
  std::erase_if(*plan.as_object(), [](const Value::Member& m) { return m.first == "training"; });
  plan.set("training", std::move(training));
  Plan own;
  reading_memory([&] {
    own = read_handle(as_document("plan", plan), question.inputs(), question.price_options()).plan();
  });
  if (own.training.contents.usual()) own.training.contents = t.contents;
  if (!own.training.states.any()) own.training.states = t.states;
  if (own.training.tuning.whole()) own.training.tuning = t.tuning;
  Pricer pricer(*question.inputs(), question.price_options());
  const PricedPlan priced = valid_price(pricer, own);
  return {question.inputs(), with_results(pricer.place(std::move(own)), priced), question.price_options()};
}

}  // namespace

Value PlanHandle::value() const {
  return plan_value(plan_, *inputs_);
}

PlanHandle read_handle(const Document& document, const std::shared_ptr<const PlanInputs>& inputs,
                       PriceOptions options) {
  Reader reader(document);
  Warnings unheard;
  Plan read = read_plan(reader, inputs->recipe, unheard);
  return {inputs, Pricer(*inputs).complete(std::move(read)), options};
}

void add_plan(nb::module_& module) {
  nb::class_<PlanHandle>(module, "Plan")
      .def(
          "value", [](const PlanHandle& h) { return to_python(h.value()); },
          nb::sig("def value(self) -> dict[str, typing.Any]"))
      .def("json", [](const PlanHandle& h) { return to_json(h.value()); })
      .def("spell", [](const PlanHandle& h) { return spell_degrees(h.plan()); })
      .def("devices", devices_of)
      .def("price", price, nb::sig("def price(self) -> dict[str, typing.Any]"))
      .def("simulate", simulate, nb::arg("all_devices"), nb::arg("drawn"),
           nb::sig("def simulate(self, all_devices: bool, drawn: bool) -> tuple[dict[str, typing.Any], "
                   "list[tuple[int, int, str, int, int, float, float, bool]], str, str]"))
      .def("explain", explain_plan, nb::sig("def explain(self) -> dict[str, typing.Any]"))
      .def("more_of", more_of, nb::arg("time_limit"), nb::arg("progress").none(),
           nb::sig("def more_of(self, time_limit: float, progress: typing.Callable[[Progress], object] | "
                   "None) -> dict[str, typing.Any]"))
      .def("diff", difference, nb::arg("other"),
           nb::sig("def diff(self, other: Plan) -> dict[str, typing.Any]"))
      .def("export", export_folder, nb::arg("target"), nb::arg("folder"), nb::arg("force"), nb::arg("hosts"),
           nb::arg("devices_per_host"),
           nb::sig("def export(self, target: str, folder: str, force: bool, hosts: "
                   "collections.abc.Sequence[str], devices_per_host: int) -> dict[str, typing.Any]"))
      .def("export_files", export_files, nb::arg("target"), nb::arg("hosts"), nb::arg("devices_per_host"),
           nb::sig("def export_files(self, target: str, hosts: collections.abc.Sequence[str], "
                   "devices_per_host: int) -> tuple[dict[str, typing.Any], dict[str, bytes]]"))
      .def("report", report, nb::arg("json"), nb::arg("title"), nb::arg("sections"));
  module.def("open_plan", open_plan, nb::arg("file"), nb::arg("source"), nb::arg("given").none(),
             nb::sig("def open_plan(file: str, source: str | dict[str, typing.Any], given: tuple[object, "
                     "object, object] | None) -> Plan"));
  module.def("plan_of", plan_of, nb::arg("question"), nb::arg("given"),
             nb::sig("def plan_of(question: Question, given: dict[str, typing.Any]) -> Plan"));
  module.def("read_file", [](const std::string& file) { return read_file(file); }, nb::arg("file"));
  module.def("report_data", report_data, nb::arg("json"),
             nb::sig("def report_data(json: str) -> dict[str, typing.Any]"));
}

}  // namespace nest::python
