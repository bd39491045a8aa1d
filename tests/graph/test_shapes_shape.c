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

int main(void)
{
    RUN(test_stack);
    RUN(test_reverse);
    return check_finish();
}
