/* Cases of shape and data movement. To cover a row: one builder if none fits, one line in the table. */
#include "support/cases/op_case_rows.h"

/* x with up to two integer arguments, the others left to MIL's defaults. */
static mw_tensor *one_argument(const char *operation, mw_tensor *x, const char *a, int v, const char *b, int w)
{
    mw_graph *graph = mw_tensor_graph(x);
    mw_tensor *first = mw_scalar(graph, MW_I32, v), *second = mw_scalar(graph, MW_I32, w), *y = NULL;
    const mw_argument arguments[] = {{"x", &x, 1}, {a, &first, 1}, {b, &second, 1}};
    mw_op(graph, operation, arguments, a == NULL ? 1 : b == NULL ? 2 : 3, &y, 1, NULL);
    return y;
}

/* [2, 3] of the first reference, then all but the first of the second, by literals. */
static mw_tensor *b_reshape_like(mw_tensor *const *in)
{
    mw_graph *graph = mw_tensor_graph(in[0]);
    mw_tensor *none = mw_scalar(graph, MW_I32, 0), *one = mw_scalar(graph, MW_I32, 1),
              *two = mw_scalar(graph, MW_I32, 2);
    mw_tensor *closed = mw_scalar(graph, MW_BOOL, 0), *open = mw_scalar(graph, MW_BOOL, 1), *y = NULL;
    const mw_argument arguments[] = {{"x", &in[0], 1},
                                     {"begins", (mw_tensor *const[]){none, one}, 2},
                                     {"ends", (mw_tensor *const[]){two, none}, 2},
                                     {"end_masks", (mw_tensor *const[]){closed, open}, 2},
                                     {"ref_tensors", &in[1], 2}};
    mw_op(graph, "reshape_like", arguments, 5, &y, 1, NULL);
    return y;
}

/* clang-format off */
UNARY(identity)
BUILD(reshape, mw_reshape(in[0], MW_SHAPE(5, -1)))
BUILD(transpose, mw_transpose(in[0], MW_AXES(1, 0)))
BUILD(transpose_3, mw_transpose(in[0], MW_AXES(2, 0, -2)))
BUILD(expand_dims, mw_expand_dims(in[0], MW_AXES(0, -1)))
BUILD(squeeze, mw_squeeze(in[0], MW_AXES(1)))
BUILD(squeeze_all, mw_squeeze(in[0], MW_ALL_AXES))
BUILD(concat, mw_concat(in, 3, 1))
BUILD(slice_by_size, mw_slice_by_size(in[0], (const int64_t[]){1, -3}, (const int64_t[]){2, 2}))
BUILD(tile, mw_tile(in[0], MW_SHAPE(2, 1, 3)))
BUILD(pad, mw_pad(in[0], (const int64_t[]){1, 2, 0, 3}, 2, MW_PAD_CONSTANT, 0.25f))
BUILD(pad_last, mw_pad(in[0], (const int64_t[]){2, 1}, 1, MW_PAD_CONSTANT, 0.0f))
BUILD(pad_reflect, mw_pad(in[0], (const int64_t[]){2, 3}, 1, MW_PAD_REFLECT, 0.0f))
BUILD(pad_reflect_planes, mw_pad(in[0], (const int64_t[]){1, 0, 2, 1, 0, 3}, 3, MW_PAD_REFLECT, 0.0f))
BUILD(pad_replicate, mw_pad(in[0], (const int64_t[]){1, 1, 2, 3}, 2, MW_PAD_REPLICATE, 0.0f))
BUILD(fill, mw_add(in[0], mw_fill(mw_tensor_graph(in[0]), mw_tensor_dtype(in[0]), MW_SHAPE(3, 1), 1.5)))
BUILD(stack, mw_stack(in, 2, 0))
BUILD(stack_last, mw_stack(in, 3, -1))
BUILD(stack_inner, mw_stack((mw_tensor *const[]){in[0], in[1], in[0], in[1], in[0], in[1], in[0], in[1], in[0]}, 9, 1))
BUILD(reverse, mw_reverse(in[0], MW_AXES(0, -1)))
BUILD(reverse_all, mw_reverse(in[0], MW_ALL_AXES))
BUILD(reverse_middle, mw_reverse(in[0], MW_AXES(1)))
BUILD(reverse_sequence, mw_reverse_sequence(in[0], in[1], 1, 0))
BUILD(reverse_sequence_last, mw_reverse_sequence(in[0], in[1], 0, -1))
BUILD(reverse_sequence_inner, mw_reverse_sequence(in[0], in[1], -1, 1))
BUILD(sliding_windows, mw_sliding_windows(in[0], 1, 3, 1))
BUILD(sliding_windows_stride, mw_sliding_windows(in[0], -1, 2, 3))
BUILD(sliding_windows_first, mw_sliding_windows(in[0], 0, 4, 2))
BUILD(sliding_windows_plain, one_argument("sliding_windows", in[0], "axis", 0, "size", 2))
BUILD(band_part, mw_band_part(in[0], 1, 2))
BUILD(band_part_causal, mw_band_part(in[0], -1, 0))
BUILD(band_part_upper, mw_band_part(in[0], 0, -1))
BUILD(band_part_wide, mw_band_part(in[0], 99, 1))
BUILD(band_part_plain, one_argument("band_part", in[0], "upper", 1, NULL, 0))
BUILD(flatten2d, mw_flatten2d(in[0], 2))
BUILD(flatten2d_first, mw_flatten2d(in[0], 0))
BUILD(flatten2d_negative, mw_flatten2d(in[0], -1))
BUILD(flatten2d_plain, one_argument("flatten2d", in[0], NULL, 0, NULL, 0))
BUILD(fill_like, mw_mul(in[0], mw_fill_like(in[0], mw_tensor_dtype(in[0]), 1.5)))
BUILD(fill_like_int, mw_fill_like(in[0], MW_I32, -7))
BUILD(shape, mw_shape_of(in[0]))
BUILD(range, mw_mul(in[0], mw_range_1d(mw_tensor_graph(in[0]), mw_tensor_dtype(in[0]), 1.0, 9.0, 2.0)))
/* clang-format on */

static mw_tensor *b_concat_interleave(mw_tensor *const *in)
{
    mw_graph *graph = mw_tensor_graph(in[0]);
    mw_tensor *axis = mw_scalar(graph, MW_I32, 1), *interleave = mw_scalar(graph, MW_BOOL, 1), *y = NULL;
    const mw_argument arguments[] = {{"axis", &axis, 1}, {"interleave", &interleave, 1}, {"values", in, 2}};
    mw_op(graph, "concat", arguments, 3, &y, 1, NULL);
    return y;
}

/* Both parts count, differently, so that each has its own cotangent. */
static mw_tensor *b_split(mw_tensor *const *in)
{
    mw_tensor *parts[2];
    if (mw_split_sizes(in[0], (const int64_t[]){2, 3}, 2, 1, parts) != MW_OK)
        return NULL;
    return mw_concat((mw_tensor *const[]){mw_mul_scalar(parts[1], 2.0), parts[0]}, 2, 1);
}

static mw_tensor *b_split_even(mw_tensor *const *in)
{
    mw_tensor *parts[3];
    return mw_split(in[0], 3, 0, parts) == MW_OK ? mw_mul(parts[0], parts[2]) : NULL;
}

static mw_tensor *b_slice(mw_tensor *const *in)
{
    const mw_slice slices[3] = {{.begin = 1, .end = 4, .stride = 1},
                                {.begin = 5, .end = 0, .stride = -2},
                                {.begin = 1, .end = 9, .stride = 3, .to_end = true}};
    return mw_slice_by_index(in[0], slices);
}

static mw_tensor *b_slice_squeeze(mw_tensor *const *in)
{
    const mw_slice slices[3] = {{.begin = -1, .squeeze = true},
                                {.stride = -1, .from_start = true, .to_end = true},
                                {.begin = -4, .end = -1, .stride = 1}};
    return mw_slice_by_index(in[0], slices);
}

static const mw_slice strided_part[3] = {{.begin = 1, .end = 4, .stride = 2},
                                         {.begin = 5, .end = 0, .stride = -2},
                                         {.begin = 1, .end = 9, .stride = 3, .to_end = true}};
static const mw_slice squeezed_part[3] = {{.begin = -1, .squeeze = true},
                                          {.stride = -1, .from_start = true, .to_end = true},
                                          {.begin = -4, .end = -1, .stride = 1}};

static mw_tensor *b_update_strided(mw_tensor *const *in) { return mw_slice_update(in[0], in[1], strided_part); }
static mw_tensor *b_update_squeezed(mw_tensor *const *in) { return mw_slice_update(in[0], in[1], squeezed_part); }

/* The row of x that a number of this run names, of all columns; with `update`, x with that row replaced. */
static mw_tensor *row_at(const char *operation, mw_tensor *x, mw_tensor *begin, mw_tensor *update)
{
    mw_graph *graph = mw_tensor_graph(x);
    const uint8_t row[] = {1, 0, 0}, rest[] = {0, 1, 1};
    mw_tensor *squeeze = mw_constant(graph, MW_BOOL, MW_SHAPE(3), row), *y = NULL;
    mw_tensor *mask = mw_constant(graph, MW_BOOL, MW_SHAPE(3), rest);
    const mw_argument arguments[] = {{"x", &x, 1},           {"begin", &begin, 1},          {"end", &begin, 1},
                                     {"end_mask", &mask, 1}, {"squeeze_mask", &squeeze, 1}, {"begin_mask", &mask, 1},
                                     {"update", &update, 1}};
    mw_op(graph, operation, arguments, update == NULL ? 6 : 7, &y, 1, NULL);
    return y;
}

static mw_tensor *b_slice_run_time(mw_tensor *const *in) { return row_at("slice_by_index", in[0], in[1], NULL); }
static mw_tensor *b_update_row(mw_tensor *const *in) { return row_at("slice_update", in[0], in[1], in[2]); }

static mw_tensor *b_size_run_time(mw_tensor *const *in)
{
    return mw_slice_by_size_at(in[0], in[1], (const int64_t[]){2, 5, 1});
}

/* A begin that happens to be constant is clamped alike. */
static mw_tensor *b_size_clamped(mw_tensor *const *in)
{
    mw_tensor *begin = mw_constant(mw_tensor_graph(in[0]), MW_I32, MW_SHAPE(2), (const int32_t[]){-9, 3});
    return mw_slice_by_size_at(in[0], begin, (const int64_t[]){2, 4});
}

static mw_tensor *b_update_clamped(mw_tensor *const *in)
{
    mw_tensor *begin = mw_constant(mw_tensor_graph(in[0]), MW_I32, MW_SHAPE(2), (const int32_t[]){9, -3});
    return mw_slice_update_at(in[0], in[1], begin);
}

static mw_tensor *b_update_run_time(mw_tensor *const *in) { return mw_slice_update_at(in[0], in[1], in[2]); }

/* clang-format off */
static const op_case rows[] = {
    EXACT("identity", "", b_identity, F(2, -2, 2, 5, 7)),
    EXACT("reshape", "", b_reshape, F(2, -2, 2, 10, 3)),
    EXACT("transpose", "", b_transpose, F(2, -2, 2, 13, 70)),
    EXACT("transpose", "rank 3", b_transpose_3, F(3, -2, 2, 3, 4, 5)),
    EXACT("expand_dims", "", b_expand_dims, F(2, -2, 2, 5, 7)),
    EXACT("squeeze", "", b_squeeze, F(3, -2, 2, 5, 1, 7)),
    EXACT("squeeze", "all", b_squeeze_all, F(4, -2, 2, 1, 5, 1, 7)),
    EXACT("concat", "", b_concat, F(2, -2, 2, 3, 2), F(2, -2, 2, 3, 5), F(2, -2, 2, 3, 1)),
    EXACT("concat", "interleaved", b_concat_interleave, F(2, -2, 2, 3, 4), F(2, -2, 2, 3, 4)),
    EXACT("split", "by sizes", b_split, F(2, -2, 2, 4, 5)),
    EXACT("split", "even", b_split_even, F(2, -2, 2, 6, 3)),
    EXACT("slice_by_index", "strides", b_slice, F(3, -2, 2, 5, 6, 9)),
    EXACT("slice_by_index", "squeeze and masks", b_slice_squeeze, F(3, -2, 2, 3, 4, 6)),
    EXACT("slice_by_size", "", b_slice_by_size, F(2, -2, 2, 4, 5)),
    EXACT("slice_by_size", "begin when run, clamped", b_size_run_time, F(3, -2, 2, 4, 5, 6), I(1, -9, 9, 3)),
    EXACT("slice_by_size", "begin when run, int32", b_size_run_time, I(3, -9, 9, 4, 5, 6), I(1, 0, 3, 3)),
    EXACT("slice_by_index", "row when run", b_slice_run_time, F(3, -2, 2, 4, 5, 6), I(1, 0, 4, 3)),
    EXACT("slice_by_size", "clamped when built", b_size_clamped, F(2, -2, 2, 4, 6)),
    EXACT("slice_update", "clamped when built", b_update_clamped, F(2, -2, 2, 4, 6), F(2, -2, 2, 2, 4)),
    EXACT("slice_update", "strides", b_update_strided, F(3, -2, 2, 5, 6, 9), F(3, -2, 2, 2, 3, 3)),
    EXACT("slice_update", "squeeze and masks", b_update_squeezed, F(3, -2, 2, 3, 4, 6), F(2, -2, 2, 4, 3)),
    EXACT("slice_update", "bool", b_update_squeezed, B(3, 3, 4, 6), B(2, 4, 3)),
    EXACT("slice_update", "row when run", b_update_row, F(3, -2, 2, 4, 5, 6), I(1, 0, 4, 3), F(2, -2, 2, 5, 6)),
    EXACT("slice_update", "begin when run, clamped", b_update_run_time, F(3, -2, 2, 4, 5, 6), F(3, -2, 2, 2, 5, 3),
          I(1, -9, 9, 3)),
    EXACT("slice_update", "begin when run, int32", b_update_run_time, I(2, -9, 9, 4, 6), I(2, -9, 9, 1, 3),
          I(1, -4, 4, 2)),
    EXACT("tile", "", b_tile, F(3, -2, 2, 3, 2, 4)),
    EXACT("pad", "two axes", b_pad, F(3, -2, 2, 2, 3, 4)),
    EXACT("pad", "one axis", b_pad_last, F(2, -2, 2, 3, 4)),
    EXACT("pad", "reflect", b_pad_reflect, F(2, -2, 2, 3, 5)),
    EXACT("pad", "reflect, three axes", b_pad_reflect_planes, F(3, -2, 2, 2, 3, 4)),
    EXACT("pad", "replicate", b_pad_replicate, F(2, -2, 2, 3, 4)),
    EXACT("fill", "", b_fill, F(2, -2, 2, 3, 4)),
    EXACT("stack", "first axis", b_stack, F(2, -2, 2, 3, 4), F(2, -2, 2, 3, 4)),
    EXACT("stack", "last axis", b_stack_last, F(2, -2, 2, 3, 4), F(2, -2, 2, 3, 4), F(2, -2, 2, 3, 4)),
    EXACT("stack", "more than a step reads", b_stack_inner, F(2, -2, 2, 3, 4), F(2, -2, 2, 3, 4)),
    EXACT("stack", "scalars", b_stack, F(0, -2, 2, 0), F(0, -2, 2, 0)),
    EXACT("stack", "bool", b_stack_last, B(2, 3, 4), B(2, 3, 4), B(2, 3, 4)),
    EXACT("stack", "int32", b_stack, I(2, -9, 9, 3, 4), I(2, -9, 9, 3, 4)),
    EXACT("reverse", "axes", b_reverse, F(3, -2, 2, 3, 4, 5)),
    EXACT("reverse", "all", b_reverse_all, F(3, -2, 2, 3, 4, 65)),
    EXACT("reverse", "middle", b_reverse_middle, F(3, -2, 2, 3, 4, 5)),
    EXACT("reverse", "scalar", b_reverse_all, F(0, -2, 2, 0)),
    EXACT("reverse", "bool", b_reverse, B(3, 3, 4, 5)),
    EXACT("reverse", "int32", b_reverse_middle, I(3, -9, 9, 3, 4, 5)),
    EXACT("reverse_sequence", "inner", b_reverse_sequence, F(3, -2, 2, 4, 5, 3), I(1, 0, 6, 4)),
    EXACT("reverse_sequence", "batch last, lengths beyond", b_reverse_sequence_last, F(3, -2, 2, 5, 3, 4), I(1, -3, 9, 4)),
    EXACT("reverse_sequence", "sequence last", b_reverse_sequence_inner, F(3, -2, 2, 2, 4, 6), I(1, 0, 7, 4)),
    EXACT("reverse_sequence", "bool", b_reverse_sequence, B(2, 4, 5), I(1, 0, 6, 4)),
    EXACT("sliding_windows", "overlapping", b_sliding_windows, F(3, -2, 2, 2, 7, 3)),
    EXACT("sliding_windows", "gaps", b_sliding_windows_stride, F(2, -2, 2, 3, 9)),
    EXACT("sliding_windows", "first axis", b_sliding_windows_first, F(2, -2, 2, 8, 5)),
    EXACT("sliding_windows", "default stride", b_sliding_windows_plain, F(1, -2, 2, 6)),
    EXACT("sliding_windows", "int32", b_sliding_windows, I(3, -9, 9, 2, 7, 3)),
    EXACT("band_part", "band", b_band_part, F(3, -2, 2, 2, 5, 6)),
    EXACT("band_part", "causal", b_band_part_causal, F(2, -2, 2, 6, 4)),
    EXACT("band_part", "upper", b_band_part_upper, F(2, -2, 2, 3, 7)),
    EXACT("band_part", "more than there is", b_band_part_wide, F(2, -2, 2, 5, 5)),
    EXACT("band_part", "defaults", b_band_part_plain, F(2, -2, 2, 5, 5)),
    EXACT("band_part", "bool", b_band_part_causal, B(2, 5, 5)),
    EXACT("band_part", "int32", b_band_part, I(3, -9, 9, 2, 5, 6)),
    EXACT("flatten2d", "", b_flatten2d, F(3, -2, 2, 3, 4, 5)),
    EXACT("flatten2d", "axis 0", b_flatten2d_first, F(3, -2, 2, 3, 4, 5)),
    EXACT("flatten2d", "negative axis", b_flatten2d_negative, F(3, -2, 2, 3, 4, 5)),
    EXACT("flatten2d", "default", b_flatten2d_plain, F(3, -2, 2, 3, 4, 5)),
    EXACT("reshape_like", "", b_reshape_like, F(2, -2, 2, 4, 15), F(3, -2, 2, 2, 3, 7), F(3, -2, 2, 9, 5, 2)),
    EXACT("fill_like", "", b_fill_like, F(2, -2, 2, 3, 4)),
    EXACT("fill_like", "int32", b_fill_like_int, F(2, -2, 2, 3, 4)),
    EXACT("shape", "", b_shape, F(3, -2, 2, 3, 4, 5)),
    EXACT("shape", "bool", b_shape, B(2, 3, 1)),
    EXACT("range_1d", "", b_range, F(2, -2, 2, 3, 4)),
};
/* clang-format on */

OP_CASES(shape, rows)
