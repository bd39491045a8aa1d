/* What a compiled program does when it runs, as data: its steps with the operations that were fused into them, its
 * buffers with their lives, bytes and floating-point operations, and, while profiling is on, measured times.
 *
 *     mw_program_profile(program, 100, &err);
 *     for (int i = 0; i < 100; i++)
 *         mw_program_run(program, &err);
 *     mw_plan *plan = mw_plan_create(program, &err);
 *     mw_plan_write(plan, "plan.txt", &err);
 *     mw_plan_write_trace(plan, "trace.json", &err);
 *     mw_plan_destroy(plan);
 *
 * A plan is a copy: it shows the moment at which it was created and outlives its program. Strings and arrays that it
 * hands out live as long as the plan. Millwright's engine has plans, Espresso has none.
 *
 * Threads: a plan does not change: any number of threads may read it at the same time. The calls on programs and
 * trainers follow program.h and trainer.h. */
#ifndef MILLWRIGHT_PLAN_H
#define MILLWRIGHT_PLAN_H

#include <millwright/trainer.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mw_plan mw_plan;

/** Which program of a trainer. */
typedef enum mw_trainer_part {
    MW_TRAINER_STEP = 0,
    MW_TRAINER_EVALUATION = 1,  /* made when first asked for, as by mw_trainer_evaluate */
    MW_TRAINER_PREDICTION = 2,  /* likewise, as by mw_trainer_predict */
    MW_TRAINER_ACCUMULATION = 3 /* a batch that only adds to the accumulated gradients */
} mw_trainer_part;

/* ---- profiling ---- */

/** Keeps the times of the newest `runs` runs from now on, at most 2^20; 0 switches it off. Either way what was kept is
 *  dropped. While it is on, each share of a step costs one reading of the clock (20 to 60 ns); switched off, nothing.
 *  All memory is taken here. Like the first run, it freezes what mw_program_alias binds.
 *  errors  as mw_plan_create; MW_ERROR_ARGUMENT for too many runs */
MW_API mw_status mw_program_profile(mw_program *program, size_t runs, mw_error *err);
/** Keeps the times of one program of a trainer, as mw_program_profile. What mw_trainer_step_many puts into one dispatch
 *  is not measured.
 *  errors  MW_ERROR_ARGUMENT for the prediction or accumulation of a trainer that has none */
MW_API mw_status mw_trainer_profile(mw_trainer *trainer, mw_trainer_part part, size_t runs, mw_error *err);

/* ---- creating ---- */

/** The plan of a program. Like the first run, it freezes what mw_program_alias binds.
 *  errors  MW_ERROR_UNSUPPORTED, naming the provider, if the library behind e5rt shows no plans */
MW_API mw_plan *mw_plan_create(mw_program *program, mw_error *err);
/** The plan of a program of a trainer.
 *  errors  MW_ERROR_ARGUMENT for the prediction or accumulation of a trainer that has none */
MW_API mw_plan *mw_plan_create_trainer(mw_trainer *trainer, mw_trainer_part part, mw_error *err);
/** Frees the plan; twice as mw_trainer_destroy. NULL is fine. */
MW_API void mw_plan_destroy(mw_plan *plan);

/* ---- reading ---- */

/** Times over the runs that the profile kept; all 0 if there are none. */
typedef struct mw_plan_time {
    size_t runs;
    double min_ns, median_ns, total_ns;
} mw_plan_time;

/** The whole. Bytes and operations are those of one run. */
typedef struct mw_plan_totals {
    const char *where;  /* as mw_program_info.where */
    size_t threads;     /* for which the work is cut into partitions: `threads` of the compile options */
    bool team;          /* false: so little work that one thread runs all partitions */
    size_t phase_count; /* parts with a barrier between them */
    size_t step_count, buffer_count;
    uint64_t port_bytes; /* inputs and outputs; memory that two ports share counts once */
    uint64_t constant_bytes;
    uint64_t intermediate_bytes; /* memory that all intermediates need, which is their peak */
    uint64_t scratch_bytes;      /* memory that kernels work in */
    uint64_t bytes_read, bytes_written;
    double flops;           /* of the steps that have a number */
    size_t unknown_flops;   /* steps that have none */
    mw_plan_time time;      /* of a run */
    uint64_t profiled_runs; /* since profiling was switched on; `time` is of the newest */
} mw_plan_totals;

/** The sizes, numbers and times of the whole plan. All 0 for NULL. */
MW_API mw_plan_totals mw_plan_get_totals(const mw_plan *plan);

/** A MIL operation. */
typedef struct mw_plan_operation {
    const char *kind, *name; /* "matmul", and the MIL name of its (first) result */
} mw_plan_operation;

/** How a step touches a buffer. */
typedef struct mw_plan_access {
    size_t buffer;  /* for mw_plan_buffer_at */
    uint64_t bytes; /* 0 if another access of the step to this buffer has them */
} mw_plan_access;

/** What a kernel does in one go. */
typedef struct mw_plan_step {
    const char *kernel;
    const char *implementation;          /* which of the kernel's ways, "avx512"; "" = it has one */
    const char *declined;                /* why the ways before it were not taken, "avx512: few outputs; .."; "" = none
                                          * was */
    size_t phase;                        /* from 0 */
    size_t threads;                      /* that have a share */
    uint64_t units;                      /* independent parts of the work, such as rows */
    const mw_plan_operation *operations; /* that it computes; several = fused */
    size_t operation_count;
    const mw_plan_access *reads, *writes;
    size_t read_count, write_count;
    uint64_t bytes_read, bytes_written; /* each byte once, whatever caches make of it */
    double flops;                       /* + - * / sqrt, comparison, minimum, maximum: 1 each. Negative: unknown, for
                                         * there is exp or the like in it */
    mw_plan_time time;                  /* of the thread that took longest over its partitions */
    double gflops, gbytes;              /* a second, at the median time; 0 = not measured or unknown */
} mw_plan_step;

typedef enum mw_plan_buffer_kind {
    MW_PLAN_INPUT = 0,
    MW_PLAN_OUTPUT = 1,
    MW_PLAN_CONSTANT = 2,
    MW_PLAN_INTERMEDIATE = 3
} mw_plan_buffer_kind;

typedef struct mw_plan_buffer {
    const char *name; /* of the port or the MIL value; "" = of no value: working memory */
    mw_plan_buffer_kind kind;
    uint64_t bytes;
    uint64_t offset;              /* in the memory of the intermediates; 0 for others */
    bool used;                    /* a step touches it; else the next four are 0 */
    size_t first_step, last_step; /* that touch it */
    size_t first_phase, last_phase;
    size_t memory; /* buffers of one number share their memory */
} mw_plan_buffer;

/** Fills *out_step for index < step_count, in the order in which steps run; false otherwise. */
MW_API bool mw_plan_step_at(const mw_plan *plan, size_t index, mw_plan_step *out_step);
/** Fills *out_buffer for index < buffer_count; false otherwise. */
MW_API bool mw_plan_buffer_at(const mw_plan *plan, size_t index, mw_plan_buffer *out_buffer);

/* ---- for people and other programs ---- */

/** Receives one line without its newline; it is gone after the call. */
typedef void mw_plan_line(void *user, const char *line);

/** The plan as text: totals, steps, implementations, buffers. NULL for either does nothing. */
MW_API void mw_plan_print(const mw_plan *plan, mw_plan_line *line, void *user);
/** Writes the text of the plan into a file, whole or not at all. */
MW_API mw_status mw_plan_write(const mw_plan *plan, const char *path, mw_error *err);

/** The runs that were kept as Chrome trace JSON, for Perfetto (ui.perfetto.dev) or chrome://tracing: a track for the
 *  runs and one for each partition, a slice for each share of a step. Whole or not at all.
 *  errors  MW_ERROR_STATE if nothing was profiled */
MW_API mw_status mw_plan_write_trace(const mw_plan *plan, const char *path, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif
