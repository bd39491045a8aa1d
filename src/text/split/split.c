/* Running the steps of a pre-tokenizer. */
#include "base/text/error.h"
#include "text/split/spans.h"
#include "text/unicode/unicode.h"

#include <string.h>

mw_status mw__cut_spans_add(mw__cut_spans *spans, size_t begin, size_t end, mw_error *err)
{
    if (begin == end)
        return MW_OK;
    if (spans->count == spans->capacity)
        MW_TRY(
            mw__grow(spans->allocator, &spans->items, &spans->capacity, spans->count + 1, sizeof *spans->items, err));
    spans->items[spans->count++] = (mw__cut_span){begin, end};
    return MW_OK;
}

void mw__cut_spans_deinit(mw__cut_spans *spans)
{
    mw__free(spans->allocator, spans->items);
    *spans = (mw__cut_spans){.allocator = spans->allocator};
}

/* ---- what a cut leaves ---- */

/* Pieces come in order, each found or not; what is put out is the last one that may still grow. */
typedef struct cutting {
    mw__split_behavior behavior;
    mw__cut_spans *out;
    mw__cut_span open;
    bool has_open, open_found;
    mw_error *err;
} cutting;

static void close_piece(cutting *c)
{
    if (c->has_open && !(c->behavior == MW__SPLIT_REMOVED && c->open_found))
        mw__cut_spans_add(c->out, c->open.begin, c->open.end, c->err);
    c->has_open = false;
}

/* Whether a piece goes on with the one before it. */
static bool joins(const cutting *c, bool found)
{
    switch (c->behavior) {
    case MW__SPLIT_MERGED_WITH_PREVIOUS:
        return found && !c->open_found;
    case MW__SPLIT_MERGED_WITH_NEXT:
        return !found && c->open_found;
    case MW__SPLIT_CONTIGUOUS:
        return found == c->open_found;
    default:
        return false;
    }
}

static void put_piece(cutting *c, size_t begin, size_t end, bool found)
{
    if (begin == end)
        return;
    if (c->has_open && joins(c, found)) {
        c->open.end = end;
        c->open_found = found;
        return;
    }
    close_piece(c);
    c->open = (mw__cut_span){begin, end};
    c->open_found = found;
    c->has_open = true;
}

static void cut(const mw__split_step *step, const mw__aligned *text, mw__cut_span in, mw__cut_spans *out)
{
    cutting c = {.behavior = step->behavior, .out = out, .err = text->err};
    mw__cut_span found;
    size_t at = in.begin;
    while (mw__cut_find(step, text, at, in.end, &found)) {
        put_piece(&c, at, found.begin, step->invert);
        put_piece(&c, found.begin, found.end, !step->invert);
        at = found.end;
    }
    put_piece(&c, at, in.end, step->invert);
    close_piece(&c);
}

static void scan(mw__scanner *next, const mw__aligned *text, mw__cut_span in, mw__cut_spans *out)
{
    const char *at = text->bytes + in.begin, *const end = text->bytes + in.end;
    while (at < end && text->err->status == MW_OK) {
        const size_t size = next(at, end);
        mw__cut_spans_add(out, (size_t)(at - text->bytes), (size_t)(at - text->bytes) + size, text->err);
        at += size;
    }
}

/* ---- a step after the other ---- */

static mw_status cut_all(const mw__split_step *step, const mw__aligned *text, mw__cut_spans *spans)
{
    mw__cut_spans made = {.allocator = spans->allocator};
    for (size_t i = 0; i < spans->count && text->err->status == MW_OK; i++) {
        if (step->kind == MW__SPLIT_SCANNER)
            scan(step->scanner, text, spans->items[i], &made);
        else
            cut(step, text, spans->items[i], &made);
    }
    mw__cut_spans_deinit(spans);
    *spans = made;
    return text->err->status;
}

static bool rewrites(const mw__split_step *step)
{
    return step->kind == MW__SPLIT_PREFIX || step->kind == MW__SPLIT_PREFIX_ALWAYS || step->kind == MW__SPLIT_METASPACE;
}

mw_status mw__cut_run(const mw__split_step *steps, size_t count, bool starts, mw__aligned *text, mw__cut_spans *out)
{
    mw__cut_spans_add(out, 0, text->size, text->err);
    for (size_t i = 0; i < count && text->err->status == MW_OK; i++) {
        if (rewrites(&steps[i]))
            mw__cut_rewrite(&steps[i], starts, text, out);
        if (!rewrites(&steps[i]) || steps[i].cuts)
            cut_all(&steps[i], text, out);
    }
    return text->err->status;
}
