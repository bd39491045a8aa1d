/* What the kernel families share: partition, broadcasting iterators, tiles and the choice of code at run time.
 *
 * Partition. Every step over a tensor takes its units from mw__units_of of that tensor, so that steps over tensors
 * of one shape have equal byte boundaries per partition and a consumer can join its producer's phase:
 *   - units = rows (the product of all extents but the last) when the partitions get even shares of them, that is when
 *     there are at least 8 rows a partition or the rows divide by the partitions;
 *   - otherwise blocks of 64 elements, the last one short.
 * Steps that keep a row together (matmul, softmax and reductions over the last axis, gather) always take rows.
 *
 * Numbers. F16 is widened to fp32 in tiles of 512 elements, computed there and rounded once; but for ports, a kernel
 * reads it only where engine/compile/storage/fp16_storage.h leaves it, and what it holds as F32 is rounded by
 * step->rounds or by the planner. Code of all levels gives the same bits for + - * / sqrt and comparisons, and for the
 * polynomials of engine/kernels/math/math.h.
 */
#ifndef MW__ENGINE_CORE_KERNEL_H
#define MW__ENGINE_CORE_KERNEL_H

#include "engine/core/step.h"

/* ---- code chosen when planned: by mw__plan_level ---- */

/* Loops without dependence between iterations: outputs are disjoint from the inputs or identical to one. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" /* a loop that stays scalar is no defect */
#define MW__VECTORIZE _Pragma("clang loop vectorize(assume_safety)")
#else
#define MW__VECTORIZE _Pragma("GCC ivdep")
#endif

#define MW__INLINE static inline __attribute__((always_inline))

/* MW__BASE_AVX2(add_f32, (float *out, ..), (out, ..)) makes add_f32_base and add_f32_avx2 of add_f32_body;
 * MW__BASE_AVX2_LIST(add_f32) lists both. */
#if defined(__x86_64__)
#define MW__TARGET_AVX2 __attribute__((target("avx2,f16c")))
#define MW__BASE_AVX2(name, parameters, arguments)                                                                     \
    static void name##_base parameters { name##_body arguments; }                                                      \
    MW__TARGET_AVX2 static void name##_avx2 parameters { name##_body arguments; }
#define MW__DISPATCH(name, level) ((level) >= MW__LEVEL_AVX2 ? name##_avx2 : name##_base)
#define MW__BASE_AVX2_LIST(name)                                                                                       \
    {                                                                                                                  \
        name##_base, name##_avx2                                                                                       \
    }
#else
#define MW__BASE_AVX2(name, parameters, arguments)                                                                     \
    static void name##_base parameters { name##_body arguments; }
#define MW__DISPATCH(name, level) ((void)(level), name##_base)
#define MW__BASE_AVX2_LIST(name)                                                                                       \
    {                                                                                                                  \
        name##_base, name##_base                                                                                       \
    }
#endif

/* MW__BASE_AVX2_AVX512(exp, ..) makes exp_avx512 too. */
#if defined(__x86_64__)
#if defined(__clang__)
#define MW__TARGET_AVX512 __attribute__((target("avx2,f16c,avx512f,avx512bw,avx512dq,avx512vl"), min_vector_width(512)))
#else
#define MW__TARGET_AVX512                                                                                              \
    __attribute__((target("avx2,f16c,avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")))
#endif
#define MW__BASE_AVX2_AVX512(name, parameters, arguments)                                                              \
    MW__BASE_AVX2(name, parameters, arguments)                                                                         \
    MW__TARGET_AVX512 static void name##_avx512 parameters { name##_body arguments; }
#define MW__BASE_AVX2_AVX512_LIST(name)                                                                                \
    {                                                                                                                  \
        name##_base, name##_avx2, name##_avx512                                                                        \
    }
#define MW__DISPATCH_BEST(name, level) ((level) == MW__LEVEL_AVX512 ? name##_avx512 : MW__DISPATCH(name, level))
#else
#define MW__BASE_AVX2_AVX512(name, parameters, arguments) MW__BASE_AVX2(name, parameters, arguments)
#define MW__BASE_AVX2_AVX512_LIST(name)                                                                                \
    {                                                                                                                  \
        name##_base, name##_base, name##_base                                                                          \
    }
#define MW__DISPATCH_BEST(name, level) ((void)(level), name##_base)
#endif

/* Asks for the memory `bytes` beyond data, which may lie outside of any object. It goes to the second-level cache: what
 * is asked for so early would drive from the first what is in use, and few lines can be on their way to it (batch norm
 * of large images takes 0.7 of the time on a Zen 4). */
MW__INLINE void mw__kernel_prefetch(const void *data, int64_t bytes)
{
    __builtin_prefetch((const void *)((uintptr_t)data + (uintptr_t)bytes), 0, 2);
}

/* ---- partition ---- */

typedef struct mw__units {
    int64_t units;
    int64_t elements; /* of a unit; the last may be shorter */
} mw__units;

mw__units mw__units_of(const mw__planner *planner, mw_shape shape);
/* The part of `count` elements in units [begin, end). */
MW__INLINE void mw__units_range(const mw__kernel_call *call, int64_t elements, int64_t count, int64_t *out_begin,
                                int64_t *out_end)
{
    *out_begin = call->begin * elements;
    *out_end = call->end * elements < count ? call->end * elements : count;
}

/* ---- iterators ---- */

#define MW__ND_RANK     (2 * MW_RANK_MAX)
#define MW__ND_OPERANDS 4

/* A nest of loops over several operands, with adjacent loops merged where every operand allows. */
typedef struct mw__nd_iter {
    int rank, operands;                           /* rank >= 1 */
    int64_t extent[MW__ND_RANK];                  /* innermost last */
    int64_t stride[MW__ND_OPERANDS][MW__ND_RANK]; /* elements */
} mw__nd_iter;

/* Adds a loop inside those that are there; strides: one per operand. */
void mw__nd_iter_add(mw__nd_iter *iter, int64_t extent, const int64_t *stride);
/* Merges and drops loops of one turn; call it once, last. */
void mw__nd_iter_finish(mw__nd_iter *iter);
/* A iter over `shape` whose operands broadcast to it. */
mw__nd_iter mw__nd_iter_broadcast(mw_shape shape, const mw_shape *operands, int count);
int64_t mw__nd_iter_count(const mw__nd_iter *iter);
/* The same in the arena of the plan, where steps of the same loops share it; NULL after a failed allocation. */
const mw__nd_iter *mw__plan_broadcast(mw__planner *planner, mw_shape shape, const mw_shape *operands, int count);

typedef struct mw__nd_position {
    int64_t index[MW__ND_RANK];
    int64_t offset[MW__ND_OPERANDS];
} mw__nd_position;

/* Stands at element `at` of the iter's order. */
void mw__nd_position_seek(const mw__nd_iter *iter, mw__nd_position *position, int64_t at);
/* Leaves the innermost loop, which has ended, for the next turn of the loops around it. */
void mw__nd_position_carry(const mw__nd_iter *iter, mw__nd_position *position);

/* Elements from here to the end of the innermost loop, at most `limit`. */
MW__INLINE int64_t mw__nd_position_run(const mw__nd_iter *iter, const mw__nd_position *position, int64_t limit)
{
    const int64_t left = iter->extent[iter->rank - 1] - position->index[iter->rank - 1];
    return left < limit ? left : limit;
}

MW__INLINE void mw__nd_position_step(const mw__nd_iter *iter, mw__nd_position *position, int64_t count)
{
    const int last = iter->rank - 1;
    position->index[last] += count;
    for (int operand = 0; operand < iter->operands; operand++)
        position->offset[operand] += count * iter->stride[operand][last];
    if (position->index[last] == iter->extent[last])
        mw__nd_position_carry(iter, position);
}

/* ---- strided copies ---- */

/* True for the integer types that mw__index_load reads. */
bool mw__is_index(mw_dtype dtype);

MW__INLINE int64_t mw__index_load(const void *indices, mw_dtype dtype, int64_t at)
{
    switch (dtype) {
    case MW_I32:
        return ((const int32_t *)indices)[at];
    case MW_U32:
        return ((const uint32_t *)indices)[at];
    case MW_I16:
        return ((const int16_t *)indices)[at];
    case MW_U16:
        return ((const uint16_t *)indices)[at];
    case MW_I8:
        return ((const int8_t *)indices)[at];
    default:
        return ((const uint8_t *)indices)[at];
    }
}

/* Where a part of a tensor begins, if that is computed: begin[axis], counted from the end if negative, clamped. */
typedef struct mw__origin {
    int rank;       /* 0: nothing is read when run */
    uint32_t begin; /* buffer of integers */
    mw_dtype dtype; /* of begin */
    int64_t extent[MW_RANK_MAX], stride[MW_RANK_MAX];
    int64_t low[MW_RANK_MAX], high[MW_RANK_MAX]; /* equal: begin is not looked at */
} mw__origin;

MW__INLINE int64_t mw__origin_at(const mw__origin *origin, const void *begin, int axis)
{
    const int64_t low = origin->low[axis], high = origin->high[axis];
    if (low == high)
        return low;
    int64_t at = mw__index_load(begin, origin->dtype, axis);
    at += at < 0 ? origin->extent[axis] : 0;
    return at < low ? low : at > high ? high : at;
}

/* Elements from one place to another, none computed: the target in order, each element from where the iter stands. */
typedef struct mw__copy {
    const char *label;
    uint32_t from, to; /* buffers */
    mw_shape shape;    /* of the target */
    size_t size;       /* bytes of an element */
    int64_t start;     /* element of `from` at the iter's begin */
    mw__origin origin; /* what is added to start when run */
    mw__nd_iter iter;  /* one operand, the source; as added, not finished */
} mw__copy;

/* From x to the result, the iter still empty. */
mw__copy mw__copy_of(mw__planner *planner, const mw__op *op);
/* Plans the step; nothing for no elements. */
void mw__plan_copy(mw__planner *planner, const mw__copy *copy);
/* The step that writes x, `before` elements in from the edges, into zeros of shape `out`; there are elements. */
void mw__plan_zero_pad(mw__planner *planner, const mw_tensor *x, const int64_t before[MW_RANK_MAX], mw_shape out,
                       uint32_t to);
/* The stride of each axis. */
void mw__nd_row_major(mw_shape shape, int64_t *out);

/* ---- tiles ---- */

#define MW__TILE 512

/* `count` elements from element `offset` as fp32: the memory itself, or `tile` filled. dtype is F16 or F32. */
const float *mw__tile_load(const void *data, mw_dtype dtype, int64_t offset, int64_t count, float *tile);
/* Rounds once. */
void mw__tile_store(void *data, mw_dtype dtype, int64_t offset, int64_t count, const float *tile);

/* ---- planning ---- */

MW__INLINE mw_dtype mw__dtype_of(const mw_tensor *value) { return value->type->dtype; }
MW__INLINE mw_shape mw__shape_of(const mw_tensor *value) { return value->type->shape; }
MW__INLINE int64_t mw__count_of(const mw_tensor *value) { return mw_shape_count(value->type->shape); }
/* Bytes of one element; 0 for types of less or other than whole bytes. */
size_t mw__dtype_size(mw_dtype dtype);

/* fp32, fp16 or int32, which the arithmetic kernels compute in. */
mw_status mw__kernel_check_number(const mw__op *op, mw_dtype dtype, mw_error *err);
/* "real_div "h": the engine has no kernel for fp64" */
mw_status mw__kernel_unsupported(const mw__op *op, mw_dtype dtype, mw_error *err);
/* "tile "h": the engine needs reps as a constant of at most 8 elements" */
mw_status mw__kernel_need_constant(const mw__op *op, const char *arg, mw_error *err);
/* An axis counted from the front. */
mw_status mw__kernel_axis(const mw__op *op, const char *arg, int rank, int64_t *out, mw_error *err);

/* An estimate, for mw__step.cost: ns on one partition of moving `bytes` and of what takes the time of so many
 * `additions`. A count of floating-point operations is another number (mw__step.flops); of products both are equal. */
MW__INLINE double mw__cost(double bytes, double additions) { return bytes * 0.1 + additions * 0.05; }

/* The plan function of each kernel stem. */
#define MW_OP(id, name, since, shape, vjp, kernel) mw__kernel_plan mw__kernel_##kernel;
#define MW_TRAITS(id, traits)
#define MW_EXPAND(id, function)
#define MW_KERNEL(id, storage, rounding, rule, flops)
#define MW_ARG(id, arg, kind, type, fallback)
#define MW_END(id)
#include "graph/ops/all.def"
#undef MW_OP
#undef MW_TRAITS
#undef MW_EXPAND
#undef MW_KERNEL
#undef MW_ARG
#undef MW_END

/* Declares the read of an operand that broadcasts to `shape`, whose step has units `split`: by rows where a unit needs
 * only its own bytes (the same shape, or a column [.., 1] under rows), else whole. `in_place` holds for the same shape.
 */
void mw__step_read_rows(mw__planner *planner, mw__step *step, const mw_tensor *value, mw_shape shape, mw__units split,
                        bool in_place);

/* The F16 that a cast of its own widens to `value`; NULL if it is not made so. */
const mw_tensor *mw__before_widening(const mw_tensor *value);
/* A step that converts `value` to fp32 in a temporary; returns its buffer. */
uint32_t mw__plan_as_fp32(mw__planner *planner, const mw_tensor *value);
/* The buffer of an F32 or F16 value in fp32: its own, or a widened one. */
uint32_t mw__plan_floats(mw__planner *planner, const mw_tensor *value);

#endif
