/* Which tokens an example has: windows of a file, or documents filled up, and their columns. */
#include "text/data/examples.h"

#include "base/text/error.h"

static mw__corpus_place place_of(const mw__corpus_examples *e, int64_t example)
{
    if (e->places != NULL)
        return e->places[example];
    return (mw__corpus_place){(uint64_t)(example * e->tokens), e->tokens};
}

static mw_status check_words(const mw__corpus_examples *e, uint64_t at, const int32_t *ids, int64_t count,
                             mw_error *err)
{
    for (int64_t i = 0; i < count && e->words > 0; i++)
        if ((uint64_t)ids[i] >= e->words)
            return mw__fail(err, MW_ERROR_ARGUMENT,
                            "\"%.200s\": token %llu has the number %d, and the network has %llu words", e->file->path,
                            (unsigned long long)(at + (uint64_t)i), (int)ids[i], (unsigned long long)e->words);
    return MW_OK;
}

/* The document that has token `at`. */
static size_t document_of(const mw__corpus_file *f, uint64_t at)
{
    size_t low = 0, high = f->document_count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (f->documents[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Where in the window at `p` the document of each of its tokens begins. */
static void fill_starts(const mw__corpus_examples *e, mw__corpus_place p, int32_t *out)
{
    const mw__corpus_file *f = e->file;
    size_t document = document_of(f, p.begin);
    for (int64_t i = 0; i < p.count; i++) {
        const uint64_t at = p.begin + (uint64_t)i;
        if (document + 1 < f->document_count && f->documents[document + 1] == at)
            document++;
        out[i] = f->documents[document] > p.begin ? (int32_t)(f->documents[document] - p.begin) : 0;
    }
}

/* A label that begins another document follows from nothing that is seen. */
static void hide_begins(const mw__corpus_examples *e, mw__corpus_place p, int32_t *labels)
{
    const mw__corpus_file *f = e->file;
    for (size_t k = document_of(f, p.begin) + 1; k < f->document_count; k++) {
        if (f->documents[k] > p.begin + (uint64_t)p.count)
            return;
        labels[f->documents[k] - p.begin - 1] = -100;
    }
}

int64_t mw__corpus_examples_length(const mw__corpus_examples *e, int64_t example) { return place_of(e, example).count; }

mw_status mw__corpus_examples_fill(const mw__corpus_examples *e, int64_t example, mw__corpus_column column,
                                   int32_t *out, mw_error *err)
{
    const mw__corpus_place p = place_of(e, example);
    const uint64_t at = p.begin + (column == MW__CORPUS_LABELS ? 1 : 0);
    if (column == MW__CORPUS_STARTS) {
        fill_starts(e, p, out);
        return MW_OK;
    }
    MW_TRY(mw__corpus_read(e->file, at, (size_t)p.count, out, err));
    MW_TRY(check_words(e, at, out, p.count, err));
    for (int64_t i = 0; i < p.count && column == MW__CORPUS_LABELS && !e->whole; i++)
        out[i] = mw__corpus_learns(e->file, at + (uint64_t)i) ? out[i] : -100;
    if (column == MW__CORPUS_LABELS && e->apart)
        hide_begins(e, p, out);
    for (int64_t i = p.count; i < e->tokens; i++)
        out[i] = column == MW__CORPUS_LABELS ? -100 : 0;
    return MW_OK;
}

/* ---- where they are ---- */

/* A part in which nothing is learned would be a step for nothing. */
static mw_status add_place(mw__corpus_examples *e, uint64_t begin, int64_t count, mw_error *err)
{
    bool learns = e->file->learned == NULL || e->whole;
    for (int64_t i = 1; i <= count && !learns; i++)
        learns = mw__corpus_learns(e->file, begin + (uint64_t)i);
    if (!learns || count < 1)
        return MW_OK;
    MW_TRY(mw__grow(mw__allocator_default(), &e->places, &e->capacity, (size_t)e->count + 1, sizeof *e->places, err));
    e->places[e->count++] = (mw__corpus_place){begin, count};
    return MW_OK;
}

static mw_status place_documents(mw__corpus_examples *e, mw_error *err)
{
    const mw__corpus_file *f = e->file;
    const int64_t most = e->tokens;
    for (size_t i = 0; i < f->document_count; i++) {
        const uint64_t end = i + 1 < f->document_count ? f->documents[i + 1] : f->count;
        for (uint64_t at = f->documents[i]; at + 1 < end; at += (uint64_t)most) {
            const uint64_t left = end - 1 - at;
            MW_TRY(add_place(e, at, left < (uint64_t)most ? (int64_t)left : most, err));
        }
    }
    return MW_OK;
}

static mw_status place_windows(mw__corpus_examples *e, mw_error *err)
{
    const uint64_t windows = e->file->count > 0 ? (e->file->count - 1) / (uint64_t)e->tokens : 0;
    if (e->file->learned == NULL || e->whole) {
        e->count = (int64_t)windows;
        return MW_OK;
    }
    for (uint64_t i = 0; i < windows; i++)
        MW_TRY(add_place(e, i * (uint64_t)e->tokens, e->tokens, err));
    return MW_OK;
}

/* Options that this file has no use for. */
static mw_status check_documents(const mw__corpus_examples *e, mw_error *err)
{
    const mw__corpus_file *f = e->file;
    if (e->whole && f->learned == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "whole has no effect: \"%.200s\" has no conversation", f->path);
    if ((e->padded || e->apart) && !f->is_own)
        return mw__fail(err, MW_ERROR_ARGUMENT, "\"%.200s\" does not say where documents end: they cannot be %s",
                        f->path, e->padded ? "padded" : "apart");
    if (e->apart && f->document_count < 2)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "documents apart have no effect: \"%.200s\" is one document; .jsonl has one in each line",
                        f->path);
    return MW_OK;
}

static mw_status no_example(const mw__corpus_examples *e, mw_error *err)
{
    const mw__corpus_file *f = e->file;
    if (f->count < 2)
        return mw__fail(err, MW_ERROR_ARGUMENT, "\"%.200s\" has %llu tokens; nothing can be learned from them", f->path,
                        (unsigned long long)f->count);
    if (f->learned != NULL && !e->whole && (e->padded || f->count > (uint64_t)e->tokens))
        return mw__fail(err, MW_ERROR_ARGUMENT, "\"%.200s\" has no answer that could be learned", f->path);
    return mw__fail(err, MW_ERROR_ARGUMENT,
                    "\"%.200s\" has %llu tokens, and an example takes %lld and the one that follows: take fewer, or "
                    "pad",
                    f->path, (unsigned long long)f->count, (long long)e->tokens);
}

/* ---- lengths ---- */

/* 32, 64 and so on, as far as there are examples of such a length; the last is what the longest needs. */
static mw_status choose_limits(mw__corpus_examples *e, mw_error *err)
{
    bool used[MW__CORPUS_BUCKETS] = {false};
    int64_t limits[MW__CORPUS_BUCKETS];
    size_t count = 0;
    for (int64_t limit = MW__CORPUS_SHORTEST; limit < e->tokens; limit *= 2)
        limits[count++] = limit;
    limits[count++] = e->tokens;
    for (int64_t i = 0; i < e->count; i++) {
        size_t k = 0;
        while (limits[k] < e->places[i].count)
            k++;
        used[k] = true;
    }
    for (size_t k = 0; k < count; k++)
        if (used[k])
            e->limits[e->limit_count++] = limits[k];
    if (e->limit_count == 1 && e->limits[0] == e->tokens)
        return mw__fail(
            err, MW_ERROR_ARGUMENT,
            "buckets have no effect: all examples of \"%.200s\" are filled up to %lld tokens; leave them out",
            e->file->path, (long long)e->tokens);
    e->tokens = e->limits[e->limit_count - 1];
    return MW_OK;
}

mw_status mw__corpus_examples_find(mw__corpus_examples *e, mw_error *err)
{
    MW_TRY(check_documents(e, err));
    MW_TRY(e->padded ? place_documents(e, err) : place_windows(e, err));
    if (e->count == 0)
        return no_example(e, err);
    return e->buckets ? choose_limits(e, err) : MW_OK;
}

void mw__corpus_examples_deinit(mw__corpus_examples *e) { mw__free(mw__allocator_default(), e->places); }
