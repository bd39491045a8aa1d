/* Writes GGUF: the keys of a configuration, the vocabulary, and weights in the order and the types that llama.cpp's own
 * converter gives them. */
#include "text/pretrained/save.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- keys ---- */

static void add_value(mw__saving_keys *k, const char *key, const char *type, const void *data, size_t size)
{
    void *kept = mw__arena_alloc(&k->arena, 1, size, k->err);
    const char *name = mw__arena_keep(&k->arena, key, k->err);
    if (kept == NULL || name == NULL ||
        mw__grow(mw__allocator_default(), &k->values, &k->capacity, k->count + 1, sizeof *k->values, k->err) != MW_OK)
        return;
    memcpy(kept, data, size);
    k->values[k->count++] = (mw_gguf_value){.key = name, .type = type, .data = kept};
}

void mw__saving_add_u32(mw__saving_keys *k, const char *key, int64_t value)
{
    const uint32_t number = (uint32_t)value;
    add_value(k, key, "u32", &number, sizeof number);
}

void mw__saving_add_f32(mw__saving_keys *k, const char *key, double value)
{
    const float number = (float)value;
    add_value(k, key, "f32", &number, sizeof number);
}

void mw__saving_add_bool(mw__saving_keys *k, const char *key, bool value)
{
    const uint8_t byte = value;
    add_value(k, key, "bool", &byte, 1);
}

void mw__saving_add_text(mw__saving_keys *k, const char *key, const char *value)
{
    const char *kept = mw__arena_keep(&k->arena, value, k->err);
    if (kept != NULL)
        add_value(k, key, "string", &kept, sizeof kept);
}

void mw__saving_add_array(mw__saving_keys *k, const char *key, const char *type, size_t count, const void *data)
{
    const size_t before = k->count;
    add_value(k, key, type, &(char){0}, 1);
    if (k->count == before)
        return;
    k->values[before].array = true;
    k->values[before].count = count;
    k->values[before].data = data;
}

/* ---- the configuration ---- */

/* A key of the architecture. */
static const char *key_of(char out[160], const char *architecture, const char *name)
{
    snprintf(out, 160, "%s.%s", architecture, name);
    return out;
}

static void add_sizes(mw__saving_keys *k, const mw_text_config *c, const char *a)
{
    char key[160];
    const struct {
        const char *name;
        int64_t value;
    } counts[] = {{"context_length", c->positions},
                  {"embedding_length", c->width},
                  {"block_count", c->layers},
                  {"feed_forward_length", c->hidden},
                  {"attention.head_count", c->heads},
                  {"attention.head_count_kv", c->kv_heads},
                  {"attention.key_length", c->head_width},
                  {"attention.value_length", c->head_width},
                  {"rope.dimension_count", c->head_width},
                  {"vocab_size", c->words}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        mw__saving_add_u32(k, key_of(key, a, counts[i].name), counts[i].value);
}

static void add_numbers(mw__saving_keys *k, const mw_text_config *c, const char *a)
{
    char key[160];
    const bool layer_norm = mw__language_family(c->family)->norm == MW__NET_LAYER_NORM;
    mw__saving_add_f32(k,
                       key_of(key, a, layer_norm ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon"),
                       (double)c->norm_epsilon);
    if (!layer_norm)
        mw__saving_add_f32(k, key_of(key, a, "rope.freq_base"), c->rope_theta);
    if (c->window > 0)
        mw__saving_add_u32(k, key_of(key, a, "attention.sliding_window"), c->window);
    if (c->score_softcap > 0.0)
        mw__saving_add_f32(k, key_of(key, a, "attn_logit_softcapping"), c->score_softcap);
    if (c->logit_softcap > 0.0)
        mw__saving_add_f32(k, key_of(key, a, "final_logit_softcapping"), c->logit_softcap);
}

/* Vectors are scaled by who asks for them: GGUF does not say whether to. */
static mw_status add_encoder(mw__saving_keys *k, const mw__pretrained *p, const char *a, mw_error *err)
{
    char key[160];
    mw__pretrained_sentence sentence;
    MW_TRY(mw__pretrained_read_sentence(p, &sentence, err));
    mw__saving_add_bool(k, key_of(key, a, "attention.causal"), false);
    mw__saving_add_u32(k, key_of(key, a, "pooling_type"), sentence.pooling == MW_POOLING_CLS ? 2 : 1);
    mw__saving_add_u32(k, "tokenizer.ggml.token_type_count", p->config.types);
    return MW_OK;
}

/* What readers suppose, as no key says it. */
static mw_status check_config(const mw_text_config *c, mw_error *err)
{
    mw_text_config supposed = *c;
    mw__pretrained_gguf_scale(&supposed);
    const double own = c->query_scale > 0.0 ? c->query_scale : (double)c->head_width;
    const double other = supposed.query_scale > 0.0 ? supposed.query_scale : (double)c->head_width;
    if (own != other)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "GGUF has no query_pre_attn_scalar: readers take %g, and this network has %g", other, own);
    if (strcmp(c->family, "gemma2") == 0 && (c->score_softcap == 0.0 || c->logit_softcap == 0.0 || c->window == 0))
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "GGUF supposes soft caps and a window of gemma2, which this network lacks");
    return MW_OK;
}

/* ---- tensors ---- */

/* The tensors of a file, and the room in which one is made. */
typedef struct gguf_saving {
    mw__saving *saving;
    mw_gguf_tensor *tensors; /* of the weights that have a place, then the factors of positions */
    size_t *weights;         /* which these are */
    size_t count;
    bool has_factors;
    float *room;
} gguf_saving;

static const char *stored_type(const mw__saving *s, const mw__pretrained_weight *w)
{
    const mw_tensor_info *info = s->source.tensors != NULL ? mw__pretrained_stored(s->source.tensors, w->name) : NULL;
    if (s->source.tensors != NULL && info == NULL && w->gguf != NULL)
        info = mw_tensors_find(s->source.tensors, w->gguf);
    return info != NULL && info->dtype == MW_F16 ? "F16" : info != NULL && info->dtype == MW_BF16 ? "BF16" : "F32";
}

/* Vectors and places are floats, as llama.cpp wants them. Rows that are no whole blocks are halves, and beside weights
 * of 4 bits the head, or the table that it is, has 8. */
static const char *type_of(const mw__saving *s, const mw__pretrained_weight *w, int64_t row)
{
    const char *type = s->options->type != NULL ? s->options->type : stored_type(s, w);
    const bool head = w->part == MW__PART_HEAD || (w->part == MW__PART_WORDS && s->source.config.tied);
    if (!w->product || w->part == MW__PART_PLACES || w->part == MW__PART_TYPES)
        return "F32";
    if (type[0] == 'Q' && row % 32 != 0)
        return "F16";
    return strcmp(type, "Q4_0") == 0 && head ? "Q8_0" : type;
}

static mw_gguf_tensor tensor_of(const mw__saving *s, const mw__pretrained_weight *w)
{
    mw_shape shape = w->shape;
    if (w->inputs_first)
        shape = MW_SHAPE(w->shape.dim[1], w->shape.dim[0]);
    return (mw_gguf_tensor){.name = w->gguf, .type = type_of(s, w, shape.dim[shape.rank - 1]), .shape = shape};
}

static mw_status list_tensors(gguf_saving *g, mw_error *err)
{
    mw__pretrained *p = &g->saving->source;
    size_t most = (size_t)p->config.head_width;
    g->has_factors = p->config.rope_factor != 1.0;
    g->tensors = mw__arena_alloc(&p->arena, p->count + 1, sizeof *g->tensors, err);
    g->weights = mw__arena_alloc(&p->arena, p->count + 1, sizeof *g->weights, err);
    if (g->tensors == NULL || g->weights == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < p->count; i++) {
        const size_t count = (size_t)mw_shape_count(p->weights[i].shape);
        if (p->weights[i].gguf == NULL)
            continue;
        g->weights[g->count] = i;
        g->tensors[g->count++] = tensor_of(g->saving, &p->weights[i]);
        most = count > most ? count : most;
    }
    if (g->has_factors)
        g->tensors[g->count++] = (mw_gguf_tensor){"rope_freqs.weight", "F32", MW_SHAPE(p->config.head_width / 2)};
    g->room = mw__alloc(mw__allocator_default(), most, sizeof *g->room, err);
    return g->room != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static const float *fetch_tensor(void *user, size_t i, mw_error *err)
{
    gguf_saving *g = user;
    mw__pretrained *p = &g->saving->source;
    const mw__pretrained_architecture *a = mw__pretrained_architecture_of(p->config.family);
    if (g->has_factors && i + 1 == g->count) {
        mw__pretrained_rope_factors(&p->config, g->room);
        return g->room;
    }
    const mw__pretrained_weight *w = &p->weights[g->weights[i]];
    if (mw__saving_read(g->saving, g->weights[i], g->room, err) != MW_OK ||
        mw__pretrained_turn(w, a->pairs, false, g->room, err) != MW_OK)
        return NULL;
    for (int64_t k = 0; a->from_one && w->shape.rank == 1 && k < w->shape.dim[0]; k++)
        g->room[k] += 1.0F;
    return g->room;
}

/* ---- the file ---- */

/* The type that most of the file has, as llama.cpp numbers them. */
static int64_t file_type(const gguf_saving *g)
{
    static const struct {
        const char *type;
        int64_t number;
    } types[] = {{"F32", 0}, {"F16", 1}, {"Q4_0", 2}, {"Q8_0", 7}, {"BF16", 32}};
    for (size_t i = 0; i < g->count - g->has_factors; i++) {
        const mw__pretrained_weight *w = &g->saving->source.weights[g->weights[i]];
        for (size_t k = 0; k < 5 && w->layer >= 0 && w->product; k++)
            if (strcmp(types[k].type, g->tensors[i].type) == 0)
                return types[k].number;
    }
    return 0;
}

static const char *name_of(const char *path)
{
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    while (end > 0 && path[end - 1] != '/')
        end--;
    return path[end] != '\0' ? path + end : path;
}

static mw_status add_keys(mw__saving_keys *k, const gguf_saving *g, mw_error *err)
{
    const mw__pretrained *p = &g->saving->source;
    const char *architecture = mw__pretrained_architecture_of(p->config.family)->name;
    mw__saving_add_text(k, "general.architecture", architecture);
    mw__saving_add_text(k, "general.type", "model");
    mw__saving_add_text(k, "general.name", name_of(p->path));
    mw__saving_add_u32(k, "general.file_type", file_type(g));
    mw__saving_add_u32(k, "general.quantization_version", 2);
    add_sizes(k, &p->config, architecture);
    add_numbers(k, &p->config, architecture);
    if (mw__language_family(p->config.family)->encoder)
        MW_TRY(add_encoder(k, p, architecture, err));
    mw_tokenizer *tokenizer = mw__pretrained_tokenizer(p->path, err);
    mw_status status = err->status;
    if (status == MW_OK)
        status = mw__saving_add_vocabulary(k, p->path, tokenizer, p->config.words);
    mw_tokenizer_destroy(tokenizer);
    return status;
}

static void free_keys(mw__saving_keys *k)
{
    mw__free(mw__allocator_default(), k->values);
    mw__arena_deinit(&k->arena);
}

mw_status mw__saving_gguf(mw__saving *s, mw_error *err)
{
    mw__saving_keys k = {.err = err};
    gguf_saving g = {.saving = s};
    mw__arena_init(&k.arena, mw__allocator_default());
    mw_status status = check_config(&s->source.config, err);
    if (status == MW_OK)
        status = list_tensors(&g, err);
    if (status == MW_OK)
        status = add_keys(&k, &g, err);
    if (status == MW_OK && s->options->check_only)
        status = mw__saving_check_file(s->path, err);
    else if (status == MW_OK)
        status = mw_gguf_write(s->path,
                               &(mw_gguf_file){.values = k.values,
                                               .value_count = k.count,
                                               .tensors = g.tensors,
                                               .tensor_count = g.count,
                                               .source = fetch_tensor,
                                               .user = &g},
                               err);
    mw__free(mw__allocator_default(), g.room);
    free_keys(&k);
    return status;
}

mw_status mw__saving_vocabulary_file(const char *source, const mw_tokenizer *tokenizer, int64_t words, const char *path,
                                     mw_error *err)
{
    mw__saving_keys k = {.err = err};
    mw__arena_init(&k.arena, mw__allocator_default());
    mw__saving_add_text(&k, "general.architecture", "llama");
    mw__saving_add_text(&k, "general.type", "vocab");
    mw_status status = mw__saving_add_vocabulary(&k, source, tokenizer, words);
    if (status == MW_OK && path != NULL)
        status = mw_gguf_write(path, &(mw_gguf_file){.values = k.values, .value_count = k.count}, err);
    free_keys(&k);
    return status;
}
