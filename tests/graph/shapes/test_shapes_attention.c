/* Shape rule of attention, and of its composed form in graphs of older opsets. */
#include "shape_words.h"

static void test_attention_shapes(void)
{
    GIVES(MW_F32, S(2, 5, 3), mw_scaled_dot_product_attention(F(2, 5, 4), F(2, 7, 4), F(2, 7, 3), NULL));
    GIVES(MW_F16, S(2, 8, 5, 3), mw_scaled_dot_product_attention(H(2, 8, 5, 4), H(2, 8, 7, 4), H(2, 8, 7, 3), H(5, 7)));
    GIVES(MW_F32, S(2, 5, 3), mw_scaled_dot_product_attention(F(2, 5, 4), F(2, 7, 4), F(2, 7, 3), B(1, 1, 7)));
    GIVES(MW_F32, S(2, -1, 3), mw_scaled_dot_product_attention(F(-1, -1, 4), F(2, -1, 4), F(-1, 7, 3), F(5, 7)));
    GIVES(MW_F32, S(2, 5, -1), mw_scaled_dot_product_attention(F(2, 5, -1), F(2, 7, 4), F(2, -1, -1), NULL));
    GIVES(MW_F32, S(0, 5, 3), mw_scaled_dot_product_attention(F(0, 5, 4), F(0, 7, 4), F(0, 7, 3), NULL));
    GIVES_IN(MW_IOS17, MW_F32, S(2, 5, 3),
             mw_scaled_dot_product_attention(F(2, 5, 4), F(2, 7, 4), F(2, 7, 3), B(1, 1, 7)));
    GIVES_IN(MW_IOS15, MW_F16, S(2, 5, 3),
             mw_scaled_dot_product_attention(H(2, 5, 4), H(2, 7, 4), H(2, 7, 3), H(5, 7)));
}

static void test_attention_refuses(void)
{
    REFUSES(MW_ERROR_SHAPE, "scaled_dot_product_attention: query \"q\" [5, 4] has rank 2, at least 3",
            mw_scaled_dot_product_attention(mw_input(g, "q", MW_F32, S(5, 4)), F(7, 4), F(7, 3), NULL));
    REFUSES(MW_ERROR_SHAPE, "ranks differ: query",
            mw_scaled_dot_product_attention(F(2, 5, 4), F(1, 2, 7, 4), F(2, 7, 3), NULL));
    REFUSES(MW_ERROR_SHAPE,
            "batch extents differ (they do not broadcast): query \"q\" [2, 5, 4] and value \"v\" [1, 7, 3]",
            mw_scaled_dot_product_attention(mw_input(g, "q", MW_F32, S(2, 5, 4)), F(2, 7, 4),
                                            mw_input(g, "v", MW_F32, S(1, 7, 3)), NULL));
    REFUSES(MW_ERROR_SHAPE, "the last extents differ: query",
            mw_scaled_dot_product_attention(F(2, 5, 4), F(2, 7, 6), F(2, 7, 3), NULL));
    REFUSES(MW_ERROR_SHAPE, "one value for each key is wanted: key",
            mw_scaled_dot_product_attention(F(2, 5, 4), F(2, 7, 4), F(2, 6, 3), NULL));
    REFUSES(MW_ERROR_SHAPE, "has no elements to attend to",
            mw_scaled_dot_product_attention(F(2, 5, 4), F(2, 0, 4), F(2, 0, 3), NULL));
    REFUSES(
        MW_ERROR_SHAPE, "attn_mask \"m\" [2, 1, 5, 7] does not broadcast to the scores [2, 5, 7]",
        mw_scaled_dot_product_attention(F(2, 5, 4), F(2, 7, 4), F(2, 7, 3), mw_input(g, "m", MW_F32, S(2, 1, 5, 7))));
    REFUSES(MW_ERROR_SHAPE, "does not broadcast to the scores",
            mw_scaled_dot_product_attention(F(2, 1, 4), F(2, 7, 4), F(2, 7, 3), F(5, 7)));
    REFUSES(MW_ERROR_DTYPE, "attn_mask is int32, not bool, fp16 or fp32",
            mw_scaled_dot_product_attention(F(2, 5, 4), F(2, 7, 4), F(2, 7, 3), N(5, 7)));
    REFUSES(MW_ERROR_DTYPE, "key is fp16 but query is fp32",
            mw_scaled_dot_product_attention(F(2, 5, 4), H(2, 7, 4), F(2, 7, 3), NULL));
    REFUSES_IN(
        MW_IOS17, MW_ERROR_UNSUPPORTED, "needs opset ios18",
        op(g, "scaled_dot_product_attention", "query", F(2, 5, 4), "key", F(2, 7, 4), "value", F(2, 7, 3), NULL));
}

/* The composed form refuses what the operation refuses, though its parts would broadcast. */
static void test_composed_attention_refuses(void)
{
    REFUSES_IN(MW_IOS17, MW_ERROR_SHAPE, "query [2, 5, 4], key [1, 7, 4] and value [2, 7, 3] must have one rank",
               mw_scaled_dot_product_attention(F(2, 5, 4), F(1, 7, 4), F(2, 7, 3), NULL));
    REFUSES_IN(MW_IOS17, MW_ERROR_SHAPE, "mask [3, 2, 5, 7] does not broadcast to the scores [2, 5, 7]",
               mw_scaled_dot_product_attention(F(2, 5, 4), F(2, 7, 4), F(2, 7, 3), F(3, 2, 5, 7)));
    REFUSES_IN(MW_IOS17, MW_ERROR_SHAPE, "inner dimensions differ",
               mw_scaled_dot_product_attention(F(2, 5, 4), F(2, 7, 6), F(2, 7, 3), NULL));
    REFUSES_IN(MW_IOS17, MW_ERROR_SHAPE, "inner dimensions differ",
               mw_scaled_dot_product_attention(F(2, 5, 4), F(2, 7, 4), F(2, 6, 3), NULL));
}

static mw_tensor *layer(mw_tensor *query, mw_tensor *key, mw_tensor *value, int64_t heads)
{
    return mw_multi_head_attention_layer(query, key, value, heads, NULL, "a");
}

static void test_layer_shapes(void)
{
    GIVES(MW_F32, S(2, 5, 6), layer(F(2, 5, 6), NULL, NULL, 3));
    GIVES(MW_F16, S(2, 5, 6), layer(H(2, 5, 6), H(2, 7, 6), NULL, 2));
    GIVES(MW_F32, S(2, 5, 6), layer(F(2, 5, 6), F(2, 7, 6), F(2, 7, 6), 1));
    GIVES(MW_F32, S(2, -1, 6), layer(F(2, -1, 6), NULL, NULL, 3));
    GIVES(MW_F32, S(18, 6), (layer(F(2, 5, 6), NULL, NULL, 3), mw_graph_find(g, "a.in_proj_weight")));
    GIVES(MW_F32, S(6), (layer(F(2, 5, 6), NULL, NULL, 3), mw_graph_find(g, "a.out_proj.bias")));
    CHECK(layer(NULL, NULL, NULL, 3) == NULL);
}

static void test_layer_refuses(void)
{
    REFUSES(MW_ERROR_SHAPE, "multi_head_attention_layer \"a\": the query [5, 6] must be [batch, length, E]",
            layer(F(5, 6), NULL, NULL, 3));
    REFUSES(MW_ERROR_ARGUMENT, "4 heads do not divide the extent 6", layer(F(2, 5, 6), NULL, NULL, 4));
    REFUSES(MW_ERROR_ARGUMENT, "0 heads do not divide", layer(F(2, 5, 6), NULL, NULL, 0));
    REFUSES(MW_ERROR_SHAPE, "the key fp32 [2, 7, 8] is not [batch, length, 6] fp32",
            layer(F(2, 5, 6), F(2, 7, 8), NULL, 3));
    REFUSES(MW_ERROR_SHAPE, "the value fp16 [2, 5, 6] is not [batch, length, 6] fp32",
            layer(F(2, 5, 6), F(2, 5, 6), H(2, 5, 6), 3));
    REFUSES(MW_ERROR_SHAPE, "does not broadcast to the scores",
            mw_multi_head_attention_layer(F(2, 5, 6), NULL, NULL, 3, F(4, 5), "a"));
    REFUSES(MW_ERROR_ARGUMENT, "multi_head_attention_layer: the name is empty",
            mw_multi_head_attention_layer(F(2, 5, 6), NULL, NULL, 3, NULL, NULL));
}

int main(void)
{
    RUN(test_attention_shapes);
    RUN(test_attention_refuses);
    RUN(test_composed_attention_refuses);
    RUN(test_layer_shapes);
    RUN(test_layer_refuses);
    return check_finish();
}
