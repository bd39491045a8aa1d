/* Texts that a model writes, one or several at a time. Of several the shorter prompts stand behind padding, which no
 * token looks at, so that all have their next token at one place of the cache. */
#include "text/generate/generate.h"
#include "text/generate/sampler.h"
#include "text/net/net.h"

#include "base/memory/live.h"
#include "base/text/error.h"
#include "base/text/text.h"

#include <string.h>

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
    for (size_t i = 0; i < o->stop_count; i++)
        if (o->stops[i] == NULL || o->stops[i][0] == '\0')
            return mw__fail(err, MW_ERROR_ARGUMENT, "generate: stop %zu is %s, which ends nothing; leave it out", i,
                            o->stops[i] == NULL ? "NULL" : "empty");
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

/* One text. */
typedef struct written {
    const mw_text_model *model;
    const mw_generate_options *options;
    mw_tokens prompt;
    mw_token_stream *stream;
    mw__sampler sampler;
    mw__text text;
    size_t told;   /* bytes of it that the caller has heard of */
    int32_t token; /* the newest */
    bool ended;
    mw_error *err;
} written;

/* ---- what is heard of it ---- */

/* The longest end of the text that may be the begin of a stop, which is not told yet; or all of it from a stop on. */
static size_t held_back(written *w)
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

static void tell(written *w, bool all)
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
static mw_status take_token(written *w, int32_t token)
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

static void end_text(written *w)
{
    mw__text_puts(&w->text, w->ended ? "" : mw_token_stream_finish(w->stream));
    tell(w, true);
}

/* ---- all texts of a call ---- */

typedef struct writing {
    mw_text_model *model;
    const mw_generate_options *options;
    mw__generation_programs *programs;
    written *texts; /* [count] */
    size_t count;
    int64_t longest; /* tokens of a prompt */
    int32_t *tokens; /* [count, tokens of a run] */
    float *logits;   /* [count, words] */
    mw_error *err;
} writing;

/* Tokens from place `at` on, fewer than the program takes if need be: what is written behind them is written over
 * later, before anything looks there. */
static mw_status run_tokens(const writing *w, mw_program *program, int64_t takes, int64_t count, int64_t at)
{
    const int32_t begin = (int32_t)at, last = (int32_t)count - 1;
    MW_TRY(mw_program_write(program, "tokens", MW_I32, w->tokens, w->count * (size_t)takes, w->err));
    MW_TRY(mw_program_write(program, "at", MW_I32, &begin, 1, w->err));
    MW_TRY(mw_program_write(program, "last", MW_I32, &last, 1, w->err));
    return mw_program_run(program, w->err);
}

/* How many tokens stand before each text. */
static mw_status write_before(const writing *w, mw_program *program)
{
    if (w->count == 1)
        return MW_OK;
    for (size_t i = 0; i < w->count; i++)
        w->tokens[i] = (int32_t)(w->longest - (int64_t)w->texts[i].prompt.count);
    return mw_program_write(program, "before", MW_I32, w->tokens, w->count, w->err);
}

static void take_prompts(const writing *w, int64_t takes, int64_t count, int64_t at)
{
    for (size_t i = 0; i < w->count; i++) {
        const mw_tokens *prompt = &w->texts[i].prompt;
        const int64_t before = w->longest - (int64_t)prompt->count;
        for (int64_t k = 0; k < takes; k++) {
            const bool has = k < count && at + k >= before;
            w->tokens[(int64_t)i * takes + k] = has ? prompt->ids[at + k - before] : 0;
        }
    }
}

/* Reads the prompts into the cache; the logits of their last tokens stay in *last. */
static mw_status read_prompts(const writing *w, mw_program **last)
{
    for (int64_t at = 0, takes = 0; at < w->longest; at += takes) {
        const int64_t left = w->longest - at;
        mw_program *program =
            mw__generation_program_for(w->model, w->programs, left, w->model->cache - at, &takes, w->err);
        if (program == NULL)
            return w->err->status;
        MW_TRY(write_before(w, program));
        take_prompts(w, takes, left < takes ? left : takes, at);
        MW_TRY(run_tokens(w, program, takes, left < takes ? left : takes, at));
        *last = program;
    }
    return w->count > 1 ? write_before(w, w->programs->writing) : MW_OK;
}

/* The next token of each text that goes on; false if none does. */
static bool draw_tokens(const writing *w, mw_program *last)
{
    const size_t words = w->texts[0].sampler.words;
    bool goes_on = false;
    if (mw_program_read(last, "logits", MW_F32, w->logits, w->count * words, w->err) != MW_OK)
        return false;
    for (size_t i = 0; i < w->count; i++) {
        written *t = &w->texts[i];
        if (t->ended)
            continue;
        memcpy(t->sampler.values, w->logits + i * words, words * sizeof *w->logits);
        t->token = mw__sampler_next(&t->sampler, w->options);
        if (take_token(t, t->token) != MW_OK)
            return false;
        goes_on = goes_on || !t->ended;
    }
    return goes_on;
}

static mw_status write_texts(const writing *w)
{
    mw_program *last = NULL;
    MW_TRY(read_prompts(w, &last));
    for (int64_t i = 0, at = w->longest; i < w->options->tokens && draw_tokens(w, last); i++, at++) {
        if (at == w->model->cache || i + 1 == w->options->tokens)
            break;
        last = w->programs->writing;
        for (size_t k = 0; k < w->count; k++)
            w->tokens[k] = w->texts[k].token;
        MW_TRY(run_tokens(w, last, 1, 1, at));
    }
    for (size_t i = 0; i < w->count && w->err->status == MW_OK; i++)
        end_text(&w->texts[i]);
    return w->err->status;
}

/* ---- begin and end ---- */

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

static mw_status begin_text(writing *w, written *t, const char *prompt)
{
    mw_text_model *m = w->model;
    *t = (written){.model = m, .options = w->options, .err = w->err};
    mw__text_init(&t->text, NULL);
    mw__text_puts(&t->text, "");
    t->stream = mw_token_stream_create(m->tokenizer, w->err);
    MW_TRY(w->err->status);
    MW_TRY(mw__sampler_init(&t->sampler, m->allocator, (size_t)m->config.words, w->options->seed, w->err));
    MW_TRY(mw_tokenizer_encode(m->tokenizer, prompt, strlen(prompt), NULL, &t->prompt, w->err));
    MW_TRY(check_prompt(m, &t->prompt, w->err));
    for (size_t i = 0; i < t->prompt.count; i++)
        mw__sampler_note(&t->sampler, t->prompt.ids[i]);
    w->longest = (int64_t)t->prompt.count > w->longest ? (int64_t)t->prompt.count : w->longest;
    return MW_OK;
}

/* *out: what was written; NULL after a failure. */
static void end_one(written *t, char **out)
{
    *out = t->err != NULL && t->err->status == MW_OK ? mw__text_take(&t->text, t->err) : NULL;
    if (*out == NULL)
        mw__text_deinit(&t->text);
    mw__sampler_deinit(&t->sampler);
    mw_tokens_destroy(&t->prompt);
    mw_token_stream_destroy(t->stream);
}

static mw_status write_all(writing *w, const char *const *prompts, char **out_texts)
{
    mw_text_model *m = w->model;
    enum { MOST_OF_A_RUN = 256 };
    w->texts = mw__alloc(m->allocator, w->count, sizeof *w->texts, w->err);
    w->tokens = mw__alloc(m->allocator, w->count * MOST_OF_A_RUN, sizeof *w->tokens, w->err);
    w->logits = mw__alloc(m->allocator, w->count, (size_t)m->config.words * sizeof *w->logits, w->err);
    size_t begun = 0;
    for (; begun < w->count && w->err->status == MW_OK; begun++)
        begin_text(w, &w->texts[begun], prompts[begun]);
    if (w->err->status == MW_OK)
        w->programs = mw__generation_programs_for(m, (int64_t)w->count, w->err);
    if (w->programs != NULL)
        write_texts(w);
    for (size_t i = 0; i < begun; i++)
        end_one(&w->texts[i], &out_texts[i]);
    mw__free(m->allocator, w->texts);
    mw__free(m->allocator, w->tokens);
    mw__free(m->allocator, w->logits);
    return w->err->status;
}

static void free_texts(char **texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        mw_string_free(texts[i]);
        texts[i] = NULL;
    }
}

/* Texts at a time: their caches are in memory together. */
enum { TEXTS_MOST = 4096 };

mw_status mw_text_model_generate_each(mw_text_model *model, const char *const *prompts, size_t count,
                                      const mw_generate_options *options, char **out_texts, mw_error *err)
{
    mw_error own = {0};
    for (size_t i = 0; out_texts != NULL && i < count; i++)
        out_texts[i] = NULL;
    if (mw__skips(err))
        return err->status;
    err = err != NULL ? err : &own;
    const mw_generate_options o = options != NULL ? *options : mw_generate_defaults();
    MW_TRY(mw__live_check(model, MW__LIVE_TEXT_MODEL, __func__, err));
    if (mw__language_family(model->config.family)->encoder)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "generate: %s is an encoder, which writes no texts; mw_text_model_embed gives their embeddings",
                        model->config.family);
    if (prompts == NULL || out_texts == NULL || count < 1 || count > TEXTS_MOST)
        return mw__fail(err, MW_ERROR_ARGUMENT, "generate: %zu prompts; 1 to %d have room", count, TEXTS_MOST);
    for (size_t i = 0; i < count; i++)
        MW_TRY(check_generate(&o, prompts[i], err));
    if (count > 1 && o.token != NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "generate: `token` is told of one text, not of %zu", count);
    writing w = {.model = model, .options = &o, .count = count, .err = err};
    if (write_all(&w, prompts, out_texts) != MW_OK)
        free_texts(out_texts, count);
    return err->status;
}

char *mw_text_model_generate(mw_text_model *model, const char *prompt, const mw_generate_options *options,
                             mw_error *err)
{
    char *text = NULL;
    mw_error own = {0};
    mw_text_model_generate_each(model, &prompt, 1, options, &text, err != NULL ? err : &own);
    return text;
}
