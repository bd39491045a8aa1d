/* Writes a package of Core ML: a token and how many came before it in, logits out, and the cache as states. */
#include "base/number/fp16.h"
#include "text/pretrained/save.h"

#include <stdio.h>
#include <string.h>

enum { CACHE = 1024 };

/* What the writer of packages asks for the values of parameters. */
typedef struct package_saving {
    mw__saving *saving;
    mw__arena arena; /* of the values, until the package is there */
    mw_graph *graph;
    mw_error *err; /* of a value that could not be read */
} package_saving;

static const void *halves_of(package_saving *p, const float *values, size_t count)
{
    uint16_t *halves = mw__arena_alloc(&p->arena, count, sizeof *halves, p->err);
    for (size_t i = 0; halves != NULL && i < count; i++)
        halves[i] = mw__fp16_from_float(values[i]);
    return halves;
}

/* NULL: not known, or not read. */
static const void *value_of(void *user, const char *name)
{
    package_saving *p = user;
    const mw__pretrained *source = &p->saving->source;
    for (size_t i = 0; i < source->count; i++) {
        if (strcmp(source->weights[i].name, name) != 0)
            continue;
        const size_t count = (size_t)mw_shape_count(source->weights[i].shape);
        float *values = mw__arena_alloc(&p->arena, count, sizeof *values, p->err);
        if (values == NULL || mw__saving_read(p->saving, i, values, p->err) != MW_OK)
            return NULL;
        return mw_tensor_dtype(mw_graph_find(p->graph, name)) == MW_F16 ? halves_of(p, values, count) : values;
    }
    return NULL;
}

/* Matrices are halves if they are asked for, or if the source has them so. */
static mw_dtype weights_of(const mw__saving *s)
{
    const char *type = s->options->type;
    if (type != NULL || s->source.tensors == NULL)
        return type != NULL && strcmp(type, "F16") == 0 ? MW_F16 : MW_F32;
    const mw__pretrained_weight *words = &s->source.weights[0];
    const mw_tensor_info *info = mw__pretrained_stored(s->source.tensors, words->name);
    if (info == NULL)
        info = mw_tensors_find(s->source.tensors, words->gguf);
    return info != NULL && (info->dtype == MW_F16 || info->dtype == MW_BF16) ? MW_F16 : MW_F32;
}

static mw_graph *package_graph(const mw__saving *s, mw_error *err)
{
    const mw_text_config *c = &s->source.config;
    mw_text_graph_options o = mw_text_graph_defaults();
    o.tokens = 1;
    o.weights = weights_of(s);
    o.cache = s->options->cache > 0 ? s->options->cache : c->positions < CACHE ? c->positions : CACHE;
    mw_graph *assigned = mw__language_stateful(c, &o, err);
    mw_graph *graph = assigned != NULL ? mw_graph_stateful(assigned, err) : NULL;
    mw_graph_destroy(assigned);
    return graph;
}

static mw_status write_package(package_saving *p, mw_error *err)
{
    char about[200];
    mw_description description = mw_description_defaults();
    mw_write_options options = mw_write_defaults();
    snprintf(about, sizeof about, "A language model (%s). Feed a token, and at how many came before it in the text.",
             p->saving->source.config.family);
    description.text = about;
    options.bake = value_of;
    options.bake_user = p;
    options.description = &description;
    options.check_only = p->saving->options->check_only;
    mw_error own = {0};
    const mw_status status = mw_graph_write(p->graph, p->saving->path, &options, &own);
    if (status != MW_OK && p->err->status == MW_OK)
        *p->err = own;
    return p->err->status != MW_OK ? p->err->status : mw__failed(err) ? err->status : MW_OK;
}

mw_status mw__saving_coreml(mw__saving *s, mw_error *err)
{
    package_saving p = {.saving = s, .err = err, .graph = package_graph(s, err)};
    if (p.graph == NULL)
        return err->status;
    mw__arena_init(&p.arena, mw__allocator_default());
    const mw_status status = write_package(&p, err);
    mw__arena_deinit(&p.arena);
    mw_graph_destroy(p.graph);
    return status;
}
