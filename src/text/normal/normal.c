/* Running the steps of a normalizer, and those that look at one character at a time. */
#include "text/normal/normal.h"

#include "base/text/error.h"
#include "text/unicode/unicode.h"

#include <string.h>

/* ---- character by character ---- */

typedef void on_char(mw__char c, const mw__aligned *in, size_t at, mw__aligned *out);

static void each_char(on_char *take, const mw__aligned *in, mw__aligned *out)
{
    for (size_t at = 0; at < in->size && out->err->status == MW_OK;) {
        const mw__char c = mw__unicode_read(in->bytes + at, in->bytes + in->size);
        take(c, in, at, out);
        at += c.length;
    }
}

static void keep(mw__char c, const mw__aligned *in, size_t at, mw__aligned *out)
{
    mw__aligned_put_code(out, c.code, in, at);
}

static void lower(mw__char c, const mw__aligned *in, size_t at, mw__aligned *out)
{
    uint32_t codes[3] = {c.code};
    const int count = c.code < 0x110000 ? mw__unicode_lower(c.code, codes) : 1;
    for (int i = 0; i < count; i++)
        mw__aligned_put_code(out, codes[i], in, at);
}

static void without_accent(mw__char c, const mw__aligned *in, size_t at, mw__aligned *out)
{
    if ((c.class & MW__CHAR_NONSPACING) == 0)
        keep(c, in, at, out);
}

/* BERT takes tabs and ends of lines for white space; what else is a control character goes, even if it is a space. */
static void clean(mw__char c, const mw__aligned *in, size_t at, mw__aligned *out)
{
    const bool line = c.code == '\t' || c.code == '\n' || c.code == '\r';
    if (!line && ((c.class & MW__CHAR_CONTROL) != 0 || c.code == 0xfffd))
        return;
    if ((c.class & MW__CHAR_SPACE) != 0)
        mw__aligned_put_code(out, ' ', in, at);
    else
        keep(c, in, at, out);
}

static bool is_ideograph(uint32_t code)
{
    static const uint32_t ranges[][2] = {{0x4e00, 0x9fff},   {0x3400, 0x4dbf},   {0x20000, 0x2a6df},
                                         {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f}, {0x2b920, 0x2ceaf},
                                         {0xf900, 0xfaff},   {0x2f800, 0x2fa1f}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code >= ranges[i][0] && code <= ranges[i][1])
            return true;
    return false;
}

static void apart(mw__char c, const mw__aligned *in, size_t at, mw__aligned *out)
{
    const bool alone = is_ideograph(c.code);
    if (alone)
        mw__aligned_put_code(out, ' ', in, at);
    keep(c, in, at, out);
    if (alone)
        mw__aligned_put_code(out, ' ', in, at);
}

/* The sets of SentencePiece's rule nmt. */
static void nmt(mw__char c, const mw__aligned *in, size_t at, mw__aligned *out)
{
    const uint32_t x = c.code;
    const bool gone = (x >= 1 && x <= 8) || x == 0xb || (x >= 0xe && x <= 0x1f) || x == 0x7f || x == 0x8f || x == 0x9f;
    const bool space = x == 9 || x == 0xa || x == 0xc || x == 0xd || x == 0x1680 || (x >= 0x200b && x <= 0x200f) ||
                       x == 0x2028 || x == 0x2029 || x == 0x2581 || x == 0xfeff || x == 0xfffd;
    if (space)
        mw__aligned_put_code(out, ' ', in, at);
    else if (!gone)
        keep(c, in, at, out);
}

/* ---- the others ---- */

static size_t first_that_is_no_space(const mw__aligned *in)
{
    size_t at = 0;
    while (at < in->size) {
        const mw__char c = mw__unicode_read(in->bytes + at, in->bytes + in->size);
        if ((c.class & MW__CHAR_SPACE) == 0)
            break;
        at += c.length;
    }
    return at;
}

static size_t end_without_spaces(const mw__aligned *in, size_t first)
{
    size_t end = first;
    for (size_t at = first; at < in->size;) {
        const mw__char c = mw__unicode_read(in->bytes + at, in->bytes + in->size);
        at += c.length;
        end = (c.class & MW__CHAR_SPACE) == 0 ? at : end;
    }
    return end;
}

static void strip(const mw__normal_step *step, const mw__aligned *in, mw__aligned *out)
{
    const size_t first = step->left ? first_that_is_no_space(in) : 0;
    const size_t end = step->right ? end_without_spaces(in, first) : in->size;
    mw__aligned_copy(out, in, first, end - first);
}

/* The first of several spaces is the one that stays. */
static void collapse(const mw__aligned *in, mw__aligned *out)
{
    size_t space = SIZE_MAX;
    for (size_t at = 0; at < in->size; at++) {
        if (in->bytes[at] == ' ') {
            space = space == SIZE_MAX ? at : space;
            continue;
        }
        if (space != SIZE_MAX && out->size > 0)
            mw__aligned_copy(out, in, space, 1);
        space = SIZE_MAX;
        mw__aligned_copy(out, in, at, 1);
    }
}

/* What stands for several characters stands for the last of them, as in the engine that made these files. */
static void put_content(const char *content, const mw__aligned *in, size_t last, mw__aligned *out)
{
    mw__aligned_put(out, content, strlen(content), mw__aligned_from(in, last), mw__aligned_to(in, last));
}

static void replace(const mw__normal_step *step, const mw__aligned *in, mw__aligned *out)
{
    const size_t size = strlen(step->text);
    for (size_t at = 0; at < in->size;) {
        const char *found = size > 0 ? memmem(in->bytes + at, in->size - at, step->text, size) : NULL;
        const size_t begin = found != NULL ? (size_t)(found - in->bytes) : in->size;
        mw__aligned_copy(out, in, at, begin - at);
        if (found != NULL)
            put_content(step->content, in, begin + size - 1, out);
        at = begin + size;
    }
}

static void prepend(const char *content, const mw__aligned *in, mw__aligned *out)
{
    if (in->size > 0) {
        const mw__char c = mw__unicode_read(in->bytes, in->bytes + in->size);
        mw__aligned_put(out, content, strlen(content), mw__aligned_from(in, 0), mw__aligned_to(in, c.length - 1U));
    }
    mw__aligned_copy(out, in, 0, in->size);
}

static void run_step(const mw__normal_step *step, const mw__aligned *in, mw__aligned *out)
{
    switch (step->kind) {
    case MW__NORMAL_NFC:
    case MW__NORMAL_NFD:
    case MW__NORMAL_NFKC:
    case MW__NORMAL_NFKD:
        mw__normalizer_form(step->kind, in, out);
        break;
    case MW__NORMAL_LOWERCASE:
        each_char(lower, in, out);
        break;
    case MW__NORMAL_STRIP_ACCENTS:
        each_char(without_accent, in, out);
        break;
    case MW__NORMAL_STRIP:
        strip(step, in, out);
        break;
    case MW__NORMAL_COLLAPSE:
        collapse(in, out);
        break;
    case MW__NORMAL_REPLACE:
        replace(step, in, out);
        break;
    case MW__NORMAL_REPLACE_REGEX:
        mw__normalizer_regex(step, in, out);
        break;
    case MW__NORMAL_PREPEND:
        prepend(step->content, in, out);
        break;
    case MW__NORMAL_CLEAN:
        each_char(clean, in, out);
        break;
    case MW__NORMAL_CJK:
        each_char(apart, in, out);
        break;
    case MW__NORMAL_NMT:
        each_char(nmt, in, out);
        break;
    case MW__NORMAL_CHARSMAP:
        mw__normalizer_charsmap(step->charsmap, in, out);
        break;
    }
}

/* Most texts are what most steps would make of them. */
static bool leaves(const mw__normal_step *step, const mw__aligned *in)
{
    if (step->kind == MW__NORMAL_REPLACE)
        return memmem(in->bytes, in->size, step->text, strlen(step->text)) == NULL;
    if (step->kind > MW__NORMAL_NFKD && step->kind != MW__NORMAL_STRIP_ACCENTS && step->kind != MW__NORMAL_CJK)
        return false;
    for (size_t i = 0; i < in->size; i++)
        if ((unsigned char)in->bytes[i] >= 128)
            return false;
    return true;
}

mw_status mw__normalizer_run(const mw__normal_step *steps, size_t count, mw__aligned *text)
{
    for (size_t i = 0; i < count && text->err->status == MW_OK; i++) {
        if (leaves(&steps[i], text))
            continue;
        mw__aligned made = mw__aligned_begin(text->allocator, text->size, text->err);
        run_step(&steps[i], text, &made);
        mw__aligned_deinit(text);
        *text = made;
    }
    return text->err->status;
}
