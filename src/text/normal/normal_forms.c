/* The normal forms of Unicode (UAX 15), with the place of each character kept. */
#include "base/text/error.h"
#include "text/normal/normal.h"
#include "text/unicode/unicode.h"

/* One character after decomposition. */
typedef struct decomposed {
    uint32_t code;
    int combining;
    int takes; /* characters of the text that it stands for: 0 of what another was decomposed to beside its first */
} decomposed;

/* Characters from a starter to the next one that nothing before it composes with: what is put in order and composed
 * together. A run of more marks than this is put out in parts, so that no text takes more than linear time. */
enum { RUN = 256 };

typedef struct forming {
    const mw__aligned *in;
    mw__aligned *out;
    bool compatible, composes;
    decomposed run[RUN];
    uint32_t places[RUN]; /* bytes of the text, in its order: who is put in another order keeps none of its own, as in
                           * the engine that made these files */
    uint32_t last_place;
    int count, place_count;
} forming;

/* Stable, by insertion: marks of one character are few. */
static void put_in_order(forming *f)
{
    for (int i = 1; i < f->count; i++) {
        const decomposed moved = f->run[i];
        int to = i;
        while (moved.combining > 0 && to > 0 && f->run[to - 1].combining > moved.combining) {
            f->run[to] = f->run[to - 1];
            to--;
        }
        f->run[to] = moved;
    }
}

/* A mark is blocked from the starter by one of its class, or of none, between them. */
static void compose(forming *f)
{
    int starter = -1, kept = 0, before = -1;
    for (int i = 0; i < f->count; i++) {
        const decomposed c = f->run[i];
        const bool reaches = starter >= 0 && (before < c.combining || kept == starter + 1);
        const uint32_t both = reaches ? mw__unicode_compose(f->run[starter].code, c.code) : 0;
        if (both != 0) {
            f->run[starter].code = both;
            f->run[starter].takes += c.takes;
            continue;
        }
        starter = c.combining == 0 ? kept : starter;
        before = c.combining == 0 ? -1 : c.combining;
        f->run[kept++] = c;
    }
    f->count = kept;
}

static void put_out(forming *f, int count)
{
    int used = 0;
    for (int i = 0; i < count; i++) {
        if (f->run[i].takes > 0 && used < f->place_count)
            f->last_place = f->places[used];
        mw__aligned_put_code(f->out, f->run[i].code, f->in, f->last_place);
        used += f->run[i].takes;
        f->last_place = used > 0 ? f->places[used - 1] : f->last_place;
    }
    for (int i = count; i < f->count; i++)
        f->run[i - count] = f->run[i];
    for (int i = used; i < f->place_count; i++)
        f->places[i - used] = f->places[i];
    f->count -= count;
    f->place_count -= used;
}

/* The last starter stays, as the next character may compose with it. */
static void finish_run(forming *f, bool last)
{
    put_in_order(f);
    if (f->composes)
        compose(f);
    const bool stays = !last && f->count > 0 && f->run[f->count - 1].combining == 0;
    put_out(f, f->count - (stays ? 1 : 0));
}

static void add_code(forming *f, uint32_t code, size_t at, bool first)
{
    const int combining = code < 0x110000 ? mw__unicode_combining(code) : 0;
    if ((combining == 0 && f->count > 1) || f->count == RUN || f->place_count == RUN)
        finish_run(f, f->count == RUN || f->place_count == RUN);
    if (first)
        f->places[f->place_count++] = (uint32_t)at;
    f->run[f->count++] = (decomposed){code, combining, first};
}

static void add_char(forming *f, mw__char c, size_t at)
{
    uint32_t parts[18] = {c.code};
    const int count = c.code >= 128 && c.code < 0x110000 ? mw__unicode_decompose(c.code, f->compatible, parts) : 1;
    for (int i = 0; i < count; i++)
        add_code(f, parts[i], at, i == 0);
}

void mw__normalizer_form(mw__normal_kind form, const mw__aligned *in, mw__aligned *out)
{
    forming f = {.in = in,
                 .out = out,
                 .compatible = form == MW__NORMAL_NFKC || form == MW__NORMAL_NFKD,
                 .composes = form == MW__NORMAL_NFC || form == MW__NORMAL_NFKC};
    for (size_t at = 0; at < in->size && out->err->status == MW_OK;) {
        const mw__char c = mw__unicode_read(in->bytes + at, in->bytes + in->size);
        add_char(&f, c, at);
        at += c.length;
    }
    finish_run(&f, true);
}
