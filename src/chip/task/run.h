/* H13 tasks computed as they are written: windows of memory, tiles cut out of them, neural and planar engine. */
#ifndef MW__CHIP_TASK_RUN_H
#define MW__CHIP_TASK_RUN_H

#include "chip/task/task.h"
#include "rules/arithmetic.h"

enum { MW__BASE_REGISTERS = 32 /* that a task can name */ };

/* Memory that tasks see at an address. */
typedef struct mw__chip_window {
    const char *name;
    uint64_t address;
    uint8_t *data; /* read only: never written through */
    size_t size;
    bool writable;
} mw__chip_window;

/* How much may be done; each element of a result, and each multiplication, is one. */
typedef struct mw__chip_limits {
    uint64_t work;
    size_t memory; /* bytes for one task */
} mw__chip_limits;

/* What tasks run on. */
typedef struct mw__chip_machine {
    const mw_allocator *allocator;
    const uint64_t *bases; /* [MW__BASE_REGISTERS] */
    mw__chip_window *windows;
    size_t window_count;
    mw__arithmetic arithmetic;
    mw__chip_limits limits; /* what is left of them */
    uint64_t work;          /* done so far */
} mw__chip_machine;

/* Runs one task.
 * errors  MW_ERROR_FORMAT for what no task can say (a tile outside of its window, missing coefficients);
 *         MW_ERROR_UNSUPPORTED, by name, for what is not known; MW_ERROR_ARGUMENT beyond the limits; MW_ERROR_MEMORY */
mw_status mw__task_run_one(mw__chip_machine *machine, const mw__task *task, mw_error *err);

/* All of a chain, in order. */
mw_status mw__task_run_chain(mw__chip_machine *machine, const mw__task_chain *chain, mw_error *err);

/* ---- between the files of the interpreter ---- */

/* A tile in memory: element (c, y, x) at data + c * plane + y * row + 2 x. */
typedef struct mw__chip_tile {
    uint8_t *data;
    int64_t plane, row, group;
    int64_t groups, channels, height, width;
    bool relu; /* what is read is made non-negative */
} mw__chip_tile;

/* What a task works on. */
typedef struct mw__chip_job {
    mw__chip_machine *machine;
    const mw__task *task;
    mw__chip_tile in[2], out;
    uint16_t *result; /* [groups, channels, height, width] of out: written when all is computed */
} mw__chip_job;

/* The bytes from address base + offset on that one window has; *out_size is 0 where there are none. */
mw_status mw__chip_find_memory(const mw__chip_machine *machine, unsigned base, uint64_t offset, bool write,
                               uint8_t **out, size_t *out_size, mw_error *err);

/* An element of a source as the profile has it. */
float mw__chip_load(const mw__chip_job *job, const mw__chip_tile *tile, const uint8_t *at);

/* Counts work against the limit. */
mw_status mw__chip_spend(mw__chip_machine *machine, uint64_t count, mw_error *err);

/* What becomes of a sum or product that is to be stored. */
typedef enum mw__chip_result {
    MW__RESULT_OTHER,
    MW__RESULT_PRODUCTS,
    MW__RESULT_SINGLE_PRODUCT,
    MW__RESULT_MUL
} mw__chip_result;
uint16_t mw__chip_round(float value, mw__chip_result kind, mw__arithmetic arithmetic);

mw_status mw__chip_run_neural(mw__chip_job *job, mw_error *err);
mw_status mw__chip_run_planar(mw__chip_job *job, mw_error *err);

#endif
