/* Texts into vectors: the longest first, in batches of about one length. */
#include "text/embed/embed.h"
#include "text/embed/programs.h"
#include "text/tokenizer/tokenizer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A text as tokens. */
typedef struct embedded {
    mw_tokens tokens;
    size_t count; /* of them that are looked at */
    size_t place; /* among the texts */
} embedded;

/* A call. */
typedef struct embedding {
    mw__embedder *embedder;
    mw_pooling pooling;
    bool unit;
    embedded *texts; /* [count] */
    size_t count;
    int32_t *tokens, *types, *mask; /* [texts of a run, tokens of each] */
    float *hidden;                  /* .. and width */
    float *out;                     /* [count, width] */
    mw_error *err;
} embedding;

/* ---- tokens ---- */

/* How many tokens the tokenizer puts behind a text. */
static size_t tokens_behind(const mw_tokenizer *t)
{
    size_t count = 0;
    while (count < t->part_count && !t->parts[t->part_count - 1 - count].is_text)
        count++;
    return count;
}

/* A long text loses its end, and keeps what stands behind it, as in sentence-transformers. */
static void cut_text(const embedding *c, embedded *t)
{
    const size_t most = (size_t)c->embedder->most, behind = tokens_behind(c->embedder->tokenizer);
    t->count = t->tokens.count;
    if (t->count <= most)
        return;
    if (behind < most)
        memmove(t->tokens.ids + most - behind, t->tokens.ids + t->count - behind, behind * sizeof *t->tokens.ids);
    t->count = most;
}

static mw_status take_text(const embedding *c, embedded *t, const char *text)
{
    const int64_t words = c->embedder->config->words;
    if (text == NULL)
        return mw__fail(c->err, MW_ERROR_ARGUMENT, "embeddings: text %zu is NULL", t->place);
    MW_TRY(mw_tokenizer_encode(c->embedder->tokenizer, text, strlen(text), NULL, &t->tokens, c->err));
    cut_text(c, t);
    if (t->count == 0)
        return mw__fail(c->err, MW_ERROR_ARGUMENT, "embeddings: text %zu has no tokens", t->place);
    for (size_t i = 0; i < t->count; i++)
        if (t->tokens.ids[i] >= words)
            return mw__fail(c->err, MW_ERROR_ARGUMENT,
                            "embeddings: token %zu of text %zu has the number %d, and the network has %lld words", i,
                            t->place, (int)t->tokens.ids[i], (long long)words);
    return MW_OK;
}

static int longer_first(const void *left, const void *right)
{
    const embedded *a = left, *b = right;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

/* ---- vectors ---- */

static void scale_to_unit(float *vector, size_t width)
{
    double squares = 0.0;
    for (size_t k = 0; k < width; k++)
        squares += (double)vector[k] * (double)vector[k];
    const double length = sqrt(squares) > 1e-12 ? sqrt(squares) : 1e-12;
    for (size_t k = 0; k < width; k++)
        vector[k] = (float)((double)vector[k] / length);
}

/* hidden [tokens, width], of which the first `count` count */
static void pool(const embedding *c, const float *hidden, size_t count, float *out)
{
    const size_t width = (size_t)c->embedder->config->width, last = c->pooling == MW_POOLING_CLS ? 1 : count;
    for (size_t k = 0; k < width; k++) {
        double sum = 0.0;
        for (size_t i = 0; i < last; i++)
            sum += (double)hidden[i * width + k];
        out[k] = (float)(sum / (double)last);
    }
    if (c->unit)
        scale_to_unit(out, width);
}

/* ---- runs ---- */

/* Rows without a text have one token, which nobody reads. */
static void fill_inputs(const embedding *c, const embedded *texts, size_t count, const mw__embedder_group *b)
{
    for (size_t i = 0; i < b->texts; i++) {
        const size_t tokens = (size_t)b->tokens, some = i < count ? texts[i].count : 1;
        for (size_t k = 0; k < tokens; k++) {
            c->tokens[i * tokens + k] = i < count && k < some ? texts[i].tokens.ids[k] : 0;
            c->mask[i * tokens + k] = k < some;
        }
    }
}

static mw_status run_batch(const embedding *c, const embedded *texts, size_t count, const mw__embedder_group *b)
{
    const size_t cells = b->texts * (size_t)b->tokens, width = (size_t)c->embedder->config->width;
    mw_program *program = mw__embedder_program(c->embedder, b, c->err);
    if (program == NULL)
        return c->err->status;
    fill_inputs(c, texts, count, b);
    MW_TRY(mw_program_write(program, "tokens", MW_I32, c->tokens, cells, c->err));
    MW_TRY(mw_program_write(program, "types", MW_I32, c->types, cells, c->err));
    MW_TRY(mw_program_write(program, "mask", MW_I32, c->mask, cells, c->err));
    MW_TRY(mw_program_run(program, c->err));
    MW_TRY(mw_program_read(program, "hidden", MW_F32, c->hidden, cells * width, c->err));
    for (size_t i = 0; i < count; i++)
        pool(c, c->hidden + i * (size_t)b->tokens * width, texts[i].count, c->out + texts[i].place * width);
    return MW_OK;
}

static mw_status run_all(const embedding *c)
{
    for (size_t at = 0, count; at < c->count; at += count) {
        const mw__embedder_group b = mw__embedder_group_for(c->embedder, (int64_t)c->texts[at].count, c->count - at);
        count = b.texts < c->count - at ? b.texts : c->count - at;
        MW_TRY(run_batch(c, c->texts + at, count, &b));
    }
    return MW_OK;
}

/* ---- a call ---- */

/* Room for the inputs of every run: 1024 tokens, or one text. */
static mw_status make_room(embedding *c)
{
    const mw_allocator *a = mw__allocator_default();
    const size_t cells = c->embedder->most > 1024 ? (size_t)c->embedder->most : 1024;
    c->texts = mw__alloc(a, c->count, sizeof *c->texts, c->err);
    c->tokens = mw__alloc(a, cells, sizeof *c->tokens, c->err);
    c->types = mw__alloc(a, cells, sizeof *c->types, c->err);
    c->mask = mw__alloc(a, cells, sizeof *c->mask, c->err);
    c->hidden = mw__alloc(a, cells, (size_t)c->embedder->config->width * sizeof *c->hidden, c->err);
    return c->err->status;
}

static mw_status embed_texts(embedding *c, const char *const *texts)
{
    MW_TRY(make_room(c));
    for (size_t i = 0; i < c->count; i++)
        c->texts[i] = (embedded){.place = i};
    for (size_t i = 0; i < c->count; i++)
        MW_TRY(take_text(c, &c->texts[i], texts[i]));
    qsort(c->texts, c->count, sizeof *c->texts, longer_first);
    return run_all(c);
}

mw_status mw__embedder_run(mw__embedder *e, const char *const *texts, size_t count, const mw_embed_options *o,
                           float *out, mw_error *err)
{
    const mw_allocator *a = mw__allocator_default();
    embedding c = {.embedder = e, .count = count, .out = out, .err = err};
    c.pooling = o->pooling == MW_POOLING_OF_FOLDER ? e->form.pooling : o->pooling;
    c.unit = o->unit || e->form.unit;
    const mw_status status = embed_texts(&c, texts);
    for (size_t i = 0; c.texts != NULL && i < count; i++)
        mw_tokens_destroy(&c.texts[i].tokens);
    mw__free(a, c.texts);
    mw__free(a, c.tokens);
    mw__free(a, c.types);
    mw__free(a, c.mask);
    mw__free(a, c.hidden);
    return status;
}
