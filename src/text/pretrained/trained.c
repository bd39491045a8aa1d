/* What was trained, over the weights of a source: whole tensors, or adapters as PEFT stores them. */
#include "base/text/string.h"
#include "text/json/tree.h"
#include "text/pretrained/save.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { NAME_MOST = 400, CONFIG_MOST = 1 << 20 };

/* ---- adapters ---- */

static mw_status check_adapter(const mw__json_node *root, double *out_scale, mw_error *err)
{
    const double rank = mw__tree_number(root, "r", 0.0), alpha = mw__tree_number(root, "lora_alpha", 0.0);
    const mw__json_node *ranks = mw__tree_find(root, "rank_pattern"), *alphas = mw__tree_find(root, "alpha_pattern");
    const char *type = mw__tree_text(root, "peft_type");
    if (mw__tree_bool(root, "use_rslora", false) || mw__tree_bool(root, "use_dora", false) ||
        (ranks != NULL && ranks->count > 0) || (alphas != NULL && alphas->count > 0) ||
        (type != NULL && strcmp(type, "LORA") != 0))
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "adapter_config.json: only LORA with one r and one alpha is merged, not use_rslora, use_dora, "
                        "rank_pattern or alpha_pattern");
    if (!(rank >= 1.0 && rank <= 65536.0) || !(alpha > 0.0 && alpha < 1e9))
        return mw__fail(err, MW_ERROR_FORMAT, "adapter_config.json: r is %g and lora_alpha %g", rank, alpha);
    *out_scale = alpha / rank;
    return MW_OK;
}

static mw_status read_adapter(const char *path, double *out_scale, mw_error *err)
{
    mw__arena tree;
    char *text = NULL;
    size_t size = 0;
    MW_TRY(mw__file_read(mw__allocator_default(), path, CONFIG_MOST, &text, &size, err));
    mw__arena_init(&tree, mw__allocator_default());
    const mw__json_node *root = mw__tree_read(&tree, text, size, err);
    const mw_status status = root != NULL ? check_adapter(root, out_scale, err) : err->status;
    mw__arena_deinit(&tree);
    mw__free(mw__allocator_default(), text);
    return status;
}

/* ---- whose they are ---- */

/* The index of the weight that a name is for; -1 = none. */
static int64_t weight_of(const mw__pretrained *source, const char *name)
{
    static const char of_adapters[] = "base_model.model.";
    const char *own = mw__string_begins(name, of_adapters) ? name + sizeof of_adapters - 1 : name;
    const mw__pretrained_weight *found = mw__pretrained_named(source, own);
    return found != NULL ? found - source->weights : -1;
}

/* "fc1.lora_A.weight" -> "fc1.weight"; false if it is no factor. */
static bool without_factor(const char *name, const char *factor, char out[NAME_MOST])
{
    const char *at = strstr(name, factor);
    const size_t size = at != NULL ? (size_t)(at - name) : 0;
    if (at == NULL || size + 8 > NAME_MOST || strcmp(at, factor) != 0)
        return false;
    memcpy(out, name, size);
    strcpy(out + size, ".weight");
    return true;
}

static mw_status refuse_tensor(const mw_tensor_info *info, const char *why, mw_error *err)
{
    return mw__fail(err, MW_ERROR_ARGUMENT, "\"%.200s\": the tensor \"%.150s\" %s", info->file, info->name, why);
}

static mw_status take_factor(mw__trained *t, const mw__pretrained *source, const mw_tensor_info *info,
                             const mw_tensor_info **list, const char *weight, mw_error *err)
{
    const int64_t i = weight_of(source, weight);
    if (i < 0 || source->weights[i].shape.rank != 2)
        return refuse_tensor(info, "is an adapter of no weight of the source", err);
    if (t->scale == 0.0)
        return refuse_tensor(info,
                             "is part of an adapter, whose alpha the file does not say: give the folder of "
                             "mw_trainer_save_lora",
                             err);
    list[i] = info;
    return MW_OK;
}

static mw_status take_tensor(mw__trained *t, const mw__pretrained *source, const mw_tensor_info *info, mw_error *err)
{
    char weight[NAME_MOST];
    if (without_factor(info->name, ".lora_A.weight", weight))
        return take_factor(t, source, info, t->down, weight, err);
    if (without_factor(info->name, ".lora_B.weight", weight))
        return take_factor(t, source, info, t->up, weight, err);
    const int64_t i = weight_of(source, info->name);
    if (i < 0)
        return refuse_tensor(info, "belongs to no weight of the source", err);
    if (!mw_shape_equal(info->shape, source->weights[i].shape))
        return refuse_tensor(info, "has another shape than the weight of the source", err);
    t->whole[i] = info;
    return MW_OK;
}

static int64_t inputs_of(const mw__pretrained_weight *w) { return w->shape.dim[w->inputs_first ? 0 : 1]; }
static int64_t outputs_of(const mw__pretrained_weight *w) { return w->shape.dim[w->inputs_first ? 1 : 0]; }

/* A has a row, and B a column, for each of r. */
static mw_status check_factors(const mw__trained *t, const mw__pretrained_weight *w, size_t i, mw_error *err)
{
    const mw_tensor_info *a = t->down[i], *b = t->up[i];
    if (a == NULL && b == NULL)
        return MW_OK;
    if (a == NULL || b == NULL)
        return refuse_tensor(a != NULL ? a : b, "stands without the other factor", err);
    if (a->shape.rank != 2 || b->shape.rank != 2 || a->shape.dim[1] != inputs_of(w) ||
        b->shape.dim[0] != outputs_of(w) || a->shape.dim[0] != b->shape.dim[1])
        return refuse_tensor(a, "and its other factor do not fit the weight of the source", err);
    return MW_OK;
}

/* ---- opening ---- */

static mw_status make_lists(mw__trained *t, const mw__pretrained *source, mw_error *err)
{
    const mw_tensor_info ***const lists[] = {&t->whole, &t->down, &t->up};
    for (size_t i = 0; i < 3; i++) {
        *lists[i] = mw__arena_alloc(&t->arena, source->count, sizeof **lists[i], err);
        if (*lists[i] == NULL)
            return MW_ERROR_MEMORY;
    }
    for (size_t i = 0; i < mw_tensors_get_info(t->tensors).count; i++)
        MW_TRY(take_tensor(t, source, mw_tensors_at(t->tensors, i), err));
    for (size_t i = 0; i < source->count; i++)
        MW_TRY(check_factors(t, &source->weights[i], i, err));
    return MW_OK;
}

mw_status mw__trained_open(mw__trained *t, const char *path, const mw__pretrained *source, mw_error *err)
{
    char file[4200];
    struct stat found;
    *t = (mw__trained){0};
    mw__arena_init(&t->arena, mw__allocator_default());
    if (path == NULL)
        return MW_OK;
    const int size = snprintf(file, sizeof file, "%s/adapter_config.json", path);
    if (size < 0 || (size_t)size >= sizeof file)
        return mw__fail(err, MW_ERROR_ARGUMENT, "trained weights: the path is too long");
    const bool adapter = stat(file, &found) == 0;
    if (adapter) {
        MW_TRY(read_adapter(file, &t->scale, err));
        snprintf(file, sizeof file, "%s/adapter_model.safetensors", path);
    }
    t->tensors = mw_tensors_open(adapter ? file : path, err);
    MW_TRY(err->status);
    return make_lists(t, source, err);
}

void mw__trained_deinit(mw__trained *t)
{
    mw_tensors_destroy(t->tensors);
    mw__arena_deinit(&t->arena);
}

/* ---- into the weights ---- */

static float *read_factor(const mw__trained *t, const mw_tensor_info *info, mw_error *err)
{
    const size_t count = (size_t)mw_shape_count(info->shape);
    float *data = mw__alloc(mw__allocator_default(), count, sizeof *data, err);
    if (data != NULL && mw_tensors_read(t->tensors, info->name, MW_F32, data, count, err) == MW_OK)
        return data;
    mw__free(mw__allocator_default(), data);
    return NULL;
}

/* W[o, i] + scale sum_k B[o, k] A[k, i], rounded once */
static void add_product(const mw__trained *t, const mw__pretrained_weight *w, const float *a, const float *b,
                        int64_t rank, float *data)
{
    const int64_t inputs = inputs_of(w), outputs = outputs_of(w);
    for (int64_t o = 0; o < outputs; o++)
        for (int64_t i = 0; i < inputs; i++) {
            float *at = data + (w->inputs_first ? i * outputs + o : o * inputs + i);
            double sum = 0.0;
            for (int64_t k = 0; k < rank; k++)
                sum += (double)b[o * rank + k] * (double)a[k * inputs + i];
            *at = (float)((double)*at + t->scale * sum);
        }
}

mw_status mw__trained_apply(const mw__trained *t, const mw__pretrained_weight *w, size_t i, float *data, mw_error *err)
{
    if (t->tensors == NULL)
        return MW_OK;
    if (t->whole[i] != NULL)
        MW_TRY(mw_tensors_read(t->tensors, t->whole[i]->name, MW_F32, data, (size_t)mw_shape_count(w->shape), err));
    if (t->down[i] == NULL)
        return MW_OK;
    float *a = read_factor(t, t->down[i], err);
    float *b = a != NULL ? read_factor(t, t->up[i], err) : NULL;
    if (b != NULL)
        add_product(t, w, a, b, t->down[i]->shape.dim[0], data);
    mw__free(mw__allocator_default(), a);
    mw__free(mw__allocator_default(), b);
    return err->status;
}
