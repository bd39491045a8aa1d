/* Shape rules of ops/shape.def that are not in test_shapes.c: what they give, unknown extents, and every refusal. */
#include "shape_words.h"

static mw_tensor *stack(mw_tensor *a, mw_tensor *b, int axis) { return mw_stack((mw_tensor *const[]){a, b}, 2, axis); }

static void test_stack(void)
{
    GIVES(MW_F32, S(2, 3, 4), stack(F(3, 4), F(3, 4), 0));
    GIVES(MW_I32, S(3, 4, 2), stack(N(3, 4), N(3, 4), -1));
    GIVES(MW_F32, S(2), stack(SCALAR, SCALAR, 0));
    GIVES(MW_F32, S(3, 2, 5), stack(F(-1, 5), F(3, -1), 1));
    GIVES(MW_BOOL, S(0, 2), stack(B(0), B(0), 1));
    REFUSES(MW_ERROR_SHAPE, "stack: values[1] [3, 5] does not have the shape of values[0], [3, 4]",
            stack(F(3, 4), F(3, 5), 0));
    REFUSES(MW_ERROR_SHAPE, "values[1] [3, 4, 1]", stack(F(3, 4), F(3, 4, 1), 0));
    REFUSES(MW_ERROR_ARGUMENT, "axis 3 is outside [-3, 3)", stack(F(3, 4), F(3, 4), 3));
    REFUSES(MW_ERROR_DTYPE, "values[0] is fp32 but values[1] is fp16", stack(F(3), H(3), 0));
    REFUSES(MW_ERROR_SHAPE, "exceed rank 8", stack(F(1, 1, 1, 1, 1, 1, 1, 1), F(1, 1, 1, 1, 1, 1, 1, 1), 0));
}

static void test_reverse(void)
{
    GIVES(MW_F32, S(3, 4), mw_reverse(F(3, 4), MW_AXES(-1, 0)));
    GIVES(MW_BOOL, S(3, -1), mw_reverse(B(3, -1), MW_ALL_AXES));
    GIVES(MW_F32, mw_shape_scalar(), mw_reverse(SCALAR, MW_ALL_AXES));
    REFUSES(MW_ERROR_ARGUMENT, "reverse: axes 2 is outside [-2, 2)", mw_reverse(F(3, 4), MW_AXES(2)));
    REFUSES(MW_ERROR_ARGUMENT, "axes names axis 1 twice", mw_reverse(F(3, 4), MW_AXES(1, -1)));
}

static void test_reverse_sequence(void)
{
    GIVES(MW_F32, S(3, 4), mw_reverse_sequence(F(3, 4), N(3), 1, 0));
    GIVES(MW_I32, S(-1, 4), mw_reverse_sequence(N(-1, 4), N(4), 0, -1));
    REFUSES(MW_ERROR_ARGUMENT, "reverse_sequence: seq_axis and batch_axis are both 0; they must differ",
            op(g, "reverse_sequence", "x", F(3, 4), "lengths", N(3), NULL));
    REFUSES(MW_ERROR_SHAPE, "lengths [4] must be a vector with the 3 elements of axis 0",
            mw_reverse_sequence(F(3, 4), N(4), 1, 0));
    REFUSES(MW_ERROR_SHAPE, "lengths [3, 1]", mw_reverse_sequence(F(3, 4), N(3, 1), 1, 0));
    REFUSES(MW_ERROR_ARGUMENT, "seq_axis 2 is outside [-2, 2)", mw_reverse_sequence(F(3, 4), N(3), 2, 0));
    REFUSES(MW_ERROR_ARGUMENT, "batch_axis -3", mw_reverse_sequence(F(3, 4), N(3), 1, -3));
    REFUSES(MW_ERROR_DTYPE, "lengths is fp32, not an integer type", mw_reverse_sequence(F(3, 4), F(3), 1, 0));
}

static void test_sliding_windows(void)
{
    GIVES(MW_F32, S(2, 5, 3, 4), mw_sliding_windows(F(2, 7, 4), 1, 3, 1));
    GIVES(MW_BOOL, S(3, 2), mw_sliding_windows(B(8), -1, 2, 3));
    GIVES(MW_F32, S(-1, 2), mw_sliding_windows(F(-1), 0, 2, 1));
    REFUSES(MW_ERROR_SHAPE, "sliding_windows: size 8 exceeds the extent 7 of axis 1",
            mw_sliding_windows(F(2, 7), 1, 8, 1));
    REFUSES(MW_ERROR_ARGUMENT, "size 0 and stride 1 must be positive", mw_sliding_windows(F(7), 0, 0, 1));
    REFUSES(MW_ERROR_ARGUMENT, "stride -1 must be positive", mw_sliding_windows(F(7), 0, 2, -1));
    REFUSES(MW_ERROR_ARGUMENT, "axis 1 is outside [-1, 1)", mw_sliding_windows(F(7), 1, 2, 1));
    REFUSES(MW_ERROR_SHAPE, "exceed rank 8", mw_sliding_windows(F(1, 1, 1, 1, 1, 1, 1, 1), 0, 1, 1));
}

static void test_band_part(void)
{
    GIVES(MW_F16, S(2, 3, -1), mw_band_part(H(2, 3, -1), 1, 1));
    GIVES(MW_BOOL, S(3, 3), mw_band_part(B(3, 3), -1, 0));
    REFUSES(MW_ERROR_SHAPE, "band_part: x has rank 1, but matrices (rank 2 or more) are wanted",
            mw_band_part(F(3), -1, 0));
    REFUSES(MW_ERROR_ARGUMENT, "lower must be a constant", op(g, "band_part", "x", F(3, 3), "lower", N(1), NULL));
}

static void test_flatten2d(void)
{
    GIVES(MW_F32, S(2, 12), mw_flatten2d(F(2, 3, 4), 1));
    GIVES(MW_F32, S(1, 24), mw_flatten2d(F(2, 3, 4), 0));
    GIVES(MW_F32, S(24, 1), mw_flatten2d(F(2, 3, 4), 3));
    GIVES(MW_F32, S(6, 4), mw_flatten2d(F(2, 3, 4), -1));
    GIVES(MW_F32, S(-1, 12), mw_flatten2d(F(-1, 3, 4), 1));
    GIVES(MW_F32, S(2, 0), mw_flatten2d(F(2, 0, 4), 1));
    REFUSES(MW_ERROR_ARGUMENT, "flatten2d: axis 4 is outside [-3, 3]", mw_flatten2d(F(2, 3, 4), 4));
}

static mw_tensor *like(mw_graph *g, mw_tensor *x, mw_tensor *ref, int begin, int end, bool open)
{
    mw_tensor *mask = mw_scalar(g, MW_BOOL, open);
    return op(g, "reshape_like", "x", x, "ref_tensors", ref, "begins", one(g, begin), "ends", one(g, end), "end_masks",
              mask, NULL);
}

static void test_reshape_like(void)
{
    GIVES(MW_F32, S(3, 4), like(g, F(12), N(2, 3, 4), 1, 3, false));
    GIVES(MW_F32, S(3, 4), like(g, F(12), B(2, 3, 4), -2, 0, true));
    GIVES(MW_F32, S(2, 3), like(g, F(6), F(2, 3, 4), 0, -1, false));
    GIVES(MW_F32, S(-1, 4), like(g, F(12), F(2, -1, 4), 1, 0, true));
    GIVES(MW_F32, mw_shape_scalar(), like(g, F(1), F(2, 3), 1, 1, false));
    REFUSES(MW_ERROR_SHAPE, "does not have the elements of shape [3, 4]", like(g, F(13), F(2, 3, 4), 1, 3, false));
    REFUSES(MW_ERROR_ARGUMENT, "axes 1 to 4 of ref_tensors[0], which has rank 3",
            like(g, F(12), F(2, 3, 4), 1, 4, false));
    REFUSES(MW_ERROR_ARGUMENT, "axes 2 to 1", like(g, F(12), F(2, 3, 4), 2, 1, false));
    REFUSES(MW_ERROR_ARGUMENT, "begins[0] must be one constant",
            op(g, "reshape_like", "x", F(12), "ref_tensors", F(12), "begins", SCALARI, "ends", one(g, 1), "end_masks",
               mw_scalar(g, MW_BOOL, 0), NULL));
    REFUSES_IN(MW_IOS15, MW_ERROR_UNSUPPORTED, "ios16", like(g, F(12), F(12), 0, 1, false));
}

static void test_shape_and_fill_like(void)
{
    GIVES(MW_I32, S(3), mw_shape_of(F(2, -1, 4)));
    GIVES(MW_I32, S(0), mw_shape_of(SCALAR));
    GIVES(MW_F16, S(2, -1), mw_fill_like(B(2, -1), MW_F16, 1));
    GIVES(MW_F32, S(2), op(g, "fill_like", "ref_tensor", N(2), NULL));
    REFUSES(MW_ERROR_SHAPE, "fill_like: value must be a scalar",
            op(g, "fill_like", "ref_tensor", N(2), "value", INTS(1, 2), NULL));
    REFUSES_IN(MW_IOS15, MW_ERROR_UNSUPPORTED, "ios16", mw_fill_like(F(2), MW_F32, 1));
}

static const mw_slice middle[2] = {{.begin = 1, .end = 3}, {.stride = -2, .from_start = true, .to_end = true}};
static const mw_slice corner[2] = {{.begin = 0, .squeeze = true}, {.begin = 0, .squeeze = true}};
static const mw_slice outside[2] = {{.begin = 9, .squeeze = true}, {.begin = 0, .end = 2}};

static void test_slice_update(void)
{
    GIVES(MW_F32, S(4, 5), mw_slice_update(F(4, 5), F(2, 3), middle));
    GIVES(MW_BOOL, S(4, -1), mw_slice_update(B(4, -1), B(2, 3), middle));
    GIVES(MW_F32, S(4, 5), mw_slice_update(F(4, 5), F(-1, 3), middle));
    REFUSES(MW_ERROR_SHAPE, "slice_update: the slice has 3 elements along axis 1, update 2",
            mw_slice_update(F(4, 5), F(2, 2), middle));
    REFUSES(MW_ERROR_SHAPE, "the slice has rank 2, but update \"u\" [2]",
            mw_slice_update(F(4, 5), mw_input(g, "u", MW_F32, S(2)), middle));
    REFUSES(MW_ERROR_SHAPE, "update is a scalar; use expand_dims", mw_slice_update(F(4, 5), SCALAR, corner));
    REFUSES(MW_ERROR_ARGUMENT, "begin[0] 9 is squeezed but outside the extent 4",
            mw_slice_update(F(4, 5), F(2), outside));
    REFUSES(MW_ERROR_DTYPE, "update is fp16 but x is fp32", mw_slice_update(F(4, 5), H(2, 3), middle));
    REFUSES(MW_ERROR_ARGUMENT, "slice_update: slices is NULL", mw_slice_update(F(4, 5), F(2, 3), NULL));
    REFUSES_IN(MW_IOS17, MW_ERROR_UNSUPPORTED, "ios18", mw_slice_update(F(4, 5), F(2, 3), middle));
}

static void test_slices_that_begin_when_run(void)
{
    GIVES(MW_F32, S(2, 5), mw_slice_by_size_at(F(4, 5), N(2), (const int64_t[]){2, 5}));
    GIVES(MW_F32, S(4, 5), mw_slice_update_at(F(4, 5), F(4, 1), N(2)));
    GIVES(MW_F32, S(2, 5), mw_slice_by_size_at(F(4, 5), INTS(-9, 9), (const int64_t[]){2, 5}));
    GIVES(MW_F32, S(4, 5), mw_slice_update_at(F(4, 5), F(4, 1), INTS(-9, 9)));
    REFUSES(MW_ERROR_SHAPE, "size[0] 5 exceeds the extent 4",
            mw_slice_by_size_at(F(4, 5), N(2), (const int64_t[]){5, 5}));
    REFUSES(MW_ERROR_ARGUMENT, "begin has 3 elements, x has rank 2",
            mw_slice_by_size_at(F(4, 5), N(3), (const int64_t[]){1, 1}));
    REFUSES(MW_ERROR_DTYPE, "begin is fp32", mw_slice_by_size_at(F(4, 5), F(2), (const int64_t[]){1, 1}));
    REFUSES(MW_ERROR_ARGUMENT, "size is NULL", mw_slice_by_size_at(F(4, 5), N(2), NULL));
    REFUSES(MW_ERROR_SHAPE, "5 elements 1 apart exceed the extent 4 of axis 0",
            mw_slice_update_at(F(4, 5), F(5, 1), N(2)));
    REFUSES(MW_ERROR_SHAPE, "update has rank 1 where x has rank 2", mw_slice_update_at(F(4, 5), F(1), N(2)));
}

int main(void)
{
    RUN(test_stack);
    RUN(test_reverse);
    RUN(test_reverse_sequence);
    RUN(test_sliding_windows);
    RUN(test_slice_update);
    RUN(test_slices_that_begin_when_run);
    RUN(test_band_part);
    RUN(test_flatten2d);
    RUN(test_reshape_like);
    RUN(test_shape_and_fill_like);
    return check_finish();
}
