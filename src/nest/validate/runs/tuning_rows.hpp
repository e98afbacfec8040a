// Published fine-tuning runs: a table that says what was trained (`kind`: SFT or LoRA), and which model and device by
// their usual names. The shape is the zoo's. What rows leave open is stated here once:
//
//   LoRA without rank and targets   rank 16 beside the attention's projections, NVIDIA's and MLPerf's reference
//   software                        NeMo and Megatron Bridge: all sources of the table train with them
//   sequences                       of the stated length, each filled with documents
//   attention                       within documents: NVIDIA's fine-tuning recipes pack SQuAD, whose paragraphs with question and answer
//                                   have some 200 tokens (the sources' own TFLOP/s of LoRA rows leave 0.3 % for attention, which
//                                   is what such documents take); MLPerf's are as long as its sequences
//   recomputation                   none
#pragma once

#include "nest/base/document/csv.hpp"
#include "nest/validate/runs/run_rows.hpp"

namespace nest::validate {

[[nodiscard]] bool is_tuning_table(const CsvTable& table);

// Fills in what the columns of such a table say in other words than those of a table of runs.
void read_tuning_row(const CsvRow& row, RunRow& out);

}  // namespace nest::validate
