/* A folder of Hugging Face: config.json, and safetensors, one or in shards. */
#include "text/pretrained/pretrained.h"

#include <millwright/tensors.h>
#include <stdio.h>

const mw_tensor_info *mw__pretrained_stored(const mw_tensors *tensors, const char *name)
{
    char longer[240];
    const mw_tensor_info *info = mw_tensors_find(tensors, name);
    if (info != NULL)
        return info;
    snprintf(longer, sizeof longer, "transformer.%s", name);
    return mw_tensors_find(tensors, longer);
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
