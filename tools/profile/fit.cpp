// Fits the constants of the kernel model to a measured profile and writes them as YAML:
//
//   nest_fit data/profiles/h200.json > data/profiles/h200.fit.yaml
//   nest_fit data/profiles/h200.scans.json > data/profiles/h200.scans.fit.yaml
//
// Only rows of the split `fit` are used. Each kind has its own constants, found by coordinate descent on the
// mean absolute logarithm of estimate over measurement (the part above 0.3 counts a fifth, so that outliers
// pull little), from fixed starts: the same profile gives the same file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <vector>

#include "nest/base/document/document.hpp"
#include "nest/base/document/reader.hpp"
#include "nest/base/files.hpp"
#include "nest/estimate/kernels/kernel_model.hpp"
#include "nest/estimate/kernels/measured.hpp"
#include "nest/estimate/kernels/scan_work.hpp"

namespace nest::tools {
namespace {

constexpr double kOutlier = 0.3;  // beyond this error counts a fifth
constexpr double kOutlierSlope = 0.2;
constexpr double kShort = 50e-6;  // kernels below this count less: their times hide behind launches
constexpr double kShortWeight = 0.25;
constexpr int kRounds = 60;

// The other elements of a stream kernel may be many or few: values that cost a byte, or rows that cost
// thousands.
const std::vector<StreamConstants> kStreamStarts{
    {.other_bytes = 1}, {.other_bytes = 50}, {.other_bytes = 4000}};

struct Sample {
  KernelCall call;
  double seconds;
  double weight;
};

double loss_of(const std::vector<Sample>& samples, const KernelConstants& constants,
               const DeviceRates& rates) {
  double sum = 0;
  double weight = 0;
  for (const Sample& s : samples) {
    const double error = std::abs(std::log(model_seconds(s.call, constants, rates) / s.seconds));
    sum += s.weight * (std::min(kOutlier, error) + kOutlierSlope * std::max(0.0, error - kOutlier));
    weight += s.weight;
  }
  return weight > 0 ? sum / weight : 0;
}

template <class T>
double descend(const std::vector<Sample>& samples, std::span<const ConstantField<T>> fields, T& chosen,
               KernelConstants& constants, const DeviceRates& rates) {
  std::vector<double> steps(fields.size(), 0.2);
  double best = loss_of(samples, constants, rates);
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      double& value = chosen.*fields[i].member;
      const double before = value;
      bool better = false;
      for (const double sign : {1.0, -1.0}) {
        value = std::clamp(before * std::exp(sign * steps[i]), fields[i].least, fields[i].most);
        const double loss = loss_of(samples, constants, rates);
        if (loss < best) {
          best = loss;
          better = true;
          break;
        }
        value = before;
      }
      steps[i] = better ? std::min(1.0, steps[i] * 1.6) : steps[i] * 0.6;
      if (steps[i] < 1e-3) steps[i] = round % 10 == 9 ? 0.1 : 1e-3;
    }
  }
  return best;
}

// Constants of tiles that are never the best say nothing, and are not written.
bool helps(const ConstantField<MatmulConstants>& field, const MatmulConstants& constants) {
  return !field.may_lack || tile_helps(field.member, constants);
}
template <class T>
bool helps(const ConstantField<T>& field, const T& constants) {
  return !field.may_lack || constants.*field.member > 2 * field.least;
}

// The best of the starts, each as given and with its first values halved or doubled.
template <class T>
void fit(const std::vector<Sample>& samples, std::span<const ConstantField<T>> fields,
         const std::vector<T>& starts, T& chosen, KernelConstants& constants, const DeviceRates& rates,
         std::string_view name) {
  T best = starts.front();
  double least = 0;
  bool found = false;
  for (const T& start : starts) {
    for (const double factor : {1.0, 0.5, 2.0}) {
      for (std::size_t i = 0; i < fields.size(); i += 3) {
        if (factor == 1.0 && i > 0) break;
        chosen = start;
        chosen.*fields[i].member =
            std::clamp(start.*fields[i].member * factor, fields[i].least, fields[i].most);
        const double loss = descend(samples, fields, chosen, constants, rates);
        if (found && loss >= least) continue;
        least = loss;
        best = chosen;
        found = true;
      }
    }
  }
  chosen = best;
  fmt::print("  {}: {{", name);
  const char* between = "";
  for (const ConstantField<T>& field : fields) {
    if (!helps(field, chosen)) continue;
    fmt::print("{}{}: {:.4g}", between, field.name, chosen.*field.member);
    between = ", ";
  }
  fmt::print("}}  # {} points, mean error {:.1f} %\n", samples.size(), 100 * least);
  std::fflush(stdout);
}

std::vector<Sample> samples_of(const MeasuredProfile& profile, const KernelKindRow& row) {
  std::vector<Sample> samples;
  const MeasuredSeries* series = profile.series(row.series);
  if (!series) return samples;
  for (const MeasuredPoint& p : series->points) {
    if (!p.held_out)
      samples.push_back({{row.kind, p.sizes}, p.seconds, p.seconds < kShort ? kShortWeight : 1});
  }
  return samples;
}

void run(const std::string& file) {
  const MeasuredProfile profile = read_profile(file, read_file(file));
  const DeviceRates rates = device_rates(find_accelerator(profile.accelerator));
  KernelConstants constants;
  fmt::print("# Made by: nest_fit {}\naccelerator: {}\n", file, profile.accelerator);
  fmt::print("source: fit to {} of {} ({} rows), its held-out third left out\nconstants:\n", file,
             profile.date.substr(0, 10), profile.rows());
  for (const KernelKindRow& row : kernel_kinds()) {
    const std::vector<Sample> samples = samples_of(profile, row);
    if (samples.empty()) continue;
    const auto i = static_cast<std::size_t>(row.kind);
    switch (row.family) {
      case KernelFamily::matmul:
      case KernelFamily::grouped_matmul:
        fit<MatmulConstants>(samples, matmul_fields(row.family), {{}}, constants.matmul[i], constants, rates,
                             row.series);
        break;
      case KernelFamily::attention:
        fit<AttentionConstants>(samples, attention_fields(), {{}}, constants.attention[i], constants, rates,
                                row.series);
        break;
      case KernelFamily::stream:
        fit<StreamConstants>(samples, stream_fields(row.kind), kStreamStarts, constants.stream[i], constants,
                             rates, row.series);
        break;
      case KernelFamily::scan:
        break;  // of another file
    }
  }
}

std::int64_t size_in(Reader& row, const char* name) {
  return row.has(name) ? row.whole(name) : 0;
}

KernelCall scan_of(Reader& row, KernelKind kind) {
  if (kind == KernelKind::choose_keys) return choice_call(row.whole("tokens"), row.whole("keys"));
  const std::int64_t states = size_in(row, "state") + size_in(row, "taps") + size_in(row, "key_dim");
  return scan_call(kind, {.batch = row.whole("batch"),
                          .positions = row.whole("tokens"),
                          .heads = row.whole("heads"),
                          .key_heads = size_in(row, "key_heads"),
                          .key_dim = states,
                          .value_dim = size_in(row, "value_dim")});
}

// Few points, all of which count: which parts of a scan's time they tell apart is in its sizes.
void run_scans(const std::string& file, const Document& document) {
  Reader reader(document);
  const std::string accelerator = reader.text("accelerator");
  const DeviceRates rates = device_rates(find_accelerator(accelerator));
  KernelConstants constants;
  fmt::print("# Made by: nest_fit {}\naccelerator: {}\nsource: fit to {}\nconstants:\n", file, accelerator,
             file);
  for (const KernelKindRow& row : kernel_kinds()) {
    if (row.family != KernelFamily::scan) continue;
    std::vector<Sample> samples;
    for (Reader& point : reader.objects("rows")) {
      if (point.text("kernel") + "/" + point.text("pass") != row.series) continue;
      samples.push_back({scan_of(point, row.kind), point.number("time_s"), 1});
    }
    if (samples.empty()) continue;
    const std::vector<ScanConstants> starts{{},
                                            {.position_s = 3e-8},
                                            {.position_s = 3e-8, .bytes = 20},
                                            {.bytes = 0.01, .flops = 20},
                                            {.bytes = 20, .flops = 0.01}};
    fit<ScanConstants>(samples, scan_fields(), starts, constants.scan[static_cast<std::size_t>(row.kind)],
                       constants, rates, row.series);
  }
}

}  // namespace
}  // namespace nest::tools

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: nest_fit PROFILE.json > FIT.yaml\n");
    return 2;
  }
  try {
    const std::string file = argv[1];
    const nest::base::Document document = nest::base::read_document(file);
    if (nest::base::Reader(document).has("rows"))
      nest::tools::run_scans(file, document);
    else
      nest::tools::run(file);
  } catch (const std::exception& error) {
    fmt::print(stderr, "nest_fit: {}\n", error.what());
    return 1;
  }
  return 0;
}
