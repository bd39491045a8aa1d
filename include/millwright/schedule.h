/* Learning rates that move: a schedule gives each step a factor on the optimizer's rate.
 *
 *     mw_fit_options fit = mw_fit_defaults(train, 5);
 *     fit.schedule.rate = mw_schedule_cosine(0.0);
 *     fit.schedule.rate.warmup_steps = 100;    // any schedule can be warmed up
 *
 * and in a loop of one's own:
 *
 *     mw_trainer_set_learning_rate(trainer, rate * (float)mw_schedule_factor(&schedule, step, steps), &err);
 *
 * The rate is a number that each step is fed: moving it compiles nothing. A factor depends on the step alone, so that a
 * resumed training finds the same. Steps count from 0; T = steps of the training, without the warm-up. A step is an
 * update: for mw_trainer_fit, the batches that a trainer accumulates for one are one step. Makers only fill the value
 * in; mw_trainer_fit refuses one that does not fit the training, naming the number and its rule.
 *
 * Threads: these are plain values; every function here may be called from any thread at any time, if a custom function
 * can. */
#ifndef MILLWRIGHT_SCHEDULE_H
#define MILLWRIGHT_SCHEDULE_H

#include <millwright/status.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Returns the factor, finite and 0 or more, at `step` of `steps`. Called once for each batch of a step, in order but
 *  for the step at which a resumed training begins; it should depend on its arguments alone. */
typedef double mw_schedule_function(void *user, int64_t step, int64_t steps);

typedef enum mw_schedule_kind {
    MW_SCHEDULE_CONSTANT = 0,
    MW_SCHEDULE_STEP,
    MW_SCHEDULE_COSINE,
    MW_SCHEDULE_LINEAR,
    MW_SCHEDULE_ONE_CYCLE,
    MW_SCHEDULE_CUSTOM
} mw_schedule_kind;

/** A schedule; all zero is a constant one. Made by the functions below. */
typedef struct mw_schedule {
    mw_schedule_kind kind;
    int64_t period;                          /* step */
    double gamma;                            /* step */
    double end;                              /* cosine, linear: the factor after T steps */
    double rise, start_divisor, end_divisor; /* one cycle */
    mw_schedule_function *function;          /* custom */
    void *user;
    int64_t warmup_steps; /* W >= 0, yours to set: for t < W the factor is warmup_start + (1 - warmup_start) t / W, and
                           * the schedule begins at step W with T = steps - W */
    double warmup_start;  /* >= 0; default 0 */
} mw_schedule;

/** factor = 1. Without warm-up mw_trainer_fit leaves the rate alone: its callback may set it. */
MW_API mw_schedule mw_schedule_constant(void);

/** factor = gamma^floor(t / period), t = step - W.
 *  period  in steps, >= 1
 *  gamma   finite, >= 0
 *  source  PyTorch StepLR */
MW_API mw_schedule mw_schedule_step(int64_t period, double gamma);

/** factor = floor + (1 - floor) (1 + cos(pi t / T)) / 2, t = step - W.
 *  floor   finite, >= 0: the factor that it falls to
 *  source  PyTorch CosineAnnealingLR(T_max = T, eta_min = floor * rate); Loshchilov and Hutter 2017 */
MW_API mw_schedule mw_schedule_cosine(double floor);

/** factor = 1 + (end - 1) t / T, t = step - W.
 *  end     finite, >= 0
 *  source  PyTorch LinearLR(start_factor = 1, end_factor = end, total_iters = T) */
MW_API mw_schedule mw_schedule_linear(double end);

/** One rise to the optimizer's rate and a long fall: with P = rise T - 1, factors follow a half cosine from
 *  1 / start_divisor at t = 0 to 1 at t = P, and from there to 1 / (start_divisor end_divisor) at t = T - 1.
 *  rise           in [0, 1]: the share of steps that rise; PyTorch's default is 0.3
 *  start_divisor  finite, > 0; PyTorch's default is 25
 *  end_divisor    finite, > 0; PyTorch's default is 1e4
 *  source         PyTorch OneCycleLR(max_lr = rate, total_steps = T), which moves the momentum too unless told not to;
 *                 Smith and Topin 2018 */
MW_API mw_schedule mw_schedule_one_cycle(double rise, double start_divisor, double end_divisor);

/** factor = function(user, step - W, T). `user` must outlive the schedule's use. */
MW_API mw_schedule mw_schedule_custom(mw_schedule_function *function, void *user);

/** Returns the factor at `step` (from 0) of `steps`; after the last step it stays where it ends. NaN if
 *  mw_trainer_fit would refuse the schedule or step is negative, and whatever a custom function gives. */
MW_API double mw_schedule_factor(const mw_schedule *schedule, int64_t step, int64_t steps);

#ifdef __cplusplus
}
#endif
#endif
