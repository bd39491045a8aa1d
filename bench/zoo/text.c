/* Networks over words: the encoder of BERT (Devlin and others 2019) with its classifier, and a GPT (Radford and others
 * 2019) of middle size. B texts of T words, D channels in H heads of E. Attention and BERT's GELU are spelled from
 * parts, as in the first implementations. */
#include "zoo.h"

#include <math.h>

typedef struct text_form {
    int batch, tokens, words, width, heads, layers;
} text_form;

/* [B, T, D] -> [B, H, T, E] */
static mw_tensor *text_heads(mw_tensor *x, const text_form *f)
{
    const mw_shape shape = MW_SHAPE(f->batch, f->tokens, f->heads, f->width / f->heads);
    return mw_transpose(mw_reshape(x, shape), MW_AXES(0, 2, 1, 3));
}

/* query, key and value [B, T, D] -> [B, T, D]; the mask is added to the scores [B, H, T, T]. */
static mw_tensor *text_attention(mw_tensor *const qkv[3], mw_tensor *mask, const text_form *f)
{
    mw_tensor *scores = mw_matmul(text_heads(qkv[0], f), text_heads(qkv[1], f), MW_TRANSPOSE_Y);
    scores = mw_add(mw_mul_scalar(scores, 1.0 / sqrt((double)f->width / f->heads)), mask);
    mw_tensor *mixed = mw_matmul(mw_softmax(scores, -1), text_heads(qkv[2], f), MW_TRANSPOSE_NONE);
    return mw_reshape(mw_transpose(mixed, MW_AXES(0, 2, 1, 3)), MW_SHAPE(f->batch, f->tokens, f->width));
}

static mw_tensor *table_of(zoo_form *form, const char *name, int rows, int width)
{
    return mw_parameter(form->graph, name, MW_F32, MW_SHAPE(rows, width), mw_init_normal(0.0f, 0.02f));
}

/* ---- BERT ---- */

static mw_tensor *erf_gelu(mw_tensor *x)
{
    mw_tensor *half = mw_mul_scalar(x, 0.5);
    return mw_mul(half, mw_add_scalar(mw_erf(mw_mul_scalar(x, 1.0 / sqrt(2.0))), 1.0));
}

static mw_tensor *bert_attend(mw_tensor *x, mw_tensor *mask, const text_form *f, int layer)
{
    mw_tensor *qkv[3];
    static const char *const names[] = {"query", "key", "value"};
    for (int i = 0; i < 3; i++)
        qkv[i] = zoo_dense(x, f->width, "encoder.layer.%d.attention.self.%s", layer, names[i]);
    mw_tensor *h = text_attention(qkv, mask, f);
    h = zoo_dense(h, f->width, "encoder.layer.%d.attention.output.dense", layer);
    return zoo_layer_norm(mw_add(h, x), "encoder.layer.%d.attention.output.LayerNorm", layer);
}

static mw_tensor *bert_feed_forward(mw_tensor *x, const text_form *f, int layer)
{
    mw_tensor *h = erf_gelu(zoo_dense(x, 4 * f->width, "encoder.layer.%d.intermediate.dense", layer));
    h = zoo_dense(h, f->width, "encoder.layer.%d.output.dense", layer);
    return zoo_layer_norm(mw_add(h, x), "encoder.layer.%d.output.LayerNorm", layer);
}

/* [B, 1, 1, T]: -10000 where a text has ended, which word 0 says. */
static mw_tensor *padding_mask(mw_tensor *x, const text_form *f)
{
    mw_tensor *ended = mw_equal(x, mw_scalar(mw_tensor_graph(x), MW_I32, 0.0));
    mw_tensor *mask = mw_mul_scalar(mw_cast(ended, MW_F32), -10000.0);
    return mw_reshape(mask, MW_SHAPE(f->batch, 1, 1, f->tokens));
}

mw_tensor *zoo_bert(zoo_form *form)
{
    const text_form f =
        form->tiny ? (text_form){form->batch, 8, 64, 16, 2, 2} : (text_form){form->batch, 128, 30522, 768, 12, 4};
    mw_tensor *x = zoo_integers(form, "x", MW_SHAPE(f.batch, f.tokens), f.words);
    mw_tensor *positions = table_of(form, "embeddings.position_embeddings.weight", f.tokens, f.width);
    mw_tensor *kind = table_of(form, "embeddings.token_type_embeddings.weight", 1, f.width);
    mw_tensor *h = mw_gather(table_of(form, "embeddings.word_embeddings.weight", f.words, f.width), x, 0);
    h = zoo_layer_norm(mw_add(mw_add(h, positions), kind), "embeddings.LayerNorm");
    mw_tensor *mask = padding_mask(x, &f);
    for (int layer = 0; layer < f.layers; layer++)
        h = bert_feed_forward(bert_attend(h, mask, &f, layer), &f, layer);
    const mw_slice first[] = {
        {.from_start = true, .to_end = true}, {.begin = 0, .squeeze = true}, {.from_start = true, .to_end = true}};
    h = mw_tanh(zoo_dense(mw_slice_by_index(h, first), f.width, "pooler.dense"));
    return zoo_by_classes(form, zoo_dense(h, 3, "classifier"));
}

/* ---- GPT ---- */

/* [T, T]: 0 where a word may look (at itself and before), else so low that nothing is left after the softmax. */
static mw_tensor *text_causal_mask(zoo_form *form, int tokens)
{
    mw_tensor *ones = mw_fill(form->graph, MW_F32, MW_SHAPE(tokens, tokens), 1.0);
    return mw_mul_scalar(mw_sub(ones, mw_band_part(ones, -1, 0)), -30000.0); /* fp16 holds it */
}

static mw_tensor *gpt_block(mw_tensor *x, mw_tensor *mask, const text_form *f, int layer)
{
    mw_tensor *qkv[3] = {NULL};
    mw_tensor *h = zoo_layer_norm(x, "h.%d.ln_1", layer);
    mw_split(zoo_dense(h, 3 * f->width, "h.%d.attn.c_attn", layer), 3, 2, qkv);
    x = mw_add(x, zoo_dense(text_attention(qkv, mask, f), f->width, "h.%d.attn.c_proj", layer));
    h = zoo_dense(zoo_layer_norm(x, "h.%d.ln_2", layer), 4 * f->width, "h.%d.mlp.c_fc", layer);
    return mw_add(x, zoo_dense(mw_gelu(h, MW_GELU_TANH), f->width, "h.%d.mlp.c_proj", layer));
}

mw_tensor *zoo_gpt(zoo_form *form)
{
    const text_form f =
        form->tiny ? (text_form){form->batch, 8, 64, 16, 2, 2} : (text_form){form->batch, 256, 16384, 512, 8, 6};
    mw_tensor *x = zoo_integers(form, "x", MW_SHAPE(f.batch, f.tokens), f.words);
    mw_tensor *h = mw_gather(table_of(form, "wte.weight", f.words, f.width), x, 0);
    h = mw_add(h, table_of(form, "wpe.weight", f.tokens, f.width));
    mw_tensor *mask = text_causal_mask(form, f.tokens);
    for (int layer = 0; layer < f.layers; layer++)
        h = gpt_block(h, mask, &f, layer);
    h = mw_reshape(zoo_layer_norm(h, "ln_f"), MW_SHAPE((int64_t)f.batch * f.tokens, f.width));
    return zoo_by_classes(form, mw_linear(h, table_of(form, "lm_head.weight", f.words, f.width), NULL));
}
