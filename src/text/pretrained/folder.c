/* A folder of Hugging Face: config.json, and safetensors, one or in shards. */
#include "base/text/string.h"
#include "text/pretrained/pretrained.h"

#include <millwright/tensors.h>
#include <stdio.h>
#include <string.h>

/* ---- names ---- */

/* What files have in front of the names of a family. */
static const char *const prefixes[] = {"", "transformer.", "bert."};
enum { PREFIXES = sizeof prefixes / sizeof *prefixes, NAME_MOST = 240 };

static const struct {
    const char *name, *old;
} norm_parts[] = {{"LayerNorm.weight", "LayerNorm.gamma"}, {"LayerNorm.bias", "LayerNorm.beta"}};

/* The name with another end, if it has `from` there. */
static bool rename_end(const char *name, const char *from, const char *to, char out[NAME_MOST])
{
    const size_t size = strlen(name), end = strlen(from);
    if (!mw__string_ends(name, from) || size + strlen(to) >= NAME_MOST)
        return false;
    memcpy(out, name, size - end);
    strcpy(out + size - end, to);
    return true;
}

static const mw_tensor_info *find_prefixed(const mw_tensors *tensors, const char *name)
{
    char longer[NAME_MOST + 16];
    const mw_tensor_info *info = NULL;
    for (size_t i = 0; i < PREFIXES && info == NULL; i++) {
        snprintf(longer, sizeof longer, "%s%s", prefixes[i], name);
        info = mw_tensors_find(tensors, longer);
    }
    return info;
}

const mw_tensor_info *mw__pretrained_stored(const mw_tensors *tensors, const char *name)
{
    char old[NAME_MOST];
    const mw_tensor_info *info = find_prefixed(tensors, name);
    for (size_t i = 0; i < 2 && info == NULL; i++)
        if (rename_end(name, norm_parts[i].name, norm_parts[i].old, old))
            info = find_prefixed(tensors, old);
    return info;
}

static const mw__pretrained_weight *named_bare(const mw__pretrained *p, const char *bare)
{
    const mw__family *family = mw__language_family(p->config.family);
    if (p->config.tied && strcmp(bare, family->head) == 0)
        bare = family->words;
    if (family->head_bias != NULL && strcmp(bare, "cls.predictions.decoder.bias") == 0)
        bare = family->head_bias;
    return mw__pretrained_find(p->weights, p->count, bare);
}

const mw__pretrained_weight *mw__pretrained_named(const mw__pretrained *p, const char *stored)
{
    char now[NAME_MOST];
    const mw__pretrained_weight *found = NULL;
    for (size_t i = 0; i < 2; i++)
        if (rename_end(stored, norm_parts[i].old, norm_parts[i].name, now))
            stored = now;
    for (size_t i = 0; i < PREFIXES && found == NULL; i++)
        if (mw__string_begins(stored, prefixes[i]))
            found = named_bare(p, stored + strlen(prefixes[i]));
    return found;
}

/* ---- opening ---- */

void mw__pretrained_take_ends(const mw_tensors *tensors, mw_text_config *config)
{
    const mw__family *family = mw__language_family(config->family);
    char name[NAME_MOST];
    if (!family->encoder)
        return;
    snprintf(name, sizeof name, "%s.weight", family->pooler);
    config->pooler = mw__pretrained_stored(tensors, name) != NULL;
    snprintf(name, sizeof name, "%s.weight", family->head_product);
    config->word_head = mw__pretrained_stored(tensors, name) != NULL;
}

static mw_status check_stored(const mw__pretrained *p, const mw__pretrained_weight *w, mw_error *err)
{
    const mw_tensor_info *info = mw__pretrained_stored(p->tensors, w->name);
    if (info == NULL)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\" has no tensor \"%.150s\"", p->path, w->name);
    if (!mw_shape_equal(info->shape, w->shape))
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": \"%.150s\" has not the shape that config.json makes it have",
                        p->path, info->name);
    return MW_OK;
}

static mw_status open_folder(mw__pretrained *p, mw_error *err)
{
    MW_TRY(mw__language_config_read(p->path, &p->config, err));
    p->tensors = mw_tensors_open(p->path, err);
    MW_TRY(err->status);
    mw__pretrained_take_ends(p->tensors, &p->config);
    MW_TRY(mw__pretrained_list(&p->config, &p->arena, &p->weights, &p->count, err));
    for (size_t i = 0; i < p->count; i++)
        MW_TRY(check_stored(p, &p->weights[i], err));
    return MW_OK;
}

static mw_status read_folder(mw__pretrained *p, size_t weight, float *out, mw_error *err)
{
    const mw__pretrained_weight *w = &p->weights[weight];
    return mw_tensors_read(p->tensors, mw__pretrained_stored(p->tensors, w->name)->name, MW_F32, out,
                           (size_t)mw_shape_count(w->shape), err);
}

const mw__pretrained_form mw__pretrained_folder = {.name = "folder", .open = open_folder, .read = read_folder};
