#include "nest/validate/calibrate/training_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "nest/base/document/error_summary.hpp"
#include "nest/base/error.hpp"
#include "nest/base/numbers.hpp"

namespace nest::validate {
namespace {

constexpr double kMib = 1024.0 * 1024;
constexpr double kGib = 1024 * kMib;

// What one line says. Rates are of all devices, but tokens, which torchtitan counts for each.
struct LogLine {
  std::optional<double> step_s, samples_per_s, tokens_per_device_s, global_batch;
  std::optional<MemoryFigure> memory;

  [[nodiscard]] bool timed() const { return step_s || samples_per_s || tokens_per_device_s; }
};

// The number after a key: figure(line, "tps:") of "tps: 7,412" -> 7412.
std::optional<double> figure(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  std::string digits;
  for (std::size_t i = at + key.size(); i < line.size(); ++i) {
    const char c = line[i];
    if (digits.empty() && (c == ' ' || c == '=' || c == ':')) continue;
    const bool grouped =
        c == ',' && i + 1 < line.size() && std::isdigit(static_cast<unsigned char>(line[i + 1])) != 0;
    if (grouped) continue;
    const bool part = std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.' ||
                      ((c == 'e' || c == 'E' || c == '-' || c == '+') && !digits.empty());
    if (!part) break;
    digits += c;
  }
  const auto value = parse_number(digits);
  return value && *value > 0 ? value : std::nullopt;
}

std::optional<MemoryFigure> memory(std::string_view line, std::string_view key, double unit,
                                   MemoryKind kind) {
  const auto value = figure(line, key);
  if (!value) return std::nullopt;
  return MemoryFigure{kind, round_up_bytes(*value * unit)};
}

void megatron(std::string_view line, LogLine& out) {
  // After skipped iterations an average is of fewer steps; they are rare, and the median passes them over.
  if (const auto ms = figure(line, "elapsed time per iteration (ms):")) out.step_s = *ms / 1e3;
  out.global_batch = figure(line, "global batch size:");
  // Its MB are of 2^20 bytes.
  out.memory = memory(line, "max allocated:", kMib, MemoryKind::allocated);
}

void nemo(std::string_view line, LogLine& out) {
  out.step_s = figure(line, "train_step_timing in s:");
}

void torchtitan(std::string_view line, LogLine& out) {
  if (line.find("step:") == std::string_view::npos || line.find("loss:") == std::string_view::npos) return;
  out.tokens_per_device_s = figure(line, " tps:");
  if (line.find("GiB(") != std::string_view::npos)
    out.memory = memory(line, " memory:", kGib, MemoryKind::reserved);
}

void deepspeed(std::string_view line, LogLine& out) {
  if (const auto rate = figure(line, "CurrSamplesPerSec=")) out.samples_per_s = rate;
  if (!out.samples_per_s) out.step_s = figure(line, "iter time (s):");
  out.memory = memory(line, "MaxMemAllocated=", kGib, MemoryKind::allocated);
}

// tqdm's " 10%|## | 20/200 [00:22<03:24,  1.13s/it]". Bars with a title count something else than steps.
void trainer_progress(std::string_view line, LogLine& out) {
  const std::size_t bar = line.find("%|");
  if (bar == std::string_view::npos) return;
  std::string_view title = line.substr(0, bar);
  if (title.starts_with("Train:")) title.remove_prefix(6);
  if (title.find_first_not_of(" 0123456789") != std::string_view::npos) return;
  const std::size_t end = line.find("/it]");
  const std::size_t fast = line.find("it/s]");
  const std::size_t stop = std::min(end, fast);
  if (stop == std::string_view::npos) return;
  const std::size_t comma = line.rfind(',', stop);
  if (comma == std::string_view::npos) return;
  const auto value = figure(line.substr(comma, stop - comma), ",");
  if (value) out.step_s = fast < end ? 1 / *value : *value;
}

void trainer_summary(std::string_view line, LogLine& out) {
  if (const auto rate = figure(line, "'train_speed(iter/s)'")) out.step_s = 1 / *rate;
  if (const auto rate = figure(line, "'train_steps_per_second'")) out.step_s = 1 / *rate;
  out.memory = memory(line, "'memory(GiB)'", kGib, MemoryKind::reserved);
}

// In this order: Megatron-DeepSpeed writes lines of both, and Trainers a bar and a summary.
struct LogFormat {
  std::string_view name;
  void (*read)(std::string_view line, LogLine& out);
  std::size_t least;  // lines without which it is not taken
};
constexpr std::array<LogFormat, 6> kFormats{{{"Megatron-LM", megatron, 1},
                                             {"NeMo", nemo, 1},
                                             {"torchtitan", torchtitan, 1},
                                             {"DeepSpeed", deepspeed, 1},
                                             {"the Hugging Face Trainer", trainer_progress, 4},
                                             {"the Hugging Face Trainer", trainer_summary, 1}}};

// Colours ("\33[32m") go; a carriage return ends a line, for bars write over themselves.
std::vector<std::string> plain_lines(std::string_view text) {
  std::vector<std::string> lines(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n' || c == '\r') {
      if (!lines.back().empty()) lines.emplace_back();
    } else if (c == '\33' && i + 1 < text.size() && text[i + 1] == '[') {
      while (i < text.size() && std::isalpha(static_cast<unsigned char>(text[i])) == 0) ++i;
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

struct FormatLines {
  const LogFormat* format = nullptr;
  std::vector<LogLine> timed;
  std::optional<MemoryFigure> memory;
};

FormatLines lines_of(const LogFormat& format, const std::vector<std::string>& lines) {
  FormatLines out{&format, {}, {}};
  for (const std::string& line : lines) {
    LogLine one;
    format.read(line, one);
    if (one.memory && (!out.memory || out.memory->bytes < one.memory->bytes)) out.memory = one.memory;
    if (one.timed()) out.timed.push_back(std::move(one));
  }
  return out;
}

Seconds step_of(const LogLine& line, const LogBatch& batch) {
  if (line.step_s) return Seconds{*line.step_s};
  const auto sequences = static_cast<double>(batch.global_batch);
  if (line.samples_per_s) return Seconds{sequences / *line.samples_per_s};
  return Seconds{sequences * static_cast<double>(batch.sequence) /
                 (*line.tokens_per_device_s * static_cast<double>(batch.devices))};
}

Seconds ranked(std::vector<Seconds> steps, double share) {
  std::sort(steps.begin(), steps.end());
  return steps[static_cast<std::size_t>(std::lround(share * static_cast<double>(steps.size() - 1)))];
}

}  // namespace

Seconds LogReading::step() const {
  std::vector<double> values;
  values.reserve(steps.size());
  for (const Seconds s : steps) values.push_back(s.value);
  return Seconds{median_of(std::move(values))};
}

Seconds LogReading::low() const {
  return ranked(steps, 0.1);
}

Seconds LogReading::high() const {
  return ranked(steps, 0.9);
}

bool is_training_log(std::string_view text) {
  const std::vector<std::string> lines = plain_lines(text);
  return std::any_of(kFormats.begin(), kFormats.end(), [&](const LogFormat& format) {
    return lines_of(format, lines).timed.size() >= format.least;
  });
}

LogReading read_training_log(const std::string& file, std::string_view text, const LogBatch& batch) {
  const std::vector<std::string> lines = plain_lines(text);
  FormatLines found;
  for (const LogFormat& format : kFormats) {
    found = lines_of(format, lines);
    if (found.timed.size() >= format.least) break;
    found.timed.clear();
  }
  if (found.timed.empty())
    throw InputError(
        file, "", "no line says how long a step took",
        "lines of Megatron-LM ('elapsed time per iteration (ms)'), NeMo ('train_step_timing in s'), "
        "torchtitan ('tps'), DeepSpeed ('CurrSamplesPerSec') or the Hugging Face Trainer ('s/it', "
        "'train_steps_per_second') are understood");
  LogReading out{std::string(found.format->name), {}, 0, found.memory};
  // The first lines have compilation, allocations and autotuning in them.
  constexpr std::size_t kFew = 3;
  const std::size_t all = found.timed.size();
  const std::size_t warm_up = all < kFew ? 0 : std::min<std::size_t>(std::max<std::size_t>(all / 10, 1), 20);
  out.dropped = static_cast<std::int64_t>(warm_up);
  for (std::size_t i = warm_up; i < all; ++i) {
    const LogLine& line = found.timed[i];
    // Ramps of the batch size end at the plan's own.
    if (line.global_batch && *line.global_batch != static_cast<double>(batch.global_batch)) continue;
    out.steps.push_back(step_of(line, batch));
  }
  if (out.steps.empty())
    throw InputError(file, "",
                     fmt::format("the log's global batch is {:g} sequences, the plan's is {}",
                                 *found.timed.back().global_batch, batch.global_batch),
                     "give the plan that ran");
  return out;
}

}  // namespace nest::validate
