/* Why a step was refused, once more: a trainer with the option watch.replay_folder leaves the refused step there, and
 * mw_replay_run runs it again, without the trainer, the data or the program that made them.
 *
 *     options.watch.replay_folder = "run/refused";    // mw_trainer_step: "step 1200 is refused: .."
 *
 *     mw_replay_result result;
 *     mw_replay_run("run/refused", NULL, &result, &err);
 *     printf("%s\n", result.text);
 *
 * The folder has model.mil with its weights, the program of the step that says of each of its values whether it is
 * finite; inputs.safetensors, what it was fed: the batch, the scalars of the step, parameters and states; and
 * operations.txt, a line for each value in the order of execution: operation, parameter and a sentence, between tabs.
 *
 * Threads: any number of calls at the same time. */
#ifndef MILLWRIGHT_REPLAY_H
#define MILLWRIGHT_REPLAY_H

#include <millwright/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What was found. */
typedef struct mw_replay_result {
    int64_t step;       /* number of the refused step */
    size_t values;      /* that were looked at, limits of gradients and parameters included .. */
    size_t non_finite;  /* .. and that are not finite, or beyond their limit */
    size_t first;       /* the first of them in the order of execution, from 0 */
    char operation[64]; /* MIL's name of it; "" = a limit */
    char tensor[96];    /* parameter that it belongs to, or "" */
    char text[320];     /* the same as a sentence, without characters that steer a terminal; "" if all are finite */
} mw_replay_result;

/** Runs a refused step again.
 *  options  NULL = the default ones; another device or number of threads may be asked. What is beyond the type that the
 *           trainer's device had counts as not finite on every device. keep_folder, share
 *           and function are not used
 *  out      may be NULL; zeros on failure
 *  errors   MW_ERROR_FILE or MW_ERROR_FORMAT if the folder is none of a refused step; those of mw_program_create and
 *           mw_program_run */
MW_API mw_status mw_replay_run(const char *folder, const mw_compile_options *options, mw_replay_result *out,
                               mw_error *err);

#ifdef __cplusplus
}
#endif
#endif
