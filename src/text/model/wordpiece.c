/* The longest piece first, from the begin of a word to its end; a word with a part that is no piece is unknown. */
#include "base/text/error.h"
#include "text/model/model.h"
#include "text/unicode/unicode.h"

#include <string.h>

static size_t count_chars(const char *text, size_t begin, size_t end)
{
    size_t count = 0;
    for (size_t at = begin; at < end; count++)
        at += mw__unicode_read(text + at, text + end).length;
    return count;
}

/* The piece of a part of a word; within it pieces have the prefix. */
static int32_t piece_of_part(const mw__model *model, const char *part, size_t size, bool first)
{
    char whole[512];
    const size_t before = first ? 0 : strlen(model->prefix);
    if (before == 0)
        return mw__vocabulary_find(&model->vocabulary, part, size);
    if (before + size > sizeof whole)
        return -1;
    memcpy(whole, model->prefix, before);
    memcpy(whole + before, part, size);
    return mw__vocabulary_find(&model->vocabulary, whole, before + size);
}

static size_t char_before(const char *text, size_t begin, size_t at)
{
    do
        at--;
    while (at > begin && ((unsigned char)text[at] & 0xc0) == 0x80);
    return at;
}

/* The end of the longest piece at `at`; `at` if there is none. */
static size_t longest_piece(const mw__model *model, const char *text, size_t begin, size_t at, size_t end, int32_t *id)
{
    const size_t most = model->vocabulary.longest;
    size_t to = end - at > most ? at + most : end;
    while (to < end && to > at && ((unsigned char)text[to] & 0xc0) == 0x80)
        to--;
    while (to > at) {
        *id = piece_of_part(model, text + at, to - at, at == begin);
        if (*id >= 0)
            return to;
        to = char_before(text, at, to);
    }
    return at;
}

mw_status mw__subword_wordpiece(const mw__model *model, const char *text, size_t begin, size_t end,
                                mw__subword_list *out)
{
    const size_t first = out->count;
    bool whole = count_chars(text, begin, end) <= model->longest_word;
    for (size_t at = begin; at < end && whole;) {
        int32_t id = -1;
        const size_t to = longest_piece(model, text, begin, at, end, &id);
        whole = to > at;
        if (whole)
            MW_TRY(mw__subword_put(out, id, at, to));
        at = to;
    }
    if (whole)
        return MW_OK;
    out->count = first;
    return model->unknown >= 0 ? mw__subword_put(out, model->unknown, begin, end) : MW_OK;
}
