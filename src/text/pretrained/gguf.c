/* GGUF: configuration from its keys, weights under its names. Keys are those of the GGUF specification and of
 * llama.cpp; what would change the numbers and is not built is refused. */
#include "base/number/number.h"
#include "text/pretrained/pretrained.h"

#include <millwright/tensors.h>
#include <stdio.h>
#include <string.h>

static const mw__pretrained_architecture architectures[] = {
    {"llama", "llama", true, false},  {"mistral", "llama", true, false}, {"gpt2", "gpt2", false, false},
    {"qwen2", "qwen2", false, false}, {"qwen3", "qwen3", false, false},  {"gemma2", "gemma2", false, true},
    {"bert", "bert", false, false},
};

const mw__pretrained_architecture *mw__pretrained_architecture_of(const char *family)
{
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++)
        if (strcmp(architectures[i].family, family) == 0)
            return &architectures[i];
    return NULL;
}

/* ---- keys ---- */

/* Keys of one architecture. */
typedef struct gguf_keys {
    mw_tensors *tensors;
    const char *architecture;
    mw_error *err;
} gguf_keys;

static const char *find_key(const gguf_keys *k, const char *name)
{
    char key[160];
    snprintf(key, sizeof key, "%s.%s", k->architecture, name);
    return mw_tensors_note_find(k->tensors, key);
}

/* A count; `otherwise` < 0: it has to be there. */
static mw_status take_count(const gguf_keys *k, const char *name, int64_t otherwise, int64_t *out)
{
    const char *text = find_key(k, name);
    if (text == NULL && otherwise >= 0) {
        *out = otherwise;
        return MW_OK;
    }
    if (text == NULL)
        return mw__fail(k->err, MW_ERROR_FORMAT, "the file has no key \"%s.%s\"", k->architecture, name);
    if (!mw__number_read_i64(text, strlen(text), out) || *out < 1 || *out > 1000000000)
        return mw__fail(k->err, MW_ERROR_FORMAT, "\"%s.%s\" is %.40s, no count from 1 to 1000000000", k->architecture,
                        name, text);
    return MW_OK;
}

static mw_status take_positive(const gguf_keys *k, const char *name, double otherwise, double *out)
{
    const char *text = find_key(k, name);
    *out = otherwise;
    if (text == NULL || (mw__number_read(text, strlen(text), MW__NUMBER_F64, out) && *out > 0.0 && *out < 1e12))
        return MW_OK;
    return mw__fail(k->err, MW_ERROR_FORMAT, "\"%s.%s\" is %.40s", k->architecture, name, text);
}

/* ---- the configuration ---- */

static mw_status take_family(gguf_keys *k, mw_text_config *c)
{
    const char *name = mw_tensors_note_find(k->tensors, "general.architecture");
    const bool has_window = name != NULL && strcmp(name, "llama") == 0;
    k->architecture = name != NULL ? name : "";
    for (size_t i = 0; name != NULL && i < sizeof architectures / sizeof *architectures; i++) {
        if (strcmp(architectures[i].name, name) != 0)
            continue;
        const bool windowed = has_window && find_key(k, "attention.sliding_window") != NULL;
        *c = mw_text_config_defaults(windowed ? "mistral" : architectures[i].family);
        return MW_OK;
    }
    return mw__fail(k->err, MW_ERROR_UNSUPPORTED,
                    "general.architecture is \"%.60s\"; known are llama, gpt2, qwen2, qwen3, gemma2 and bert",
                    name != NULL ? name : "");
}

/* The vocabulary says how many words there are where no key does. */
static mw_status take_words(const gguf_keys *k, mw_text_config *c)
{
    const mw_tensor_info *table = mw_tensors_find(k->tensors, "token_embd.weight");
    if (table == NULL || table->shape.rank != 2 || table->shape.dim[0] < 1)
        return mw__fail(k->err, MW_ERROR_FORMAT, "the file has no table \"token_embd.weight\" of words");
    c->words = table->shape.dim[0];
    return MW_OK;
}

static mw_status take_sizes(const gguf_keys *k, mw_text_config *c)
{
    MW_TRY(take_count(k, "block_count", -1, &c->layers));
    MW_TRY(take_count(k, "embedding_length", -1, &c->width));
    MW_TRY(take_count(k, "attention.head_count", -1, &c->heads));
    MW_TRY(take_count(k, "attention.head_count_kv", c->heads, &c->kv_heads));
    MW_TRY(take_count(k, "attention.key_length", c->width / c->heads, &c->head_width));
    MW_TRY(take_count(k, "feed_forward_length", -1, &c->hidden));
    MW_TRY(take_count(k, "context_length", -1, &c->positions));
    MW_TRY(take_words(k, c));
    int64_t value_width = 0, turned = 0, experts = 0;
    MW_TRY(take_count(k, "attention.value_length", c->head_width, &value_width));
    MW_TRY(take_count(k, "rope.dimension_count", c->head_width, &turned));
    MW_TRY(take_count(k, "expert_count", 0, &experts));
    if (value_width == c->head_width && turned == c->head_width && experts == 0)
        return MW_OK;
    return mw__fail(k->err, MW_ERROR_UNSUPPORTED,
                    "heads of %lld with values of %lld, %lld turned channels and %lld experts are not built",
                    (long long)c->head_width, (long long)value_width, (long long)turned, (long long)experts);
}

static mw_status take_rope_table(const gguf_keys *k, mw_text_config *c)
{
    const mw_tensor_info *table = mw_tensors_find(k->tensors, "rope_freqs.weight");
    const int64_t half = c->head_width / 2;
    if (table == NULL)
        return MW_OK;
    if (mw_shape_count(table->shape) != half || half < 1)
        return mw__fail(k->err, MW_ERROR_FORMAT, "rope_freqs.weight has not %lld factors", (long long)half);
    float *factors = mw__alloc(mw__allocator_default(), (size_t)half, sizeof *factors, k->err);
    if (factors == NULL)
        return MW_ERROR_MEMORY;
    mw_status status = mw_tensors_read(k->tensors, table->name, MW_F32, factors, (size_t)half, k->err);
    if (status == MW_OK)
        status = mw__pretrained_take_rope_factors(factors, c, k->err);
    mw__free(mw__allocator_default(), factors);
    return status;
}

static mw_status take_rope(const gguf_keys *k, mw_text_config *c)
{
    const char *scaling = find_key(k, "rope.scaling.type");
    double factor = 1.0;
    MW_TRY(take_positive(k, "rope.freq_base", c->rope_theta, &c->rope_theta));
    MW_TRY(take_positive(k, "rope.scaling.factor", 1.0, &factor));
    MW_TRY(take_positive(k, "rope.scale_linear", factor, &factor));
    if ((scaling == NULL || strcmp(scaling, "none") == 0 || strcmp(scaling, "linear") == 0) && factor == 1.0)
        return take_rope_table(k, c);
    return mw__fail(k->err, MW_ERROR_UNSUPPORTED,
                    "positions are scaled by \"%.40s\", factor %g; Llama 3's factors are known",
                    scaling != NULL ? scaling : "linear", factor);
}

/* llama.cpp divides Gemma 2's scores by the root of a head's width, but for the one of 46 layers. */
void mw__pretrained_gguf_scale(mw_text_config *c)
{
    if (strcmp(c->family, "gemma2") == 0)
        c->query_scale = c->layers == 46 ? (double)c->width / (double)c->heads : (double)c->head_width;
}

/* The table says how many kinds of tokens there are: readers do, too. */
static mw_status take_types(const gguf_keys *k, mw_text_config *c)
{
    const mw_tensor_info *table = mw_tensors_find(k->tensors, "token_types.weight");
    if (table == NULL || table->shape.rank != 2 || table->shape.dim[0] < 1)
        return mw__fail(k->err, MW_ERROR_FORMAT, "the file has no table \"token_types.weight\" of kinds of tokens");
    c->types = table->shape.dim[0];
    const char *causal = find_key(k, "attention.causal");
    if (causal == NULL || strcmp(causal, "false") == 0)
        return MW_OK;
    return mw__fail(k->err, MW_ERROR_UNSUPPORTED, "%s.attention.causal is %.20s; %s looks at whole texts",
                    k->architecture, causal, c->family);
}

static mw_status take_rest(const gguf_keys *k, mw_text_config *c)
{
    double epsilon = 0.0;
    const mw__family *family = mw__language_family(c->family);
    const bool gemma = strcmp(c->family, "gemma2") == 0;
    MW_TRY(take_positive(
        k, family->norm == MW__NET_LAYER_NORM ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon",
        (double)c->norm_epsilon, &epsilon));
    c->norm_epsilon = (float)epsilon;
    MW_TRY(take_count(k, "attention.sliding_window", gemma ? 4096 : 0, &c->window));
    MW_TRY(take_positive(k, "attn_logit_softcapping", gemma ? 50.0 : 0.0, &c->score_softcap));
    MW_TRY(take_positive(k, "final_logit_softcapping", gemma ? 30.0 : 0.0, &c->logit_softcap));
    mw__pretrained_gguf_scale(c);
    c->tied = mw_tensors_find(k->tensors, "output.weight") == NULL;
    return family->encoder ? take_types(k, c) : MW_OK;
}

mw_status mw__pretrained_gguf_config(mw_tensors *tensors, mw_text_config *out, mw_error *err)
{
    gguf_keys k = {.tensors = tensors, .err = err};
    MW_TRY(take_family(&k, out));
    MW_TRY(take_sizes(&k, out));
    MW_TRY(take_rope(&k, out));
    return take_rest(&k, out);
}

/* ---- weights ---- */

/* The shape of the file: [outputs, inputs]. */
static mw_shape shape_in_gguf(const mw__pretrained_weight *w)
{
    return w->inputs_first ? MW_SHAPE(w->shape.dim[1], w->shape.dim[0]) : w->shape;
}

static mw_status check_stored(const mw__pretrained *p, const mw__pretrained_weight *w, mw_error *err)
{
    const mw_tensor_info *info = mw_tensors_find(p->tensors, w->gguf);
    if (info != NULL && mw_shape_equal(info->shape, shape_in_gguf(w)))
        return MW_OK;
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": \"%.60s\" %s", p->path, w->gguf,
                    info != NULL ? "has not the shape that its keys make it have"
                                 : "is missing, or of a type that is not read");
}

static mw_status open_gguf(mw__pretrained *p, mw_error *err)
{
    p->tensors = mw_tensors_open(p->path, err);
    MW_TRY(err->status);
    MW_TRY(mw__pretrained_gguf_config(p->tensors, &p->config, err));
    MW_TRY(mw__pretrained_list(&p->config, &p->arena, &p->weights, &p->count, err));
    for (size_t i = 0; i < p->count; i++)
        MW_TRY(check_stored(p, &p->weights[i], err));
    return MW_OK;
}

static mw_status read_gguf(mw__pretrained *p, size_t weight, float *out, mw_error *err)
{
    const mw__pretrained_weight *w = &p->weights[weight];
    const mw__pretrained_architecture *a = mw__pretrained_architecture_of(p->config.family);
    const size_t count = (size_t)mw_shape_count(w->shape);
    MW_TRY(mw_tensors_read(p->tensors, w->gguf, MW_F32, out, count, err));
    for (size_t i = 0; a->from_one && w->shape.rank == 1 && i < count; i++)
        out[i] -= 1.0F;
    return mw__pretrained_turn(w, a->pairs, true, out, err);
}

const mw__pretrained_form mw__pretrained_gguf = {.name = "GGUF", .open = open_gguf, .read = read_gguf};
