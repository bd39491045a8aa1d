/* Which tensors a network has: for each part its place in the family's row, its name in GGUF, and its extents. */
#include "text/pretrained/pretrained.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Extents, by what they count. */
typedef enum extent { NONE, WORDS, PLACES, TYPES, WIDTH, HIDDEN, HEAD, WIDE, NARROW, WIDE_AND_TWO } extent;
/* Which biases a part has. */
typedef enum bias_kind { NEVER, OF_NORM, OF_ATTENTION, OF_EVERY } bias_kind;

typedef struct part_row {
    size_t name;          /* offset in mw__family */
    const char *gguf;     /* NULL = it has no place there */
    extent rows, columns; /* rows NONE: a vector */
    bias_kind bias;
} part_row;

#define OF(member) offsetof(mw__family, member)

static const part_row rows[MW__PARTS] = {
    [MW__PART_WORDS] = {OF(words), "token_embd", WORDS, WIDTH, NEVER},
    [MW__PART_PLACES] = {OF(places), "position_embd", PLACES, WIDTH, NEVER},
    [MW__PART_TYPES] = {OF(types), "token_types", TYPES, WIDTH, NEVER},
    [MW__PART_WORDS_NORM] = {OF(words_norm), "token_embd_norm", NONE, WIDTH, OF_NORM},
    [MW__PART_BEFORE_ATTENTION] = {OF(before_attention), "attn_norm", NONE, WIDTH, OF_NORM},
    [MW__PART_JOINED] = {OF(joined), "attn_qkv", WIDE_AND_TWO, WIDTH, OF_EVERY},
    [MW__PART_QUERY] = {OF(query), "attn_q", WIDE, WIDTH, OF_ATTENTION},
    [MW__PART_KEY] = {OF(key), "attn_k", NARROW, WIDTH, OF_ATTENTION},
    [MW__PART_VALUE] = {OF(value), "attn_v", NARROW, WIDTH, OF_ATTENTION},
    [MW__PART_QUERY_NORM] = {OF(query_norm), "attn_q_norm", NONE, HEAD, OF_NORM},
    [MW__PART_KEY_NORM] = {OF(key_norm), "attn_k_norm", NONE, HEAD, OF_NORM},
    [MW__PART_MIXED] = {OF(mixed), "attn_output", WIDTH, WIDE, OF_EVERY},
    [MW__PART_AFTER_ATTENTION] = {OF(after_attention), "post_attention_norm", NONE, WIDTH, OF_NORM},
    [MW__PART_BEFORE_MLP] = {OF(before_mlp), "ffn_norm", NONE, WIDTH, OF_NORM},
    [MW__PART_GATE] = {OF(gate), "ffn_gate", HIDDEN, WIDTH, OF_EVERY},
    [MW__PART_UP] = {OF(up), "ffn_up", HIDDEN, WIDTH, OF_EVERY},
    [MW__PART_DOWN] = {OF(down), "ffn_down", WIDTH, HIDDEN, OF_EVERY},
    [MW__PART_AFTER_MLP] = {OF(after_mlp), "post_ffw_norm", NONE, WIDTH, OF_NORM},
    [MW__PART_LAST_NORM] = {OF(last_norm), "output_norm", NONE, WIDTH, OF_NORM},
    [MW__PART_POOLER] = {OF(pooler), NULL, WIDTH, WIDTH, OF_EVERY},
    [MW__PART_HEAD_PRODUCT] = {OF(head_product), NULL, WIDTH, WIDTH, OF_EVERY},
    [MW__PART_HEAD_NORM] = {OF(head_norm), NULL, NONE, WIDTH, OF_NORM},
    [MW__PART_HEAD_BIAS] = {OF(head_bias), NULL, NONE, WORDS, NEVER},
    [MW__PART_HEAD] = {OF(head), "output", WORDS, WIDTH, NEVER},
};

static bool is_of_layer(mw__pretrained_part part)
{
    return part >= MW__PART_BEFORE_ATTENTION && part <= MW__PART_AFTER_MLP;
}

static bool is_table(mw__pretrained_part part) { return part <= MW__PART_TYPES || part == MW__PART_HEAD; }

/* Families have the whole name of these. */
static bool has_whole_name(mw__pretrained_part part) { return is_table(part) || part == MW__PART_HEAD_BIAS; }

static int64_t extent_of(const mw_text_config *c, extent e)
{
    const int64_t wide = c->heads * c->head_width, narrow = c->kv_heads * c->head_width;
    const int64_t extents[] = {1,         c->words,      c->positions, c->types, c->width,
                               c->hidden, c->head_width, wide,         narrow,   wide + 2 * narrow};
    return extents[e];
}

/* What is being listed. */
typedef struct listing {
    const mw_text_config *config;
    const mw__family *family;
    mw__arena *arena;
    mw__pretrained_weight *list;
    size_t count;
    mw_error *err;
} listing;

static const char *part_name(const listing *l, mw__pretrained_part part)
{
    return *(const char *const *)((const char *)l->family + rows[part].name);
}

static bool has_part(const listing *l, mw__pretrained_part part)
{
    const bool of_head = part > MW__PART_POOLER && l->family->encoder;
    if (part_name(l, part) == NULL || (part == MW__PART_HEAD && l->config->tied))
        return false;
    return of_head ? l->config->word_head : part != MW__PART_POOLER || l->config->pooler;
}

/* The name in GGUF; where norms are of sums they have others. */
static const char *gguf_name(const listing *l, mw__pretrained_part part)
{
    if (!l->family->sums_normed)
        return rows[part].gguf;
    return part == MW__PART_AFTER_ATTENTION ? "attn_output_norm"
           : part == MW__PART_AFTER_MLP     ? "layer_output_norm"
           : part == MW__PART_HEAD          ? NULL
                                            : rows[part].gguf;
}

static bool has_bias(const listing *l, mw__pretrained_part part)
{
    const mw__family *f = l->family;
    const bias_kind kind = rows[part].bias;
    return kind == OF_NORM ? f->norm == MW__NET_LAYER_NORM
                           : (kind == OF_ATTENTION && f->attention_bias) || (kind != NEVER && f->every_bias);
}

/* "model.layers." 3 "." */
static void put_layer(char out[64], const char *pattern, int layer)
{
    const char *number = strstr(pattern, "%d");
    if (layer >= 0)
        snprintf(out, 64, "%.*s%d%s", (int)(number - pattern), pattern, layer, number + 2);
    else
        out[0] = '\0';
}

static void name_weight(listing *l, mw__pretrained_weight *w)
{
    char layer[64], name[200];
    put_layer(layer, l->family->layer, w->layer);
    snprintf(name, sizeof name, "%s%s%s", layer, part_name(l, w->part),
             has_whole_name(w->part) ? ""
             : w->bias               ? ".bias"
                                     : ".weight");
    w->name = mw__arena_keep(l->arena, name, l->err);
    if (gguf_name(l, w->part) == NULL)
        return;
    put_layer(layer, "blk.%d.", w->layer);
    snprintf(name, sizeof name, "%s%s%s", layer, gguf_name(l, w->part), w->bias ? ".bias" : ".weight");
    w->gguf = mw__arena_keep(l->arena, name, l->err);
}

static void add_weight(listing *l, mw__pretrained_part part, int layer, bool bias)
{
    const part_row *row = &rows[part];
    const int64_t outputs = extent_of(l->config, row->rows), inputs = extent_of(l->config, row->columns);
    const bool matrix = row->rows != NONE && !bias;
    mw__pretrained_weight *w = &l->list[l->count++];
    *w = (mw__pretrained_weight){.part = part, .layer = layer, .bias = bias, .product = matrix};
    w->inputs_first = matrix && l->family->inputs_first && !is_table(part);
    w->shape = matrix ? (w->inputs_first ? MW_SHAPE(inputs, outputs) : MW_SHAPE(outputs, inputs))
                      : MW_SHAPE(row->rows != NONE ? outputs : inputs);
    w->paired_heads = part == MW__PART_QUERY ? l->config->heads : part == MW__PART_KEY ? l->config->kv_heads : 0;
    name_weight(l, w);
}

static void add_part(listing *l, mw__pretrained_part part, int layer)
{
    if (!has_part(l, part))
        return;
    add_weight(l, part, layer, false);
    if (has_bias(l, part))
        add_weight(l, part, layer, true);
}

mw_status mw__pretrained_list(const mw_text_config *config, mw__arena *arena, mw__pretrained_weight **out,
                              size_t *out_count, mw_error *err)
{
    listing l = {.config = config, .family = mw__language_family(config->family), .arena = arena, .err = err};
    if (config->layers > 10000)
        return mw__fail(err, MW_ERROR_FORMAT, "a network of %lld layers; at most 10000 are built",
                        (long long)config->layers);
    const size_t most = 2 * MW__PARTS * ((size_t)config->layers + 1);
    l.list = mw__arena_alloc(arena, most, sizeof *l.list, err);
    if (l.list == NULL)
        return MW_ERROR_MEMORY;
    for (int part = 0; part < MW__PARTS; part++)
        if (!is_of_layer((mw__pretrained_part)part))
            add_part(&l, (mw__pretrained_part)part, -1);
    for (int layer = 0; layer < (int)config->layers; layer++)
        for (int part = 0; part < MW__PARTS; part++)
            if (is_of_layer((mw__pretrained_part)part))
                add_part(&l, (mw__pretrained_part)part, layer);
    for (size_t i = 0; i < l.count; i++)
        if (mw_shape_count(l.list[i].shape) < 0)
            return mw__fail(err, MW_ERROR_FORMAT, "the size of \"%.150s\" overflows", l.list[i].name);
    *out = l.list;
    *out_count = l.count;
    return mw__failed(err) ? err->status : MW_OK;
}

const mw__pretrained_weight *mw__pretrained_find(const mw__pretrained_weight *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            return &list[i];
    return NULL;
}
