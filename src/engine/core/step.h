/* What compile makes of a function: steps over buffers. A kernel family turns an operation into one or more steps; the
 * planner (at encode) gives the buffers addresses and the steps an order in phases; the executor runs them.
 *
 *     mw_status mw__kernel_select(mw__planner *planner, const mw__op *op, mw_error *err)
 *     {
 *         select_block *block = mw__plan_block(planner, sizeof *block);          // NULL is remembered by the planner
 *         ...
 *         mw__step *step = mw__plan_step(planner, select_run, units, cost);
 *         mw__step_read(planner, step, mw__plan_buffer(planner, a), MW__ROWS, unit_bytes, true);
 *         mw__step_write(planner, step, mw__plan_buffer(planner, op->results[0]), MW__ROWS, unit_bytes);
 *         return mw__plan_check(planner, err);
 *     } */
#ifndef MW__ENGINE_CORE_STEP_H
#define MW__ENGINE_CORE_STEP_H

#include "engine/core/config.h"
#include "graph/ir/ir.h"

/* How a step touches a buffer. */
typedef enum mw__access {
    MW__ROWS, /* unit u touches only bytes [u * unit, (u + 1) * unit) */
    MW__WHOLE /* any unit may touch any byte */
} mw__access;

/* One partition's share of one step. Kernels touch nothing else, allocate nothing, and give results that do not depend
 * on who runs them. */
typedef struct mw__kernel_call {
    const void *block;     /* the argument block */
    const void *const *in; /* data of the reads, in the order they were declared */
    void *const *out;      /* data of the writes */
    void *scratch;         /* this partition's own, 64-aligned, `scratch` bytes of the step, contents undefined */
    int64_t begin, end;    /* units, begin < end */
} mw__kernel_call;

typedef void mw__kernel(const mw__kernel_call *call);

typedef struct mw__step_operand {
    uint32_t buffer;
    mw__access access;
    size_t unit;    /* bytes, for MW__ROWS and planes */
    bool in_place;  /* reads: an output may share this memory: every byte of a unit is read before any later byte of the
                       same unit is written, and unit u is read only while unit u is written */
    int64_t parts;  /* for MW__WHOLE: the units are so many equal ranges, of which each touches but its own of as many
                       equal parts of the bytes; 0: any unit touches any byte */
    int64_t planes; /* for MW__WHOLE: of each of so many equal parts of the bytes unit u touches only [u * unit,
                       (u + 1) * unit), and they are all of it; 0: any unit touches any byte */
} mw__step_operand;

#define MW__STEP_READS  16 /* more operands: several steps; nested ones have room for theirs */
#define MW__STEP_WRITES 6

typedef struct mw__element mw__element;
struct mw__sum;
struct mw__finite_check;
struct mw__factors;
struct mw__nested;

#define MW__FLOPS_UNKNOWN (-1.0)

/* A fused group or a pattern: all that it computes. */
typedef struct mw__step_group {
    const mw__op *const *ops; /* NULL = the operation of the step alone */
    size_t count;
} mw__step_group;

/* What plans and messages say of a step. */
typedef struct mw__step_report {
    const char *label;
    const char *implementation; /* which of several ways, "avx512"; NULL = there is one */
    const char *declined;       /* why those before it were not taken, "avx512: few outputs; .."; NULL = none was */
    double flops;               /* a count: floating-point operations of all units, from a kernel that knows; 0:
                                   compile/work.c asks the rows of the operations */
    bool helper;                /* stands beside the step that does the operation's work: 0 flops are then a count */
} mw__step_report;

/* What a step computes, as far as the scheduler of joins uses it (engine/compile/fuse). */
typedef enum mw__step_kind {
    MW__STEP_OTHER,
    MW__STEP_ELEMENT,   /* something of each element */
    MW__STEP_REDUCTION, /* sums of its one read */
    MW__STEP_FILL,      /* one number, which all elements that it writes are */
    MW__STEP_CHECK,     /* whether a buffer is within limits */
    MW__STEP_PRODUCT    /* a product of two buffers of which something is known from them */
} mw__step_kind;

/* What those who join steps know of one: its kind, and where more can be done while it runs. Read the description of
 * the kind through the functions below. Blocks of its units may run between those of other steps if it has a `span`. */
typedef struct mw__step_fusion {
    mw__step_kind kind;
    union {
        mw__element *element;                 /* engine/kernels/fused/fused.h */
        const struct mw__sum *sum;            /* the same */
        uint32_t number;                      /* the buffer that holds it */
        const struct mw__finite_check *check; /* engine/kernels/reduce/within.h */
        const struct mw__factors *factors;    /* the same */
    } as;
    struct mw__tail *tail; /* its epilogue: what it may do to its results, in its block (engine/core/tail.h); or NULL */
} mw__step_fusion;

typedef struct mw__step_capacity {
    size_t reads, writes;
} mw__step_capacity;

typedef struct mw__step {
    const mw__op *op; /* for messages and plans */
    mw__step_group group;
    mw__step_report report;
    mw__step_fusion fusion;
    mw__kernel *run;
    const void *block;
    int64_t units; /* independent; partitions take contiguous ranges */
    int64_t grain; /* ranges begin at multiples of this; 1 by default */
    int64_t span;  /* so many units cost the same apart from the others, and multiples of them: the rows of one of many
                      matrices; 0: unknown */
    size_t scratch;
    double cost;   /* an estimate, on which plans depend: ns for all units on one partition (mw__cost) */
    bool varies;   /* two runs on the same operands differ */
    bool prepares; /* lays weights out for the steps that read them: of constants, once, when compiled */
    bool rounds;   /* to fp16, where that is declared */
    const struct mw__nested *nested; /* if it runs blocks (compile/compiled.h): alone in its phase, by all partitions */
    mw__step_operand *reads, *writes;
    size_t read_count, write_count;
    mw__step_capacity capacity;
} mw__step;

/* The description, if the step is of the kind; else NULL, or 0. */
static inline mw__element *mw__step_as_element(const mw__step *step)
{
    return step->fusion.kind == MW__STEP_ELEMENT ? step->fusion.as.element : NULL;
}

static inline const struct mw__sum *mw__step_as_sum(const mw__step *step)
{
    return step->fusion.kind == MW__STEP_REDUCTION ? step->fusion.as.sum : NULL;
}

static inline uint32_t mw__step_as_number(const mw__step *step)
{
    return step->fusion.kind == MW__STEP_FILL ? step->fusion.as.number : 0;
}

static inline const struct mw__finite_check *mw__step_as_check(const mw__step *step)
{
    return step->fusion.kind == MW__STEP_CHECK ? step->fusion.as.check : NULL;
}

static inline const struct mw__factors *mw__step_as_factors(const mw__step *step)
{
    return step->fusion.kind == MW__STEP_PRODUCT ? step->fusion.as.factors : NULL;
}

/* A step without operands yet, with room for so many; NULL after a failed allocation. */
mw__step *mw__step_create(mw__arena *arena, size_t reads, size_t writes, mw_error *err);
/* A copy with operands of its own. */
mw__step *mw__step_copy(mw__arena *arena, const mw__step *step, mw_error *err);

typedef struct mw__planner mw__planner;

/* What is done to a result that is declared fp16, whichever way it is held; 0: nothing. */
typedef enum mw__round {
    MW__ROUND_HALF = 1,    /* rounded to fp16 */
    MW__ROUND_NUMBER = 2,  /* NaN becomes 0; this and what follows by the profile of a chip (rules/arithmetic.def) */
    MW__ROUND_AWAY = 4,    /* ties away from zero */
    MW__ROUND_CEILING = 8, /* infinite from 32768 on */
    MW__ROUND_FLUSH = 16,  /* subnormal fp16 becomes 0 */
    MW__ROUND_SLICE = 32   /* infinite beyond 4094 */
} mw__round;

/* Of a product of int8 numbers: its operands are codes times these. */
typedef struct mw__codes {
    float x_scale;
    const float *weight_scales; /* of each output channel */
} mw__codes;

/* By value id: the values that are declared fp16, and what is done to them, a sum of mw__round. Values beyond count are
 * not, and stay as they are. */
typedef struct mw__rounding {
    const bool *half;
    const uint8_t *wanted;
    const bool *operand; /* widened ports that products alone read, whose largest exponent is one of numbers; or NULL */
    mw__codes *const *codes; /* of results of such products; or NULL */
    const uint32_t *origin;  /* of results: the id in the text; NULL = the values are those of the text */
    size_t count;
} mw__rounding;

/* The kernel column of the table: plans one operation. */
typedef mw_status mw__kernel_plan(mw__planner *planner, const mw__op *op, mw_error *err);

/* The buffer of a value: a port, a constant, an intermediate, or that of the value it is a view of. */
uint32_t mw__plan_buffer(mw__planner *planner, const mw_tensor *value);
/* True for a constant that stays as it is stored: mw__compressed_load reads value->packed in parts. Its buffer is
 * written by a step of its own in each run, which is planned when the buffer is first asked for: before the steps that
 * read it.
 */
bool mw__is_packed(const mw_tensor *value);
/* That step, and its buffer. */
uint32_t mw__plan_unpack(mw__planner *planner, const mw_tensor *value, size_t size);
/* A buffer that lives from its first write to its last read. */
uint32_t mw__plan_temporary(mw__planner *planner, size_t size);
/* A constant of these bytes, which are copied. */
uint32_t mw__plan_constant(mw__planner *planner, const void *data, size_t size);
/* Makes `result` another name of the memory of `source` (reshape and its kin). The planner copies where a port needs
 * its own memory. */
void mw__plan_view(mw__planner *planner, const mw_tensor *result, const mw_tensor *source);
/* Zero-filled memory that lives as long as the compiled function; NULL after a failed allocation. */
void *mw__plan_block(mw__planner *planner, size_t size);
/* A new step; after a failed allocation a dummy that may be filled. */
mw__step *mw__plan_step(mw__planner *planner, mw__kernel *run, const char *label, int64_t units, double cost);
/* The same with room for other numbers of operands than MW__STEP_READS and MW__STEP_WRITES. */
mw__step *mw__plan_step_of(mw__planner *planner, mw__kernel *run, const char *label, int64_t units, double cost,
                           size_t reads, size_t writes);
void mw__step_read(mw__planner *planner, mw__step *step, uint32_t buffer, mw__access access, size_t unit,
                   bool in_place);
/* A read of the whole buffer, in `parts` (mw__step_operand). */
void mw__step_read_parts(mw__planner *planner, mw__step *step, uint32_t buffer, int64_t parts);
void mw__step_write(mw__planner *planner, mw__step *step, uint32_t buffer, mw__access access, size_t unit);
/* What is done to the result, a sum of mw__round, in whichever type it is held (engine/compile/storage/fp16_storage.h).
 * Steps that do it themselves say so in `rounds`; the planner sees to the others. */
unsigned mw__plan_rounds(const mw__planner *planner, const mw_tensor *result);
/* The result's id in the text. */
uint32_t mw__plan_origin(const mw__planner *planner, const mw_tensor *result);
/* True if the result is declared fp16. */
bool mw__plan_is_half(const mw__planner *planner, const mw_tensor *result);
/* True if a result of the operation that is planned is declared fp16. */
bool mw__plan_makes_half(const mw__planner *planner);
/* True for a widened port that fixed-point products alone read: its NaN are numbers (rules/fixed_point.h). */
bool mw__plan_is_operand(const mw__planner *planner, const mw_tensor *result);
/* Of a product of int8 numbers, whose sums are integers; else NULL. */
const mw__codes *mw__plan_codes(const mw__planner *planner, const mw_tensor *result);
/* As how many operands of the function's operations the value is read. */
uint32_t mw__plan_reads(const mw__planner *planner, const mw_tensor *value);
/* Where the planner remembers the buffer that holds the transpose of a matrix, MW__NO_BUFFER before there is one. */
uint32_t *mw__plan_turned(mw__planner *planner, const mw_tensor *value);
/* Of the compiler that plans. */
const mw__config *mw__plan_config(const mw__planner *planner);
/* Its level. */
mw__level mw__plan_level(const mw__planner *planner);
/* What the steps that are planned next for this operation are shown with (mw__step.implementation, declined); after an
 * earlier call, both follow what that gave. `declined` is copied. */
void mw__plan_note(mw__planner *planner, const char *implementation, const char *declined);
/* Partitions the function is compiled for. */
int mw__plan_partitions(const mw__planner *planner);
/* MW_ERROR_MEMORY after a failed allocation. */
mw_status mw__plan_check(const mw__planner *planner, mw_error *err);

/* True if an element-wise step made the buffer: what looks at it can do so while that runs. */
bool mw__plan_is_element(const mw__planner *planner, uint32_t buffer);

/* What every plan function may rely on, checked once before it is called: operands and results are tensors of
 * whole-byte elements with a known size that fits. */
mw_status mw__kernel_check(const mw__op *op, mw_error *err);

/* A step that copies `size` bytes, split as `like` (may be NULL) splits its memory; NULL after a failed allocation. */
mw__step *mw__copy_step(mw__arena *arena, uint32_t from, uint32_t to, size_t size, const mw__step *like,
                        const mw__step_operand *like_operand, mw_error *err);
bool mw__step_is_copy(const mw__step *step);
/* The same as a step that stays, where `to` changes later. */
mw__step *mw__hold_step(mw__arena *arena, uint32_t from, uint32_t to, size_t size, mw_error *err);

#endif
