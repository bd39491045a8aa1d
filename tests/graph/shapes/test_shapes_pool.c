/* Pooling: extents by pad type and ceil_mode, and what the shape rules refuse. */
#include "shape_words.h"

#include "graph/geometry/window.h"

static mw_pool_options with(mw_shape kernel, int64_t stride, mw_pad_type type, int64_t before, int64_t after, bool ceil)
{
    mw_pool_options options = mw_pool_defaults(kernel);
    options.pad_type = type;
    options.ceil_mode = ceil;
    for (int i = 0; i < 3; i++)
        options.stride[i] = stride, options.pad[2 * i] = before, options.pad[2 * i + 1] = after;
    return options;
}

static mw_tensor *max(mw_tensor *x, mw_pool_options options) { return mw_max_pool(x, &options); }
static mw_tensor *avg(mw_tensor *x, mw_pool_options options) { return mw_avg_pool(x, &options); }
static mw_tensor *l2(mw_tensor *x, mw_pool_options options) { return mw_l2_pool(x, &options); }

#define VALID(k, s)           with(k, s, MW_PAD_VALID, 0, 0, false)
#define CUSTOM(k, s, b, a)    with(k, s, MW_PAD_CUSTOM, b, a, false)
#define SAME(k, s)            with(k, s, MW_PAD_SAME, 0, 0, false)
#define CEIL(k, s, type, pad) with(k, s, type, pad, pad, true)

static void test_extents_follow_the_pad_type(void)
{
    GIVES(MW_F32, S(2, 3, 4), max(F(2, 3, 9), VALID(S(3), 2)));
    GIVES(MW_F16, S(2, 3, 3, 4), avg(H(2, 3, 6, 8), VALID(S(2, 2), 2)));
    GIVES(MW_F32, S(1, 2, 3, 2, 2), max(F(1, 2, 6, 4, 5), VALID(S(2, 2, 2), 2)));
    GIVES(MW_F32, S(1, 2, 4), l2(F(1, 2, 5), CUSTOM(S(3), 2, 1, 3)));
    GIVES(MW_F32, S(1, 2, 3), max(F(1, 2, 5), SAME(S(4), 2)));
    GIVES(MW_F32, S(1, 2, 2), max(F(1, 2, 5), SAME(S(1), 3)));
    GIVES(MW_F32, S(0, 2, 3), max(F(0, 2, 5), VALID(S(3), 1)));
}

static void test_ceil_mode_rounds_up_unless_the_last_window_starts_in_padding(void)
{
    GIVES(MW_F32, S(1, 1, 4), max(F(1, 1, 7), CEIL(S(2), 2, MW_PAD_VALID, 0)));
    GIVES(MW_F32, S(1, 1, 4), max(F(1, 1, 7), CEIL(S(2), 2, MW_PAD_CUSTOM, 1)));
    GIVES(MW_F32, S(1, 1, 4), max(F(1, 1, 6), CEIL(S(2), 2, MW_PAD_CUSTOM, 1)));
    GIVES(MW_F32, S(1, 1, 2), max(F(1, 1, 4), CEIL(S(1), 5, MW_PAD_VALID, 0))); /* no decrement without padding */
    GIVES(MW_F32, S(1, 1, 1), max(F(1, 1, 3), CEIL(S(1), 5, MW_PAD_CUSTOM, 1)));
    GIVES(MW_F32, S(1, 1, 1), max(F(1, 1, 2), CEIL(S(3), 2, MW_PAD_VALID, 0))); /* the kernel exceeds x */
}

static void test_unknown_extents_pass(void)
{
    GIVES(MW_F32, S(-1, 3, -1, 2), max(F(-1, 3, -1, 5), VALID(S(3, 3), 2)));
    GIVES(MW_F32, S(1, 3, -1), avg(F(1, 3, -1), SAME(S(3), 2)));
}

static void test_rank_and_type_are_checked(void)
{
    REFUSES(MW_ERROR_SHAPE, "max_pool: x must be [N, C, 1 to 3 spatial axes], not of rank 2",
            max(F(2, 3), VALID(S(1), 1)));
    REFUSES(MW_ERROR_SHAPE, "not of rank 6", avg(F(1, 1, 2, 2, 2, 2), VALID(S(2, 2, 2), 1)));
    REFUSES(MW_ERROR_SHAPE, "l2_pool: x has three spatial axes", l2(F(1, 1, 2, 2, 2), VALID(S(2, 2, 2), 1)));
    REFUSES(MW_ERROR_DTYPE, "not fp16 or fp32", max(N(1, 1, 4), VALID(S(2), 1)));
}

static void test_kernel_stride_and_pad_are_checked(void)
{
    REFUSES(MW_ERROR_ARGUMENT, "kernel_sizes has 1 elements, x has 2 spatial axes", max(F(1, 1, 4, 4), VALID(S(2), 1)));
    REFUSES(MW_ERROR_ARGUMENT, "the kernel has extent 0 on spatial axis 0", max(F(1, 1, 4), VALID(S(0), 1)));
    REFUSES(MW_ERROR_ARGUMENT, "strides[0] is 0, it must be at least 1", max(F(1, 1, 4), VALID(S(2), 0)));
    REFUSES(MW_ERROR_ARGUMENT, "strides[0] is -2", avg(F(1, 1, 4), VALID(S(2), -2)));
    REFUSES(MW_ERROR_ARGUMENT, "pad[1] is -1, it must be at least 0", max(F(1, 1, 4), CUSTOM(S(2), 1, 0, -1)));
    REFUSES(MW_ERROR_SHAPE, "the window spans 5 on spatial axis 1, x with its padding only 4",
            max(F(1, 1, 9, 2), CUSTOM(S(5, 5), 1, 1, 1)));
    REFUSES(MW_ERROR_SHAPE, "spatial axis 0 of x has extent 0", max(F(1, 1, 0), CUSTOM(S(1), 1, 1, 1)));
    REFUSES(MW_ERROR_ARGUMENT, "strides has 2 elements, the spatial axes need 1",
            op(g, "max_pool", "x", F(1, 1, 4), "kernel_sizes", INTS(2), "strides", INTS(1, 1), "pad_type",
               mw_text(g, "valid"), NULL));
}

static void test_ceil_mode_has_limits(void)
{
    REFUSES(MW_ERROR_ARGUMENT, "ceil_mode does not go with pad_type same",
            max(F(1, 1, 4), CEIL(S(2), 1, MW_PAD_SAME, 0)));
    REFUSES(MW_ERROR_ARGUMENT, "ceil_mode is for one or two spatial axes, not 3",
            max(F(1, 1, 4, 4, 4), CEIL(S(2, 2, 2), 1, MW_PAD_VALID, 0)));
    REFUSES(MW_ERROR_ARGUMENT, "ceil_mode needs equal padding on both sides, spatial axis 0 has 0 and 1",
            max(F(1, 1, 4), with(S(2), 1, MW_PAD_CUSTOM, 0, 1, true)));
}

static void test_pad_type_is_read_in_any_case_of_letters(void)
{
    GIVES(MW_F32, S(1, 1, 4),
          op(g, "max_pool", "x", F(1, 1, 4), "kernel_sizes", INTS(2), "pad_type", mw_text(g, "SAME_lower"), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "pad_type is \"full\", not valid, custom, same or same_lower",
            op(g, "max_pool", "x", F(1, 1, 4), "kernel_sizes", INTS(2), "pad_type", mw_text(g, "full"), NULL));
    REFUSES_IN(MW_IOS15, MW_ERROR_UNSUPPORTED, "same_lower needs opset ios16",
               max(F(1, 1, 4), with(S(2), 1, MW_PAD_SAME_LOWER, 0, 0, false)));
}

static void test_options_must_be_made(void)
{
    REFUSES(MW_ERROR_ARGUMENT, "max_pool: options are not made by mw_pool_defaults", mw_max_pool(F(1, 1, 4), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "options are not made", max(F(1, 1, 4), (mw_pool_options){.kernel = S(2)}));
    REFUSES(MW_ERROR_ARGUMENT, "pad_type is no mw_pad_type",
            max(F(1, 1, 4), with(S(2), 1, (mw_pad_type)9, 0, 0, false)));
    REFUSES(MW_ERROR_ARGUMENT, "one to three extents", max(F(1, 1, 4), mw_pool_defaults(mw_shape_scalar())));
    CHECK(mw_max_pool(NULL, NULL) == NULL);
}

/* Extents near the limit of int64 overflow in none of the sums. */
static void test_hostile_extents_do_not_overflow(void)
{
    const int64_t large = INT32_MAX;
    GIVES(MW_F32, S(1, 1, 1), max(F(1, 1, 4), VALID(S(4), large)));
    GIVES(MW_F32, S(1, 1, 4), avg(F(1, 1, 4), SAME(S(large), 1)));
    GIVES(MW_F32, S(1, 1, 2), max(F(1, 1, 4), CUSTOM(S(large), large, large, large)));
    REFUSES(MW_ERROR_SHAPE, "spatial axis 0 of x has extent", max(F(1, 1, INT64_MAX), VALID(S(1), 1)));
}

static void test_windows_know_their_elements(void)
{
    const mw__window w = {.in = 5, .kernel = 3, .stride = 2, .dilation = 2, .span = 5, .before = 3, .after = 1};
    int64_t begin, end;
    mw__window_inside(&w, 0, &begin, &end); /* at -3, -1, 1 */
    CHECK(begin == 2 && end == 3);
    mw__window_inside(&w, 2, &begin, &end); /* at 1, 3, 5 */
    CHECK(begin == 0 && end == 2);
    CHECK(mw__window_padded(&w, 2) == 3);
    mw__window_inside(&w, 9, &begin, &end);
    CHECK(begin == end && mw__window_padded(&w, 9) == 0);
}

int main(void)
{
    RUN(test_extents_follow_the_pad_type);
    RUN(test_ceil_mode_rounds_up_unless_the_last_window_starts_in_padding);
    RUN(test_unknown_extents_pass);
    RUN(test_rank_and_type_are_checked);
    RUN(test_kernel_stride_and_pad_are_checked);
    RUN(test_ceil_mode_has_limits);
    RUN(test_pad_type_is_read_in_any_case_of_letters);
    RUN(test_options_must_be_made);
    RUN(test_hostile_extents_do_not_overflow);
    RUN(test_windows_know_their_elements);
    return check_finish();
}
