/* Error rates of texts: edits of words and of characters, by the distance of Levenshtein 1966. */
#include "base/memory/live.h"
#include "base/text/error.h"
#include "base/text/utf8.h"
#include "learn/scores/scores.h"

#include <math.h>
#include <string.h>

enum { TEXT_MAX = 1 << 20 };

/* A text in words or characters: where each begins, and its bytes. */
typedef struct units {
    const char **at;
    uint32_t *size;
    size_t count;
} units;

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* ---- cutting ---- */

/* A byte that begins no character is one by itself. */
static size_t character(const char *at, const char *end)
{
    const size_t length = mw__utf8_length(at, end);
    return length > 0 ? length : 1;
}

static size_t word(const char *at, const char *end)
{
    size_t length = 0;
    while (at + length < end && !is_space(at[length]))
        length++;
    return length;
}

static void cut(units *u, const char *text, bool words)
{
    const char *end = text + strlen(text);
    u->count = 0;
    for (const char *at = text; at < end;) {
        const size_t length = words ? word(at, end) : character(at, end);
        if (length > 0) {
            u->at[u->count] = at;
            u->size[u->count++] = (uint32_t)length;
        }
        at += length > 0 ? length : 1;
    }
}

static bool are_equal(const units *a, size_t i, const units *b, size_t j)
{
    return a->size[i] == b->size[j] && memcmp(a->at[i], b->at[j], a->size[i]) == 0;
}

/* ---- the distance ---- */

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* `row` [b->count + 1]: what it takes to make the first units of b of those of a that were seen. */
static double distance(const units *a, const units *b, uint32_t *row)
{
    for (size_t j = 0; j <= b->count; j++)
        row[j] = (uint32_t)j;
    for (size_t i = 0; i < a->count; i++) {
        uint32_t before = row[0];
        row[0] = (uint32_t)i + 1;
        for (size_t j = 0; j < b->count; j++) {
            const uint32_t above = row[j + 1], changed = before + !are_equal(a, i, b, j);
            row[j + 1] = least(changed, least(above, row[j]) + 1);
            before = above;
        }
    }
    return (double)row[b->count];
}

/* ---- a text ---- */

/* Room for the units of both texts, and for a row. */
typedef struct room {
    units reference, text;
    uint32_t *row;
} room;

static void room_deinit(room *r)
{
    const mw_allocator *allocator = mw__allocator_default();
    mw__free(allocator, (void *)r->reference.at);
    mw__free(allocator, r->reference.size);
    mw__free(allocator, (void *)r->text.at);
    mw__free(allocator, r->text.size);
    mw__free(allocator, r->row);
}

static bool units_init(units *u, size_t length, mw_error *err)
{
    u->at = mw__alloc(mw__allocator_default(), length, sizeof *u->at, err);
    u->size = mw__alloc(mw__allocator_default(), length, sizeof *u->size, err);
    return u->at != NULL && u->size != NULL;
}

static mw_status room_init(room *r, size_t reference, size_t text, mw_error *err)
{
    *r = (room){0};
    r->row = mw__alloc(mw__allocator_default(), text + 1, sizeof *r->row, err);
    if (r->row != NULL && units_init(&r->reference, reference, err) && units_init(&r->text, text, err))
        return MW_OK;
    room_deinit(r);
    return err->status;
}

/* Edits from the reference to the text; the units of the reference are counted. */
static double edits(room *r, const char *reference, const char *text, bool words, double *count)
{
    cut(&r->reference, reference, words);
    cut(&r->text, text, words);
    *count += (double)r->reference.count;
    return distance(&r->reference, &r->text, r->row);
}

mw_status mw_scores_add_text(mw_scores *scores, const char *reference, const char *text, mw_error *err)
{
    mw_error local = {0};
    room r;
    err = err != NULL ? err : &local;
    MW_TRY(mw__live_check(scores, MW__LIVE_SCORES, __func__, err));
    if (scores->task != MW_SCORE_TEXTS)
        return mw__fail(err, MW_ERROR_ARGUMENT, "scores: texts are added to scores of MW_SCORE_TEXTS alone");
    if (reference == NULL || text == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "scores: the %s is NULL", reference == NULL ? "reference" : "text");
    const size_t sizes[2] = {strlen(reference), strlen(text)};
    if (sizes[0] > TEXT_MAX || sizes[1] > TEXT_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "scores: a text of %zu bytes; at most %d are compared",
                        sizes[0] > sizes[1] ? sizes[0] : sizes[1], TEXT_MAX);
    MW_TRY(room_init(&r, sizes[0], sizes[1], err));
    mw__score_edits *e = &scores->edits;
    e->word_edits += edits(&r, reference, text, true, &e->words);
    e->character_edits += edits(&r, reference, text, false, &e->characters);
    scores->examples++;
    room_deinit(&r);
    return MW_OK;
}

/* Without a reference any edit is one too many: infinity. */
static double rate(double part, double whole) { return whole > 0.0 ? part / whole : part > 0.0 ? INFINITY : NAN; }

MW__SCORE(wer) { return rate(s->edits.word_edits, s->edits.words); }
MW__SCORE(cer) { return rate(s->edits.character_edits, s->edits.characters); }
