/* A model from its folder, and the texts that it writes. Two programs share the weights and the cache: one reads the
 * prompt, some tokens in a run, the other one token after the other. */
#include "text/generate/sampler.h"
#include "text/pretrained/pretrained.h"

#include "base/memory/alloc.h"
#include "base/memory/live.h"
#include "base/text/error.h"
#include "base/text/text.h"

#include <stdio.h>
#include <string.h>

enum { CHUNK = 32 };

struct mw_text_model {
    const mw_allocator *allocator;
    mw_text_config config;
    mw_tokenizer *tokenizer;
    mw_program *reading, *writing; /* CHUNK tokens in a run, and one */
    int64_t cache;
};

/* ---- opening ---- */

mw_text_model_options mw_text_model_defaults(void)
{
    return (mw_text_model_options){.struct_size = sizeof(mw_text_model_options)};
}

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

static mw_program *compile_net(const mw_text_model *m, const mw_compile_options *given, int64_t tokens,
                               mw_program *share, mw_error *err)
{
    mw_compile_options options = given != NULL ? *given : mw_compile_defaults();
    mw_text_graph_options graph_options = mw_text_graph_defaults();
    graph_options.tokens = tokens;
    graph_options.cache = m->cache;
    options.share.program = share;
    mw_graph *graph = mw_text_graph(&m->config, &graph_options, err);
    mw_program *program = graph != NULL ? mw_program_create(graph, &options, err) : NULL;
    mw_graph_destroy(graph);
    if (program != NULL && alias_caches(m, program, err) != MW_OK) {
        mw_program_destroy(program);
        return NULL;
    }
    return program;
}

static mw_status open_programs(mw_text_model *m, mw__pretrained *files, const mw_text_model_options *o, mw_error *err)
{
    const int64_t usual = m->config.positions < 1024 ? m->config.positions : 1024;
    m->cache = o->cache > 0 ? o->cache : usual;
    m->writing = compile_net(m, o->compile, 1, NULL, err);
    MW_TRY(err->status);
    MW_TRY(mw__pretrained_load(files, m->writing, err));
    m->reading = compile_net(m, o->compile, m->cache < CHUNK ? m->cache : CHUNK, m->writing, err);
    return err->status;
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
    if (status == MW_OK)
        status = open_programs(m, &files, o, err);
    mw__pretrained_deinit(&files);
    return status;
}

static void free_model(mw_text_model *model)
{
    mw_program_destroy(model->reading);
    mw_program_destroy(model->writing);
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

const mw_text_config *mw_text_model_get_config(const mw_text_model *model)
{
    return mw__live_has(model, MW__LIVE_TEXT_MODEL) ? &model->config : NULL;
}

const mw_tokenizer *mw_text_model_get_tokenizer(const mw_text_model *model)
{
    return mw__live_has(model, MW__LIVE_TEXT_MODEL) ? model->tokenizer : NULL;
}

/* ---- runs ---- */

/* Tokens at `at`, fewer than the program takes if need be: what is written behind them is written over later, before
 * anything looks there. */
static mw_status run_tokens(mw_program *program, const int32_t *tokens, int64_t count, int64_t room, int64_t at,
                            mw_error *err)
{
    int32_t padded[CHUNK] = {0};
    const int32_t begin = (int32_t)at, last = (int32_t)count - 1;
    memcpy(padded, tokens, (size_t)count * sizeof *tokens);
    MW_TRY(mw_program_write(program, "tokens", MW_I32, padded, (size_t)room, err));
    MW_TRY(mw_program_write(program, "at", MW_I32, &begin, 1, err));
    MW_TRY(mw_program_write(program, "last", MW_I32, &last, 1, err));
    return mw_program_run(program, err);
}

/* Reads a prompt into the cache; the logits of its last token stay in *last. */
static mw_status read_prompt(mw_text_model *m, const int32_t *tokens, int64_t count, mw_program **last, mw_error *err)
{
    const int64_t chunk = m->cache < CHUNK ? m->cache : CHUNK;
    for (int64_t at = 0; at < count;) {
        const bool whole = at + chunk <= m->cache && count - at > 1;
        const int64_t some = !whole ? 1 : count - at < chunk ? count - at : chunk;
        *last = whole ? m->reading : m->writing;
        MW_TRY(run_tokens(*last, tokens + at, some, whole ? chunk : 1, at, err));
        at += some;
    }
    return MW_OK;
}

/* ---- writing ---- */

mw_generate_options mw_generate_defaults(void)
{
    return (mw_generate_options){.struct_size = sizeof(mw_generate_options),
                                 .tokens = 256,
                                 .temperature = 0.8F,
                                 .top_k = 40,
                                 .top_p = 0.95F,
                                 .repetition = 1.0F};
}

static mw_status check_generate(const mw_generate_options *o, const char *prompt, mw_error *err)
{
    if (prompt == NULL || (o->stops == NULL && o->stop_count > 0))
        return mw__fail(err, MW_ERROR_ARGUMENT, "generate: no %s", prompt == NULL ? "prompt" : "stops");
    if (o->struct_size != sizeof *o)
        return mw__fail(err, MW_ERROR_ARGUMENT, "generate: options are made with mw_generate_defaults");
    if (o->tokens < 0 || o->top_k < 0 || !(o->temperature >= 0.0F && o->temperature <= 100.0F) ||
        !(o->top_p > 0.0F && o->top_p <= 1.0F) || !(o->min_p >= 0.0F && o->min_p <= 1.0F) ||
        !(o->repetition > 0.0F && o->repetition <= 100.0F))
        return mw__fail(
            err, MW_ERROR_ARGUMENT,
            "generate: tokens and top_k are 0 and more, temperature 0 to 100, top_p above 0 to 1, min_p 0 to "
            "1, repetition above 0 to 100; they are %lld, %d, %g, %g, %g, %g",
            (long long)o->tokens, o->top_k, (double)o->temperature, (double)o->top_p, (double)o->min_p,
            (double)o->repetition);
    return MW_OK;
}

typedef struct writing {
    mw_text_model *model;
    const mw_generate_options *options;
    mw_token_stream *stream;
    mw__sampler sampler;
    mw__text text; /* all that was written */
    size_t told;   /* bytes of it that the caller has heard of */
    bool ended;
    mw_error *err;
} writing;

/* The longest end of the text that may be the begin of a stop, which is not told yet; or all of it from a stop on. */
static size_t held_back(writing *w)
{
    size_t most = 0;
    for (size_t i = 0; i < w->options->stop_count; i++) {
        const char *stop = w->options->stops[i];
        const size_t size = strlen(stop);
        const char *found = size > 0 ? memmem(w->text.data + w->told, w->text.size - w->told, stop, size) : NULL;
        if (found != NULL) {
            w->text.size = (size_t)(found - w->text.data);
            w->text.data[w->text.size] = '\0';
            w->ended = true;
            return 0;
        }
        for (size_t part = size > 0 ? size - 1 : 0; part > most; part--)
            if (part <= w->text.size - w->told && memcmp(w->text.data + w->text.size - part, stop, part) == 0)
                most = part;
    }
    return most;
}

static void tell(writing *w, bool all)
{
    const size_t held = w->text.data != NULL ? held_back(w) : 0;
    const size_t end = w->text.size - (all || w->ended ? 0 : held);
    if (end <= w->told || w->text.data == NULL)
        return;
    char *from = w->text.data + w->told, kept = w->text.data[end];
    w->text.data[end] = '\0';
    if (w->options->token != NULL && !w->options->token(w->options->user, from))
        w->ended = true;
    w->text.data[end] = kept;
    w->told = end;
}

/* A special token ends a text. */
static mw_status take_token(writing *w, int32_t token)
{
    mw__sampler_note(&w->sampler, token);
    if (mw_tokenizer_is_special(w->model->tokenizer, token)) {
        w->ended = true;
        return MW_OK;
    }
    const char *part = mw_token_stream_push(w->stream, token, w->err);
    if (part == NULL)
        return w->err->status;
    mw__text_puts(&w->text, part);
    MW_TRY(mw__text_check(&w->text, w->err));
    tell(w, false);
    return MW_OK;
}

static mw_status write_text(writing *w, mw_program *last, int64_t at)
{
    for (int64_t i = 0; i < w->options->tokens && !w->ended; i++) {
        MW_TRY(mw_program_read(last, "logits", MW_F32, w->sampler.values, w->sampler.words, w->err));
        const int32_t token = mw__sampler_next(&w->sampler, w->options);
        MW_TRY(take_token(w, token));
        if (w->ended || at == w->model->cache || i + 1 == w->options->tokens)
            break;
        last = w->model->writing;
        MW_TRY(run_tokens(last, &token, 1, 1, at++, w->err));
    }
    mw__text_puts(&w->text, w->ended ? "" : mw_token_stream_finish(w->stream));
    tell(w, true);
    return mw__text_check(&w->text, w->err);
}

static mw_status check_prompt(const mw_text_model *m, const mw_tokens *tokens, mw_error *err)
{
    if (tokens->count == 0 || (int64_t)tokens->count >= m->cache)
        return mw__fail(err, MW_ERROR_ARGUMENT, "generate: the prompt has %zu tokens; 1 to %lld have room",
                        tokens->count, (long long)m->cache - 1);
    for (size_t i = 0; i < tokens->count; i++)
        if (tokens->ids[i] >= m->config.words)
            return mw__fail(err, MW_ERROR_ARGUMENT,
                            "generate: token %zu of the prompt has the number %d, and the network has %lld words", i,
                            (int)tokens->ids[i], (long long)m->config.words);
    return MW_OK;
}

static mw_status generate(writing *w, const char *prompt)
{
    mw_text_model *m = w->model;
    mw_tokens tokens = {0};
    mw_program *last = NULL;
    MW_TRY(mw_tokenizer_encode(m->tokenizer, prompt, strlen(prompt), NULL, &tokens, w->err));
    mw_status status = check_prompt(m, &tokens, w->err);
    for (size_t i = 0; i < tokens.count && status == MW_OK; i++)
        mw__sampler_note(&w->sampler, tokens.ids[i]);
    if (status == MW_OK)
        status = read_prompt(m, tokens.ids, (int64_t)tokens.count, &last, w->err);
    if (status == MW_OK)
        status = write_text(w, last, (int64_t)tokens.count);
    mw_tokens_destroy(&tokens);
    return status;
}

/* What was written; NULL after a failure. */
static char *end_writing(writing *w, mw_status status)
{
    char *text = NULL;
    mw__text_puts(&w->text, "");
    if (status == MW_OK)
        text = mw__text_take(&w->text, w->err);
    else
        mw__text_deinit(&w->text);
    mw__sampler_deinit(&w->sampler);
    mw_token_stream_destroy(w->stream);
    return text;
}

char *mw_text_model_generate(mw_text_model *model, const char *prompt, const mw_generate_options *options,
                             mw_error *err)
{
    mw_error own = {0};
    if (mw__skips(err))
        return NULL;
    err = err != NULL ? err : &own;
    const mw_generate_options o = options != NULL ? *options : mw_generate_defaults();
    if (mw__live_check(model, MW__LIVE_TEXT_MODEL, __func__, err) != MW_OK || check_generate(&o, prompt, err) != MW_OK)
        return NULL;
    writing w = {.model = model, .options = &o, .err = err, .stream = mw_token_stream_create(model->tokenizer, err)};
    mw__text_init(&w.text, NULL);
    mw_status status = mw__sampler_init(&w.sampler, model->allocator, (size_t)model->config.words, o.seed, err);
    if (status == MW_OK && w.stream != NULL)
        status = generate(&w, prompt);
    return end_writing(&w, err->status != MW_OK ? err->status : status);
}
