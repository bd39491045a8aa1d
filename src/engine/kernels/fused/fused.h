/* Element-wise regions: several element-wise steps as one, whose intermediates stay in tiles of 512 elements.
 *
 * An element-wise step says what it computes of each element (mw__element). fuse.c collects neighbouring ones into a
 * region; region.c runs it, instruction by instruction over one tile after the other. Every MIL value is rounded to its
 * type inside a region too, so that fusing changes no bit. */
#ifndef MW__ENGINE_KERNELS_FUSED_FUSED_H
#define MW__ENGINE_KERNELS_FUSED_FUSED_H

#include "engine/core/buffer.h"
#include "engine/core/kernel.h"
#include "engine/kernels/math.h"

typedef void mw__compare_loop(uint8_t *out, const float *x, int64_t sx, const float *y, int64_t sy, int64_t count);
typedef void mw__select_loop(void *out, const uint8_t *cond, const void *a, const void *b, int64_t count);

/* Operand element of result element i: (i / inner) % period. A tensor of the result's count has inner 1, a scalar
 * period 1, a row [N] inner 1 and period N, a column [M, 1] inner N and period M. */
typedef struct mw__arm {
    uint32_t buffer;
    mw_dtype dtype;
    int64_t inner, period;
} mw__arm;

#define MW__ELEMENT_ARMS 3

struct mw__element {
    const char *name; /* of the operation, with a mode: "gelu_tanh" */
    mw__loop1 *unary; /* one of the four */
    mw__loop2 *binary;
    mw__compare_loop *compare;
    mw__select_loop *select; /* of fp32; arms: cond, a, b */
    float p, q;              /* of unary */
    mw_dtype dtype;          /* of the result: F32, F16 or BOOL */
    bool round;              /* the result, to fp16 */
    int64_t count;
    mw__split split;
    double flops; /* of one element */
    int arm_count;
    mw__arm arm[MW__ELEMENT_ARMS];
};

/* Says what `step` computes, so that it may be fused: the loop set in `element`, the operands in order. Nothing is said
 * where an operand's broadcast is none of the forms above, or a type has no region. */
void mw__step_element(mw__planner *planner, mw__step *step, const mw__element *element, const mw_tensor *result,
                      const mw_tensor *const *operands, int count);

/* ---- building one region ---- */

#define MW__REGION_CODE   64 /* instructions at most */
#define MW__SIGNATURE_MAX 1536

typedef struct mw__region mw__region;

/* Steps that become one: all element-wise and of one count and split. stored[b] is true for the buffers that must be
 * written; `watches` look at values that the steps make (engine/within.h). */
typedef struct mw__region_parts {
    mw__step *const *steps;
    size_t count;
    const bool *stored;
    mw__step *const *watches;
    size_t watch_count;
} mw__region_parts;

/* NULL after a failed allocation. */
mw__step *mw__region_step(mw__arena *arena, const mw__region_parts *parts, mw_error *err);

/* What a region computes, without shapes and names: a letter for each operand (T a tile of fp32, S one number, b one
 * truth, B a tile of truth), then the instructions with the values they take (operands and earlier results count
 * together), then the values that are stored, and those that are only looked at:
 *
 *     "TTS mul(0,2) add(3,1) store 4"
 *
 * Empty if it does not fit. What is rounded to fp16 does not show. */
void mw__region_signature(const mw__region *region, char *out, size_t size);

/* One tile of a region as straight-line code. value: the operands; out: what is stored, in order; pq: by instruction
 * its p and q. */
typedef void mw__hot_loop(const void *const *value, void *const *out, const float (*pq)[2], int64_t count);

typedef struct mw__hot_region {
    const char *name, *signature;
    mw__hot_loop *at[2][3]; /* as computed, every value rounded to fp16; base, wide, wider */
} mw__hot_region;

/* regions_<subject>.c, written by tools/precompiled.py. */
extern const mw__hot_region mw__hot_update[], mw__hot_check[], mw__hot_half[], mw__hot_half_check[], mw__hot_layer[];
extern const size_t mw__hot_update_count, mw__hot_check_count, mw__hot_half_count, mw__hot_half_check_count,
    mw__hot_layer_count;

/* NULL if there is none. */
const mw__hot_region *mw__hot_find(const char *signature);

#endif
