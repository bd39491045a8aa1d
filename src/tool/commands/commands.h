/* The commands: what each does, its options, and what several use. */
#ifndef MW__TOOL_COMMANDS_COMMANDS_H
#define MW__TOOL_COMMANDS_COMMANDS_H

#include "tool/tool.h"

#include <millwright/inspect.h>
#include <millwright/ops/operation.h>

tool_run tool_info, tool_ops, tool_tensors, tool_convert, tool_average, tool_run_model, tool_bench, tool_profile,
    tool_compare, tool_gradcheck, tool_check, tool_plan, tool_inspect, tool_doctor, tool_man, tool_completion,
    tool_train, tool_finetune, tool_draw, tool_plot, tool_report, tool_replay, tool_ranges, tool_passes, tool_tokens,
    tool_generate, tool_embed, tool_sweep, tool_predict, tool_evaluate, tool_package, tool_new;

extern const tool_option tool_info_options[], tool_tensors_options[], tool_convert_options[], tool_average_options[],
    tool_run_options[], tool_bench_options[], tool_profile_options[], tool_compare_options[], tool_gradcheck_options[],
    tool_check_options[], tool_plan_options[], tool_inspect_options[], tool_doctor_options[], tool_train_options[],
    tool_finetune_options[], tool_draw_options[], tool_plot_options[], tool_report_options[], tool_replay_options[],
    tool_ranges_options[], tool_passes_options[], tool_tokens_options[], tool_generate_options[], tool_embed_options[],
    tool_sweep_options[], tool_predict_options[], tool_evaluate_options[], tool_package_options[], tool_new_options[];

/* ---- cmd_new.c ---- */

#define TOOL_NEW_KINDS "table, sequence, image, sound"

/* ---- cmd_compare.c ---- */

/* Runs two models on the same drawn inputs; TOOL_DIFFERS if results differ by more than `tolerance` of their largest.
 *  written  the second was written from the first: it has the shapes that the options give */
int tool_compare_files(const char *first, const char *second, bool written, double tolerance, const tool_call *call);

/* ---- cmd_run.c ---- */

/* The program of the model that the arguments name, with its inputs drawn; NULL with call->err set or *out_usage. */
mw_program *tool_compile_program(const tool_call *call, bool *out_usage);
void tool_say_engine_plan(const mw_plan *plan, const tool_call *call);

/* ---- pass_list.c ---- */

/* All passes and rules, in their order. */
void tool_say_pass_list(const tool_call *call);

/* ---- layers.c ---- */

/* The layers of "main", a line each, and their sums. */
void tool_say_layers(const mw_graph *graph, const tool_call *call);

#endif
