/* Element-wise fusion groups: several element-wise steps as one, whose intermediates stay in tiles of 512 elements.
 *
 * An element-wise step says what it computes of each element (mw__element). fuse.c collects neighboring ones into a
 * fusion group; fused_build.c runs it, instruction by instruction over one tile after the other. Every MIL value is
 * rounded to its type inside a fusion group too, so that fusing changes no bit.
 *
 * A group may sum values of it (mw__sum), any number of them in its one pass: a tile then ends where a run of the sums
 * does, and partial sums are those of kernel_reduce.c, in its order. */
#ifndef MW__ENGINE_KERNELS_FUSED_FUSED_H
#define MW__ENGINE_KERNELS_FUSED_FUSED_H

#include "engine/core/buffer.h"
#include "engine/core/kernel.h"
#include "engine/kernels/math/math.h"

typedef void mw__compare_loop(uint8_t *out, const float *x, int64_t sx, const float *y, int64_t sy, int64_t count);
typedef void mw__select_loop(void *out, const uint8_t *cond, const void *a, const void *b, int64_t count);

/* Operand element of result element i: (i / inner) % period. A tensor of the result's count has inner 1, a scalar
 * period 1, a row [N] inner 1 and period N, a column [M, 1] inner N and period M. */
typedef struct mw__element_operand {
    uint32_t buffer;
    mw_dtype dtype;
    mw__loop1 *fed; /* of what is read of fp16 (math_chip.h); NULL: as it is */
    int64_t inner, period;
} mw__element_operand;

#define MW__ELEMENT_OPERANDS 3

struct mw__element {
    const char *name; /* of the operation, with a mode: "gelu_tanh" */
    mw__loop1 *unary; /* one of the four */
    mw__loop2 *binary;
    mw__compare_loop *compare;
    mw__select_loop *select; /* of fp32; operands: cond, a, b */
    float p, q;              /* of unary */
    bool special;            /* the loop is a chip's, not IEEE's */
    mw_dtype dtype;          /* of the result: F32, F16 or BOOL */
    unsigned round;          /* what is done to the result (mw__round) */
    int64_t count;
    mw__units split;
    double additions; /* of one element, for its cost (mw__cost) */
    int operand_count;
    mw__element_operand operand[MW__ELEMENT_OPERANDS];
};

/* What a reduction of fp32 sums: result i of `results` is the sum of x[., i, .] of its read, [planes, results, run].
 * With a run of 1 these are columns; else the innermost axis is summed. */
typedef struct mw__sum {
    int64_t planes, results, run;
    bool mean;
    unsigned round; /* what is done to the result (mw__round) */
} mw__sum;

/* How a group sees its elements, [planes, units, run], if it sums, or is run unit by unit: its units are those of the
 * middle axis. `units` 0: it does neither, and its units are those of its steps. */
typedef struct mw__fused_view {
    int64_t planes, units, run;
} mw__fused_view;

/* Says what `step` computes, so that it may be fused: the loop set in `element`, the operands in order. Nothing is said
 * where an operand's broadcast is none of the forms above, or a type has no fusion group. */
void mw__step_element(mw__planner *planner, mw__step *step, const mw__element *element, const mw_tensor *result,
                      const mw_tensor *const *operands, int count);

/* ---- building one fusion group ---- */

#define MW__FUSED_CODE 64 /* instructions at most */
#define MW__FUSED_SUMS 6

typedef struct mw__fused mw__fused;

/* Steps that become one: all element-wise and of one count, and but for a view of one split. stored[b] is true for the
 * buffers that must be written; `watches` look at values that the steps make (engine/kernels/reduce/within.h), `sums`
 * are reductions of these or of other tensors of that count. Those that sum columns, beside others that sum rows, write
 * partial sums to `partials`, for mw__column_sums_step to add. */
typedef struct mw__fused_parts {
    mw__step *const *steps;
    size_t count;
    const bool *stored;
    mw__step *const *watches;
    size_t watch_count;
    mw__step *const *sums;
    const uint32_t *partials; /* by sum: a buffer of mw__column_partials; not read of others */
    size_t sum_count;
    mw__fused_view view;
    mw__step *const *before; /* steps of the chain that run before, block by block */
    size_t before_count;
    mw__level level; /* of the code that computes it */
} mw__fused_parts;

/* True if the sum is of columns of the view's rows. */
bool mw__sums_columns(const mw__sum *sum, const mw__fused_view *view);
/* Bytes of its partial sums. */
size_t mw__column_partials(const mw__sum *sum);
/* The step that adds them; NULL after a failed allocation. */
mw__step *mw__column_sums_step(mw__arena *arena, const mw__step *sum, uint32_t partials, mw__level level,
                               mw_error *err);

#define MW__CHAIN_OPERANDS 32 /* reads of a chain's step, and writes, at most */

/* Steps that run one after the other over few units at a time: what one has written the next finds in a cache. Each has
 * as many units as the chain or a multiple, and reads of what those before it write only what belongs to the same
 * unit. */
typedef struct mw__unit_chain {
    mw__step *const *steps;
    size_t count;
    int64_t units;
    const mw__buffer *buffers;
    const bool *inner; /* by buffer: no other step touches it, and each unit but its own part; NULL: none is such */
} mw__unit_chain;

/* NULL after a failed allocation. */
mw__step *mw__unit_chain_step(mw__arena *arena, const mw__unit_chain *parts, mw_error *err);
/* How many steps a chain runs, 0 for another step; one of them. */
size_t mw__unit_chain_stages(const mw__step *step);
mw__step *mw__unit_chain_stage(const mw__step *step, size_t at);

/* NULL after a failed allocation. */
mw__step *mw__fused_step(mw__arena *arena, const mw__fused_parts *parts, mw_error *err);

/* One tile of some instructions as straight-line code. value: the operands; out: what is stored, in order; pq: by
 * instruction its p and q, and whether its result is rounded, which the form of a chip asks. */
typedef void mw__precompiled_loop(const void *const *value, void *const *out, const float (*pq)[3], int64_t count);

typedef enum mw__form {
    MW__FORM_PLAIN, /* as computed */
    MW__FORM_CHIP   /* as the profile of h14 to h17 has it (rules/arithmetic.def) */
} mw__form;

/* signature: what it computes, without shapes and names: a letter for each operand (T a tile of fp32, N the same, which
 * where the tile is of one unit is one number, S one number, b one truth), then the instructions with the values they
 * take (operands, in the order in which they are first taken, and earlier results count together), then the values that
 * are stored:
 *
 *     "TTS mul(0,2) add(3,1) store 4" */
typedef struct mw__precompiled {
    const char *name, *signature;
    size_t operands, code;       /* how many */
    mw__precompiled_loop *at[2]; /* by mw__form; NULL: there is none */
    mw__precompiled_loop *within[2];
} mw__precompiled;

/* precompiled_<instruction set>.c; the last row has no name. */
extern const mw__precompiled mw__precompiled_of_base[], mw__precompiled_of_avx2[], mw__precompiled_of_avx512[];

/* Those for the level; NULL: there are none. */
const mw__precompiled *mw__precompiled_of(mw__level level);

#endif
