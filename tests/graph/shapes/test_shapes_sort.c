/* Shape rules of argsort and topk: what they give and what they refuse. */
#include "shape_words.h"

static mw_tensor *values_of(mw_tensor *x, int64_t k, int axis)
{
    mw_tensor *values, *indices;
    mw_topk(x, k, axis, false, &values, &indices);
    return values;
}

static mw_tensor *indices_of(mw_tensor *x, int64_t k, int axis)
{
    mw_tensor *values, *indices;
    mw_topk(x, k, axis, false, &values, &indices);
    return indices;
}

static mw_tensor *typed_indices(mw_graph *g, mw_tensor *x, const char *dtype)
{
    mw_tensor *name = mw_text(g, dtype), *y[2] = {NULL, NULL};
    const mw_argument arguments[] = {{"output_indices_dtype", &name, 1}, {"x", &x, 1}};
    mw_op(g, "topk", arguments, 2, y, 2, NULL);
    return y[1];
}

/* MIL's -1, which the constructor does not take. */
static mw_tensor *all_of(mw_graph *g, mw_tensor *x)
{
    return op(g, "topk", "x", x, "k", mw_scalar(g, MW_I32, -1), "return_indices", mw_scalar(g, MW_BOOL, 0), NULL);
}

static void test_argsort(void)
{
    GIVES(MW_I32, S(2, 5), mw_argsort(F(2, 5), -1, false));
    GIVES(MW_I32, S(2, -1), mw_argsort(H(2, -1), 1, true));
    GIVES(MW_I32, S(0, 3), mw_argsort(N(0, 3), 0, true));
    REFUSES(MW_ERROR_ARGUMENT, "argsort: axis 2 is outside [-2, 2)", mw_argsort(F(2, 5), 2, false));
    REFUSES(MW_ERROR_ARGUMENT, "axis -1 is outside [0, 0)", mw_argsort(SCALAR, -1, false));
    REFUSES(MW_ERROR_DTYPE, "x is bool, not fp16, fp32 or int32", mw_argsort(B(2), 0, false));
    REFUSES(MW_ERROR_ARGUMENT, "axis must be a constant", op(g, "argsort", "x", F(2), "axis", SCALARI, NULL));
    REFUSES(MW_ERROR_ARGUMENT, "an index into 2147483649 elements does not fit int32",
            mw_argsort(F(2147483649), 0, false));
}

static void test_topk(void)
{
    GIVES(MW_F32, S(2, 3), values_of(F(2, 5), 3, -1));
    GIVES(MW_I32, S(2, 3), indices_of(F(2, 5), 3, -1));
    GIVES(MW_F16, S(2, 5), values_of(H(7, 5), 2, 0));
    GIVES(MW_I32, S(2, 3), values_of(N(2, -1), 3, 1));
    GIVES_IN(MW_IOS15, MW_I32, S(3), indices_of(F(5), 3, 0));
    GIVES_IN(MW_IOS16, MW_I32, S(3), indices_of(F(5), 3, 0));
    GIVES_IN(MW_IOS16, MW_F32, S(1), op(g, "topk", "x", F(5), "return_indices", mw_scalar(g, MW_BOOL, 0), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "topk: k 6 must be at least 1 and at most the extent 5 of axis 1",
            values_of(F(2, 5), 6, 1));
    REFUSES(MW_ERROR_ARGUMENT, "k 0 must be", values_of(F(2, 5), 0, 1));
    REFUSES(MW_ERROR_ARGUMENT, "k -1 must be", values_of(F(2, -1), -1, 1));
    GIVES(MW_F32, S(5), all_of(g, F(5)));
    GIVES(MW_F32, S(-1), all_of(g, F(-1)));
    REFUSES_IN(MW_IOS16, MW_ERROR_ARGUMENT, "k -1 must be", all_of(g, F(5)));
    REFUSES(MW_ERROR_ARGUMENT, "axis -3 is outside [-2, 2)", values_of(F(2, 5), 1, -3));
    REFUSES(MW_ERROR_DTYPE, "x is bool", values_of(B(2, 5), 1, 0));
    REFUSES(MW_ERROR_ARGUMENT, "k must be a constant", op(g, "topk", "x", F(2), "k", SCALARI, NULL));
    REFUSES_IN(MW_IOS15, MW_ERROR_ARGUMENT, "has no argument \"sort\"",
               op(g, "topk", "x", F(2), "sort", mw_scalar(g, MW_BOOL, 0), NULL));
    REFUSES_IN(MW_IOS16, MW_ERROR_ARGUMENT, "has no argument \"output_indices_dtype\"",
               typed_indices(g, F(2), "int32"));
}

static void test_topk_index_types(void)
{
    GIVES(MW_U16, S(2, 1), typed_indices(g, F(2, 65536), "uint16"));
    GIVES(MW_I16, S(2, 1), typed_indices(g, F(2, 32768), "int16"));
    GIVES(MW_U8, S(1), typed_indices(g, F(-1), "uint8"));
    GIVES(MW_I8, S(1), typed_indices(g, F(128), "int8"));
    REFUSES(MW_ERROR_ARGUMENT, "an index into 65537 elements does not fit uint16",
            typed_indices(g, F(2, 65537), "uint16"));
    REFUSES(MW_ERROR_ARGUMENT, "does not fit int8", typed_indices(g, F(129), "int8"));
    REFUSES(MW_ERROR_DTYPE, "output_indices_dtype \"fp32\" is none of int8, int16, int32, uint8, uint16",
            typed_indices(g, F(5), "fp32"));
}

static void test_topk_wants_a_place_for_its_values(void)
{
    mw_graph *g = make_graph(MW_IOS18, NULL);
    mw_error err = {0};
    mw_tensor *indices = NULL;
    CHECK(mw_topk(F(5), 2, 0, false, NULL, &indices) == MW_ERROR_ARGUMENT && indices == NULL);
    mw_graph_check(g, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "topk: no place for the values");
    mw_graph_destroy(g);
}

/* Result `result` of four; MW_IOS17 has no counts. */
static mw_tensor *kept(mw_tensor *boxes, mw_tensor *scores, int64_t most, int result, bool counts)
{
    mw_tensor *y[4] = {NULL, NULL, NULL, NULL};
    mw_non_maximum_suppression(boxes, scores, most, NULL, &y[0], &y[1], &y[2], counts ? &y[3] : NULL);
    return y[result];
}

static void test_non_maximum_suppression(void)
{
    GIVES_IN(MW_IOS15, MW_F32, S(2, 9, 4), kept(F(2, 7, 4), F(2, 7, 3), 9, 0, true));
    GIVES_IN(MW_IOS15, MW_F32, S(2, 9, 3), kept(F(2, 7, 4), F(2, 7, 3), 9, 1, true));
    GIVES_IN(MW_IOS16, MW_I32, S(2, 9), kept(H(2, -1, 4), H(2, 7, 3), 9, 2, true));
    GIVES_IN(MW_IOS16, MW_I32, S(2), kept(F(-1, 7, 4), F(2, 7, 3), 9, 3, true));
    GIVES(MW_F16, S(2, 4, 5), kept(H(2, 4, 7), H(2, 3, 7), 5, 0, false));
    GIVES(MW_F16, S(2, 3, 5), kept(H(2, 4, 7), H(2, 3, 7), 5, 1, false));
    GIVES(MW_I32, S(2, 5), kept(F(2, 4, 7), F(2, 3, 7), 5, 2, false));
    REFUSES_IN(MW_IOS16, MW_ERROR_SHAPE, "boxes and scores must be [N, B, 4] and [N, B, K]",
               kept(F(2, 4, 7), F(2, 3, 7), 5, 0, true));
    REFUSES(MW_ERROR_SHAPE, "boxes and scores must be [N, 4, B] and [N, K, B]",
            kept(F(2, 7, 4), F(2, 7, 3), 5, 0, false));
    REFUSES(MW_ERROR_SHAPE, "boxes and scores must be", kept(F(2, 4, 7), F(3, 1, 7), 5, 0, false));
    REFUSES(MW_ERROR_SHAPE, "scores must have at least one class", kept(F(2, 4, 7), F(2, 0, 7), 5, 0, false));
    REFUSES(MW_ERROR_ARGUMENT, "max_boxes is 0, it must be at least 1", kept(F(2, 4, 7), F(2, 1, 7), 0, 0, false));
    REFUSES(MW_ERROR_DTYPE, "convert one with cast", kept(F(2, 4, 7), H(2, 1, 7), 1, 0, false));
    REFUSES(MW_ERROR_UNSUPPORTED, "from ios17 on there is no score_threshold and no count",
            kept(F(2, 4, 7), F(2, 1, 7), 1, 0, true));
}

static void test_non_maximum_suppression_wants_places_and_options(void)
{
    mw_non_maximum_suppression_options bad = {0};
    mw_graph *g = make_graph(MW_IOS18, NULL);
    mw_error err = {0};
    mw_tensor *boxes = NULL, *scores = NULL;
    CHECK_INT(mw_non_maximum_suppression(F(1, 4, 7), F(1, 1, 7), 1, NULL, &boxes, NULL, NULL, NULL), MW_ERROR_ARGUMENT);
    mw_graph_check(g, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "non_maximum_suppression: no place for the boxes or the scores");
    mw_graph_destroy(g);
    mw_error_clear(&err);
    g = make_graph(MW_IOS18, NULL);
    CHECK_INT(mw_non_maximum_suppression(F(1, 4, 7), F(1, 1, 7), 1, &bad, &boxes, &scores, NULL, NULL),
              MW_ERROR_ARGUMENT);
    CHECK(boxes == NULL && scores == NULL);
    mw_graph_check(g, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "options are not made by mw_non_maximum_suppression_defaults");
    mw_graph_destroy(g);
}

int main(void)
{
    RUN(test_argsort);
    RUN(test_topk);
    RUN(test_topk_index_types);
    RUN(test_topk_wants_a_place_for_its_values);
    RUN(test_non_maximum_suppression);
    RUN(test_non_maximum_suppression_wants_places_and_options);
    return check_finish();
}
