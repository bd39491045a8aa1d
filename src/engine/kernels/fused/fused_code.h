/* What fused_build.c builds and fused_run.c runs. Private to the two. */
#ifndef MW__ENGINE_KERNELS_FUSED_FUSED_CODE_H
#define MW__ENGINE_KERNELS_FUSED_FUSED_CODE_H

#include "engine/kernels/fused/fused.h"
#include "engine/kernels/reduce/within.h"

typedef enum mw__fused_form {
    MW__SPREAD, /* a tile is filled run by run */
    MW__SCALAR, /* filled once for all tiles */
    MW__WIDEN,  /* fp16 of the result's count */
    MW__DIRECT  /* the memory itself is the tile */
} mw__fused_form;

typedef struct mw__fused_operand {
    mw__fused_form form;
    mw__loop1 *fed; /* of what is read of a port; NULL: as it is */
    bool one;       /* of a scalar, no instruction needs more than the first element of its tile */
    bool own;       /* a number for each unit of the view */
    bool cold;      /* read in its memory, and by no earlier step of a chain */
    bool there;     /* a tile is its memory, `step` bytes for each element before it: 0 of one number */
    size_t step;
    mw_dtype dtype;
    size_t size; /* of an element */
    int64_t inner, period;
} mw__fused_operand;

typedef enum mw__fused_work {
    MW__UNARY,
    MW__BINARY,
    MW__COMPARE,
    MW__SELECT,
    MW__CHOOSE /* a select whose condition is one truth */
} mw__fused_work;

typedef struct mw__interval {
    double low, high;
} mw__interval;

/* What an operation makes of numbers within x and y (fused_proof.c); false if that may be no number. */
typedef bool mw__interval_rule(mw__interval x, mw__interval y, const float *pq, mw__interval *out);

typedef struct mw__fused_code {
    const char *name;
    mw__fused_work work;
    mw__loop1 *unary;
    mw__loop2 *binary;
    mw__compare_loop *compare;
    mw__select_loop *select;
    unsigned how;             /* what is done to it (mw__round) */
    mw__loop1 *round;         /* does it; NULL: nothing */
    mw__interval_rule *bound; /* NULL: not known */
    bool special;             /* the loop is a chip's */
    bool exact;               /* a fp16 number if the operands are (kernel_table.h) */
    uint16_t out, in[MW__ELEMENT_OPERANDS];
    int16_t write; /* computed in the memory of this output; -1 = in a register */
} mw__fused_code;

typedef struct mw__fused_store {
    uint16_t value;
    mw_dtype dtype;
    size_t size; /* of an element */
    bool direct;
} mw__fused_store;

typedef struct mw__fused_look {
    uint16_t value;
    uint16_t write; /* where what is seen goes */
    float limit;
    mw__within_loop *loop;
} mw__fused_look;

typedef struct mw__fused_sum {
    uint16_t value;
    uint16_t write; /* where the sums go, or of columns the partial ones */
    bool columns, mean;
    mw__loop1 *round; /* of a result; NULL: nothing */
} mw__fused_sum;

/* Instructions that run together. */
typedef struct mw__fused_segment {
    uint16_t first, count;               /* instructions */
    uint16_t in_count, out_count;        /* of straight-line code: */
    uint16_t in[MW__STEP_READS];         /* values made before, in the order in which it takes them */
    uint16_t out[MW__STEP_WRITES];       /* values that somebody else needs, in the order of the instructions */
    mw__precompiled_loop *loop, *within; /* the code, and that for a tile of one unit; NULL: one instruction by one */
} mw__fused_segment;

/* The least and the largest of fp16 or fp32; NaN if one is. */
typedef void mw__range_loop(const void *data, int64_t count, double *out);

struct mw__fused {
    int64_t elements, count;
    mw__fused_view view;
    size_t operand_count, code_count, store_count, watch_count, sum_count, value_count;
    mw__fused_operand *operands;
    mw__fused_code *code;
    mw__fused_store *stores;
    mw__fused_look *watches;
    mw__fused_sum *sums;
    void (*add_runs)(const mw__fused *fused, const float *x, int64_t at, int64_t count, double *totals);
    void (*add_rows)(const mw__fused *fused, const float *x, int64_t at, int64_t count, float *partials);
    float (*pq)[3];                    /* by instruction */
    uint32_t *place;                   /* by value: where its tile begins in scratch */
    const mw__fused_segment *segments; /* all instructions, in order */
    size_t segment_count;
    const char *whole; /* the name of the straight-line code that is all of it; NULL: there is none */
    mw__range_loop *half_range, *single_range; /* NULL: nothing is proved (mw__fused_proves) */
};

#define MW__FUSED_VALUES (MW__STEP_READS + MW__FUSED_CODE)
/* Not a power of two: tiles at one distance modulo 4096 make loads wait for stores to other tiles. */
#define MW__TILE_BYTES (MW__TILE * sizeof(float) + 320)

typedef const float mw__fused_numbers[3];
/* As straight-line code takes them. */
static inline mw__fused_numbers *mw__fused_pq(const mw__fused *fused) { return (mw__fused_numbers *)fused->pq; }

/* -1 if the value is not stored. */
static inline int mw__fused_store_of(const mw__fused *fused, uint16_t value)
{
    for (size_t i = 0; i < fused->store_count; i++)
        if (fused->stores[i].value == value)
            return (int)i;
    return -1;
}

/* Looked at or summed after all code has run. */
bool mw__fused_is_watched(const mw__fused *fused, uint16_t value);
/* Finds what of the code there is as straight-line code (fused_segment.c); the reference never has any. */
mw_status mw__fused_find_segments(mw__arena *arena, mw__fused *fused, mw__level level, mw_error *err);
/* The segment of an instruction. */
const mw__fused_segment *mw__fused_segment_of(const mw__fused *fused, size_t index);
/* True if the value, of an instruction of the segment, is one of its results; false if it never leaves registers. */
bool mw__fused_is_made(const mw__fused_segment *segment, uint16_t value);

#define MW__VIEW_UNITS 64 /* whose sums grow side by side; a multiple of these are the rows of a partial column sum */

/* Of the units from `first` on, by sum. */
typedef struct mw__fused_totals {
    int64_t first;
    int64_t filled; /* the unit, or the first, whose own numbers fill their tiles; -1: none */
    int64_t spread; /* elements of them, where there are several units; 0: of one, all */
    double sum[MW__FUSED_SUMS][MW__VIEW_UNITS];
} mw__fused_totals;

/* The kernel of a fusion group. */
void mw__fused_run(const mw__kernel_call *call);
/* That of one whose straight-line code is all of it, with every operand and result in its memory. */
void mw__fused_run_whole(const mw__kernel_call *call);
/* That of one with a view. */
void mw__fused_run_view(const mw__kernel_call *call);
/* Chooses the loops of its sums. */
void mw__fused_choose_sums(mw__fused *fused, mw__level level);

/* For both: fills what is one number, in tiles of `count`; computes a tile and returns what its watches have seen.
 * totals: NULL without a view. */
void mw__fused_fill_scalars(const mw__kernel_call *call, int64_t count);
unsigned mw__fused_tile(const mw__kernel_call *call, int64_t at, int64_t count, mw__fused_totals *totals);
/* Adds the tile's values to those sums whose value is an operand, or is not. */
void mw__fused_add(const mw__kernel_call *call, const void *const *value, bool operands, int64_t at, int64_t count,
                   mw__fused_totals *totals);
/* Of a group that only looks at values: chooses how its limits are proved. */
void mw__fused_choose_proof(mw__fused *fused, mw__level level);
/* True if none of these elements is beyond a limit, for sure; false says nothing. */
bool mw__fused_proves(const mw__kernel_call *call, int64_t at, int64_t count);
/* That of one which only chooses between tensors by one truth. */
void mw__gate_run(const mw__kernel_call *call);

#endif
