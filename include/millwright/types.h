/* Element types and shapes.
 *
 *     mw_shape shape = MW_SHAPE(128, 784);        // rank 2
 *     mw_shape scalar = mw_shape_scalar();        // rank 0
 *
 * A shape lists its extents from the outermost (slowest) to the innermost; memory is always dense and row-major.
 *
 * Threads: these are plain values; every function here may be called from any thread at any time. */
#ifndef MILLWRIGHT_TYPES_H
#define MILLWRIGHT_TYPES_H

#include <millwright/status.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Every element type of MIL. Kernels exist for F16, F32, I32 and BOOL; integers of 8 and 16 bits are moved, cast, used
 *  as indices and sorted by topk; the others are read, kept and printed. F16 and BF16 are stored as uint16_t, BOOL as
 *  one byte 0 or 1. */
typedef enum mw_dtype {
    MW_DTYPE_NONE = 0,
    MW_F16,
    MW_F32,
    MW_F64,
    MW_BF16,
    MW_I4,
    MW_I8,
    MW_I16,
    MW_I32,
    MW_I64,
    MW_U1,
    MW_U2,
    MW_U3,
    MW_U4,
    MW_U6,
    MW_U8,
    MW_U16,
    MW_U32,
    MW_U64,
    MW_F8E4M3FN,
    MW_F8E5M2,
    MW_BOOL,
    MW_STRING,
    MW_DTYPE_COUNT
} mw_dtype;

/** Largest rank of a tensor in memory. Devices allow less: the ANE allows 5. */
#define MW_RANK_MAX 8

/** An extent that is known only at run time (`?` in MIL). */
#define MW_DIM_UNKNOWN (-1)

/** Extents of a tensor; dim[rank..] is ignored. */
typedef struct mw_shape {
    int rank;                 /* 0 (a scalar) to MW_RANK_MAX */
    int64_t dim[MW_RANK_MAX]; /* each >= 0, or MW_DIM_UNKNOWN */
} mw_shape;

#ifdef __cplusplus
extern "C++" {
template <typename... D> constexpr mw_shape mw__shape_of(D... dim)
{
    return mw_shape{sizeof...(D), {static_cast<int64_t>(dim)...}};
}
}
#define MW_SHAPE(...) (mw__shape_of(__VA_ARGS__))
#else
#define MW_SHAPE(...) ((mw_shape){(int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), {__VA_ARGS__}})
#endif

/** A list of axes; negative ones count from the end. axis[count..) is ignored. */
typedef struct mw_axes {
    int count; /* 0 (every axis, where a call says so) to MW_RANK_MAX */
    int axis[MW_RANK_MAX];
} mw_axes;

#ifdef __cplusplus
extern "C++" {
template <typename... A> constexpr mw_axes mw__axes_of(A... axis)
{
    return mw_axes{sizeof...(A), {static_cast<int>(axis)...}};
}
}
#define MW_AXES(...) (mw__axes_of(__VA_ARGS__))
#define MW_ALL_AXES  (mw_axes{0, {0}})
#else
#define MW_AXES(...) ((mw_axes){(int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), {__VA_ARGS__}})
#define MW_ALL_AXES  ((mw_axes){0, {0}})
#endif

/** How much border stands around the spatial axes under a sliding window (pooling: nothing counts there; convolution:
 *  zeros). */
typedef enum mw_pad_type {
    MW_PAD_VALID = 1, /* none */
    MW_PAD_CUSTOM,    /* those in `pad` */
    MW_PAD_SAME,      /* so much that the result has ceil(extent / stride); an odd one stands after the data */
    MW_PAD_SAME_LOWER /* the same; an odd one stands before the data. From ios16 on */
} mw_pad_type;

/** Returns the shape of a scalar (rank 0). */
MW_API mw_shape mw_shape_scalar(void);

/** Returns the number of elements, 1 for a scalar; -1 if an extent is unknown or the product exceeds INT64_MAX. */
MW_API int64_t mw_shape_count(mw_shape shape);

/** True if rank and extents are equal. */
MW_API bool mw_shape_equal(mw_shape a, mw_shape b);

/** Returns MIL's name of the type ("fp16"), or "?" for a value outside the enumeration; static storage. */
MW_API const char *mw_dtype_name(mw_dtype dtype);

/** Returns the bits of one element in memory (16 for F16, 8 for BOOL, 4 for U4), 0 for STRING and NONE. */
MW_API int mw_dtype_bits(mw_dtype dtype);

/** Labels of classes by their index, strings or integers: of mw_classify, of a port, of a column of a data set. */
typedef struct mw_classes {
    size_t count;
    const char *const *names; /* NULL: the labels are numbers */
    const int64_t *numbers;   /* NULL: the labels are names */
} mw_classes;

#ifdef __cplusplus
}
#endif
#endif
