/* Matching integers by their digits: comparisons with short ranges and one outer product. */
#include "graph/patterns/digits.h"

#include <millwright/millwright.h>

int64_t mw__digit_of(int64_t number, int digit)
{
    int64_t high = number / MW__DIGIT_BASE;
    if (number % MW__DIGIT_BASE < 0)
        high--;
    return digit == 0 ? high : number - high * MW__DIGIT_BASE;
}

/* 1 where they are equal */
static mw_tensor *match(mw_tensor *a, mw_tensor *b, mw_dtype dtype)
{
    mw_graph *graph = mw_tensor_graph(a);
    mw_tensor *same = mw_equal(a, b), *one = mw_scalar(graph, dtype, 1.0);
    return mw_select(same, one, mw_scalar(graph, dtype, 0.0));
}

static mw_tensor *count_up(mw_tensor *like, int64_t first, int64_t count, mw_shape shape)
{
    const double begin = (double)first, end = (double)(first + count);
    mw_graph *graph = mw_tensor_graph(like);
    return mw_reshape(mw_range_1d(graph, mw_tensor_dtype(like), begin, end, 1.0), shape);
}

/* [outer, highs, 1, inner] times [outer, 1, base, inner] counts through the numbers in order. */
static mw_tensor *span(const mw__digits *digits, int64_t outer, int64_t inner, int64_t first, int64_t count,
                       mw_dtype dtype)
{
    const int64_t highs = (count + MW__DIGIT_BASE - 1) / MW__DIGIT_BASE, base = MW__DIGIT_BASE;
    const mw_shape one = MW_SHAPE(outer, 1, 1, inner);
    mw_tensor *high = mw_reshape(digits->digit[0], one), *low = mw_reshape(digits->digit[1], one);
    if (high == NULL || low == NULL)
        return NULL;
    high = match(high, count_up(high, first / base, highs, MW_SHAPE(highs, 1, 1)), dtype);
    low = match(low, count_up(low, 0, base, MW_SHAPE(base, 1)), dtype);
    mw_tensor *hot = mw_reshape(mw_mul(high, low), MW_SHAPE(outer, highs * base, inner));
    const int64_t begin[3] = {0}, size[3] = {outer, count, inner};
    return highs * base == count ? hot : mw_slice_by_size(hot, begin, size);
}

mw_tensor *mw__digits_hot(const mw__digits *digits, int64_t outer, int64_t inner, int64_t first, int64_t count,
                          mw_dtype dtype)
{
    if (digits->digit[0] == NULL)
        return NULL;
    if (digits->count == 2)
        return span(digits, outer, inner, first, count, dtype);
    mw_tensor *number = mw_reshape(digits->digit[0], MW_SHAPE(outer, 1, inner));
    return number != NULL ? match(number, count_up(number, first, count, MW_SHAPE(count, 1)), dtype) : NULL;
}

mw_tensor *mw__digits_equal(const mw__digits *a, const mw__digits *b, mw_dtype dtype)
{
    if (a->digit[0] == NULL || b->digit[0] == NULL)
        return NULL;
    mw_tensor *hit = match(a->digit[0], b->digit[0], dtype);
    return a->count == 2 ? mw_mul(hit, match(a->digit[1], b->digit[1], dtype)) : hit;
}

/* Every sum is an integer below MW__COUNTED_MAX: exact. */
mw__digits mw__digits_wrap(const mw__digits *digits, int64_t extent)
{
    mw_tensor *high = digits->digit[0], *low = digits->digit[1];
    if (high == NULL)
        return *digits;
    mw_tensor *negative = mw_less(high, mw_scalar(mw_tensor_graph(high), mw_tensor_dtype(high), 0.0));
    if (digits->count == 1)
        return (mw__digits){.digit = {mw_select(negative, mw_add_scalar(high, (double)extent), high)}, .count = 1};
    mw_tensor *base = mw_scalar(mw_tensor_graph(high), mw_tensor_dtype(high), MW__DIGIT_BASE);
    mw_tensor *zero = mw_scalar(mw_tensor_graph(high), mw_tensor_dtype(high), 0.0);
    mw_tensor *sum = mw_add_scalar(low, (double)mw__digit_of(extent, 1));
    mw_tensor *carries = mw_greater_equal(sum, base);
    mw_tensor *top = mw_add_scalar(high, (double)mw__digit_of(extent, 0));
    top = mw_add(top, mw_select(carries, mw_scalar(mw_tensor_graph(high), mw_tensor_dtype(high), 1.0), zero));
    sum = mw_sub(sum, mw_select(carries, base, zero));
    return (mw__digits){.digit = {mw_select(negative, top, high), mw_select(negative, sum, low)}, .count = 2};
}

mw_tensor *mw__digits_range(mw_graph *graph, int64_t first, int64_t count, int digit)
{
    const int64_t highs = (count + MW__DIGIT_BASE - 1) / MW__DIGIT_BASE, base = MW__DIGIT_BASE, top = first / base;
    mw_tensor *grid;
    if (digit == 0)
        grid =
            mw_tile(mw_reshape(mw_range_1d(graph, MW_F32, (double)top, (double)(top + highs), 1.0), MW_SHAPE(highs, 1)),
                    MW_SHAPE(1, base));
    else
        grid = mw_tile(mw_reshape(mw_range_1d(graph, MW_F32, 0.0, (double)base, 1.0), MW_SHAPE(1, base)),
                       MW_SHAPE(highs, 1));
    mw_tensor *flat = mw_reshape(grid, MW_SHAPE(highs * base));
    return highs * base == count ? flat : mw_slice_by_size(flat, (int64_t[]){0}, (int64_t[]){count});
}
