/* A model from its folder. Its programs share the weights, and those for as many texts the cache: some read prompts, a
 * number of tokens in a run, another writes one token after the other. */
#include "text/generate/generate.h"

#include "base/memory/live.h"
#include "base/text/error.h"

#include <stdio.h>
#include <string.h>

mw_text_model_options mw_text_model_defaults(void)
{
    return (mw_text_model_options){.struct_size = sizeof(mw_text_model_options), .weights = MW_F32};
}

/* ---- programs ---- */

/* The cache is read and written in place. */
static mw_status alias_caches(const mw_text_model *m, mw_program *program, mw_error *err)
{
    static const char *const kinds[] = {"key", "value"};
    char name[32], next[40];
    for (int layer = 0; layer < (int)m->config.layers; layer++)
        for (int k = 0; k < 2; k++) {
            snprintf(name, sizeof name, "%s.%d", kinds[k], layer);
            snprintf(next, sizeof next, "%s.next", name);
            MW_TRY(mw_program_alias(program, next, name, err));
        }
    return MW_OK;
}

static mw_program *compile_net(const mw_text_model *m, int64_t batch, int64_t tokens, mw_program *share, mw_error *err)
{
    mw_compile_options options = m->compile;
    mw_text_graph_options graph_options = mw_text_graph_defaults();
    graph_options.batch = batch;
    graph_options.tokens = tokens;
    graph_options.cache = m->cache;
    graph_options.weights = m->weights;
    graph_options.tuning = m->tuning;
    if (share != NULL)
        options.share = (mw_share){.program = share};
    mw_graph *graph = mw_text_graph(&m->config, &graph_options, err);
    mw_program *program = graph != NULL ? mw_program_create(graph, &options, err) : NULL;
    mw_graph_destroy(graph);
    if (program != NULL && alias_caches(m, program, err) != MW_OK) {
        mw_program_destroy(program);
        return NULL;
    }
    return program;
}

static void free_programs(mw__generation_programs *p)
{
    for (int i = 0; i < MW__TEXT_READERS; i++)
        mw_program_destroy(p->reading[i]);
    mw_program_destroy(p->writing);
    *p = (mw__generation_programs){.batch = 0};
}

mw__generation_programs *mw__generation_programs_for(mw_text_model *m, int64_t batch, mw_error *err)
{
    mw__generation_programs *p = batch == 1 ? &m->one : &m->several;
    if (p->batch == batch)
        return p;
    free_programs(p);
    p->writing = compile_net(m, batch, 1, m->one.writing, err);
    p->batch = p->writing != NULL ? batch : 0;
    return p->writing != NULL ? p : NULL;
}

/* Tokens of a run, and from how many on that are left it is worth its time: a run takes as long for fewer. Of the small
 * one the weights are half of the time; the large one multiplies as fast as larger ones would. */
static const struct {
    int64_t tokens, least;
} readers[MW__TEXT_READERS] = {{256, 129}, {32, 2}};

mw_program *mw__generation_program_for(mw_text_model *m, mw__generation_programs *programs, int64_t left, int64_t room,
                                       int64_t *takes, mw_error *err)
{
    for (int i = 0; i < MW__TEXT_READERS; i++) {
        const int64_t tokens = readers[i].tokens;
        if (left < readers[i].least || tokens > room)
            continue;
        *takes = tokens;
        if (programs->reading[i] == NULL)
            programs->reading[i] = compile_net(m, programs->batch, tokens, programs->writing, err);
        return programs->reading[i];
    }
    *takes = 1;
    return programs->writing;
}

/* ---- opening ---- */

static mw_status open_programs(mw_text_model *m, mw__pretrained *files, const mw_text_model_options *o, mw_error *err)
{
    const int64_t usual = m->config.positions < 1024 ? m->config.positions : 1024;
    m->cache = o->cache > 0 ? o->cache : usual;
    m->compile = o->compile != NULL ? *o->compile : mw_compile_defaults();
    m->weights = o->weights;
    m->tuning = o->tuning;
    if (mw__generation_programs_for(m, 1, err) == NULL)
        return err->status;
    return m->compile.share.trainer == NULL ? mw__pretrained_load(files, m->one.writing, err) : MW_OK;
}

static mw_status open_parts(mw_text_model *m, const char *path, const mw_text_model_options *o, mw_error *err)
{
    mw__pretrained files;
    mw_status status = mw__pretrained_open(&files, path, err);
    m->config = files.config;
    if (status == MW_OK) {
        m->tokenizer = mw__pretrained_tokenizer(path, err);
        status = err->status;
    }
    const mw__embedder_options own = {.config = &m->config, .tokenizer = m->tokenizer, .model = o};
    if (status == MW_OK)
        status = mw__language_family(m->config.family)->encoder ? mw__embedder_open(&m->embedder, &files, &own, err)
                                                                : open_programs(m, &files, o, err);
    mw__pretrained_deinit(&files);
    return status;
}

static void free_model(mw_text_model *model)
{
    free_programs(&model->several);
    free_programs(&model->one);
    mw__embedder_deinit(&model->embedder);
    mw_tokenizer_destroy(model->tokenizer);
    mw__free(model->allocator, model);
}

mw_text_model *mw_text_model_open(const char *folder, const mw_text_model_options *options, mw_error *err)
{
    mw_error own = {0};
    if (mw__skips(err))
        return NULL;
    err = err != NULL ? err : &own;
    const mw_text_model_options o = options != NULL ? *options : mw_text_model_defaults();
    const bool tuned = o.tuning.rank != 0 || o.tuning.weight_count != 0;
    if (tuned && o.struct_size == sizeof o && (o.compile == NULL || o.compile->share.trainer == NULL)) {
        mw__fail(err, MW_ERROR_ARGUMENT, "a model of text: tuning is that of the trainer of share, and there is none");
        return NULL;
    }
    if (folder == NULL || o.cache < 0 || o.struct_size != sizeof o) {
        mw__fail(err, MW_ERROR_ARGUMENT, "a model of text: %s",
                 folder == NULL ? "no folder"
                 : o.cache < 0  ? "a cache below 0"
                                : "options are made with mw_text_model_defaults");
        return NULL;
    }
    const mw_allocator *allocator = mw__allocator_default();
    mw_text_model *m = mw__alloc(allocator, 1, sizeof *m, err);
    if (m == NULL)
        return NULL;
    m->allocator = allocator;
    if (open_parts(m, folder, &o, err) == MW_OK && mw__live_add(m, MW__LIVE_TEXT_MODEL, err) == MW_OK)
        return m;
    free_model(m);
    return NULL;
}

void mw_text_model_destroy(mw_text_model *model)
{
    if (model != NULL && mw__live_remove(model, MW__LIVE_TEXT_MODEL, __func__))
        free_model(model);
}

/* ---- embeddings ---- */

mw_embed_options mw_embed_defaults(void)
{
    return (mw_embed_options){.struct_size = sizeof(mw_embed_options), .pooling = MW_POOLING_OF_FOLDER};
}

mw_status mw_text_model_embed(mw_text_model *model, const char *const *texts, size_t count,
                              const mw_embed_options *options, float *out, mw_error *err)
{
    mw_error own = {0};
    if (mw__skips(err))
        return err->status;
    err = err != NULL ? err : &own;
    const mw_embed_options o = options != NULL ? *options : mw_embed_defaults();
    MW_TRY(mw__live_check(model, MW__LIVE_TEXT_MODEL, __func__, err));
    if (!mw__language_family(model->config.family)->encoder)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "embeddings: %s is no encoder; bert is, and with it MiniLM and others of its form",
                        model->config.family);
    if (o.struct_size != sizeof o || o.pooling < MW_POOLING_OF_FOLDER || o.pooling > MW_POOLING_CLS)
        return mw__fail(err, MW_ERROR_ARGUMENT, "embeddings: options are made with mw_embed_defaults; pooling is %d",
                        (int)o.pooling);
    if (count == 0)
        return MW_OK;
    if (texts == NULL || out == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "embeddings: no %s", texts == NULL ? "texts" : "place for vectors");
    return mw__embedder_run(&model->embedder, texts, count, &o, out, err);
}

/* ---- what a model has ---- */

const mw_text_config *mw_text_model_get_config(const mw_text_model *model)
{
    return mw__live_has(model, MW__LIVE_TEXT_MODEL) ? &model->config : NULL;
}

const mw_tokenizer *mw_text_model_get_tokenizer(const mw_text_model *model)
{
    return mw__live_has(model, MW__LIVE_TEXT_MODEL) ? model->tokenizer : NULL;
}
