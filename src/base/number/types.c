/* Shapes and element types of the public header: counting, comparing, naming. No rules of operations. */
#include "base/number/types.h"

#include "base/memory/checked.h"

#include <string.h>

static const struct {
    const char *name;
    int bits;
} dtypes[MW_DTYPE_COUNT] = {
    [MW_DTYPE_NONE] = {"none", 0}, [MW_F16] = {"fp16", 16},          [MW_F32] = {"fp32", 32},
    [MW_F64] = {"fp64", 64},       [MW_BF16] = {"bf16", 16},         [MW_I4] = {"int4", 4},
    [MW_I8] = {"int8", 8},         [MW_I16] = {"int16", 16},         [MW_I32] = {"int32", 32},
    [MW_I64] = {"int64", 64},      [MW_U1] = {"uint1", 1},           [MW_U2] = {"uint2", 2},
    [MW_U3] = {"uint3", 3},        [MW_U4] = {"uint4", 4},           [MW_U6] = {"uint6", 6},
    [MW_U8] = {"uint8", 8},        [MW_U16] = {"uint16", 16},        [MW_U32] = {"uint32", 32},
    [MW_U64] = {"uint64", 64},     [MW_F8E4M3FN] = {"fp8e4m3fn", 8}, [MW_F8E5M2] = {"fp8e5m2", 8},
    [MW_BOOL] = {"bool", 8},       [MW_STRING] = {"string", 0},
};

enum { LONGEST_NAME = sizeof "fp8e4m3fn" - 1 };

static bool known(mw_dtype dtype) { return (int)dtype >= 0 && dtype < MW_DTYPE_COUNT; }

const char *mw_dtype_name(mw_dtype dtype) { return known(dtype) ? dtypes[dtype].name : "?"; }

/* The first that begins with the letter, or one before it. */
static int first_with(char letter)
{
    return letter == 's' ? MW_STRING : letter == 'u' ? MW_U1 : letter == 'i' ? MW_I4 : MW_F16;
}

/* Most of what is asked about is no type, and differs in the first letter or is too long. */
mw_dtype mw__number_dtype_named(const char *text, size_t length)
{
    if (length == 0 || length > LONGEST_NAME)
        return MW_DTYPE_NONE;
    for (int i = first_with(text[0]); i < MW_DTYPE_COUNT; i++)
        if (dtypes[i].name[0] == text[0] && strncmp(dtypes[i].name, text, length) == 0 &&
            dtypes[i].name[length] == '\0')
            return (mw_dtype)i;
    return MW_DTYPE_NONE;
}

int mw_dtype_bits(mw_dtype dtype) { return known(dtype) ? dtypes[dtype].bits : 0; }

mw_shape mw_shape_scalar(void) { return (mw_shape){.rank = 0}; }

int64_t mw_shape_count(mw_shape shape)
{
    int64_t count = 1;
    bool empty = false;
    bool overflow = shape.rank < 0 || shape.rank > MW_RANK_MAX;
    for (int i = 0; i < shape.rank && i < MW_RANK_MAX; i++) {
        if (shape.dim[i] < 0)
            return -1;
        if (shape.dim[i] == 0)
            empty = true;
        else if (!overflow)
            overflow = !mw__mul_i64(count, shape.dim[i], &count);
    }
    return overflow ? -1 : empty ? 0 : count;
}

bool mw_shape_equal(mw_shape a, mw_shape b)
{
    if (a.rank != b.rank)
        return false;
    for (int i = 0; i < a.rank && i < MW_RANK_MAX; i++) {
        if (a.dim[i] != b.dim[i])
            return false;
    }
    return true;
}
