/* What the steps of a pre-tokenizer look for, and those that change the text. */
#include "base/text/error.h"
#include "text/split/spans.h"
#include "text/unicode/unicode.h"

#include <string.h>

/* ---- characters ---- */

static bool is_punctuation(mw__char c)
{
    const bool ascii =
        c.code < 128 && c.code > 32 && (c.class & (MW__CHAR_LETTER | MW__CHAR_NUMBER)) == 0 && c.code < 127;
    return ascii || (c.class & MW__CHAR_PUNCTUATION) != 0;
}

static bool is_connector(uint32_t code)
{
    return code == '_' || code == 0x203f || code == 0x2040 || code == 0x2054 || code == 0xfe33 || code == 0xfe34 ||
           (code >= 0xfe4d && code <= 0xfe4f) || code == 0xff3f;
}

static bool is_word(mw__char c)
{
    return (c.class & (MW__CHAR_LETTER | MW__CHAR_NUMBER | MW__CHAR_MARK)) != 0 || is_connector(c.code);
}

/* 0: nothing is found here; else what runs of equal numbers are found together. */
static int group_of(const mw__split_step *step, mw__char c)
{
    switch (step->kind) {
    case MW__SPLIT_DIGITS:
        return (c.class & MW__CHAR_NUMBER) != 0;
    case MW__SPLIT_PUNCTUATION:
        return is_punctuation(c);
    case MW__SPLIT_WHITESPACE:
        return (c.class & MW__CHAR_SPACE) != 0 ? 0 : is_word(c) ? 1 : 2;
    case MW__SPLIT_WHITESPACE_SPLIT:
        return (c.class & MW__CHAR_SPACE) != 0;
    default:
        return 0;
    }
}

static bool goes_on(const mw__split_step *step)
{
    return step->kind == MW__SPLIT_WHITESPACE || step->kind == MW__SPLIT_WHITESPACE_SPLIT ||
           (step->kind == MW__SPLIT_DIGITS && !step->single);
}

static bool find_group(const mw__split_step *step, const mw__aligned *text, size_t at, size_t end, mw__cut_span *out)
{
    int group = 0;
    while (at < end) {
        const mw__char c = mw__unicode_read(text->bytes + at, text->bytes + end);
        const int own = group_of(step, c);
        if (group != 0 && (own != group || !goes_on(step)))
            break;
        if (group == 0 && own != 0)
            out->begin = at;
        group = own;
        at += c.length;
    }
    out->end = at;
    return group != 0;
}

/* ---- looking ---- */

static bool find_content(const mw__split_step *step, const mw__aligned *text, size_t at, size_t end, mw__cut_span *out)
{
    const size_t size = strlen(step->content);
    const char *found = size > 0 ? memmem(text->bytes + at, end - at, step->content, size) : NULL;
    if (found == NULL)
        return false;
    *out = (mw__cut_span){(size_t)(found - text->bytes), (size_t)(found - text->bytes) + size};
    return true;
}

bool mw__cut_find(const mw__split_step *step, const mw__aligned *text, size_t at, size_t end, mw__cut_span *out)
{
    if (at >= end || text->err->status != MW_OK)
        return false;
    switch (step->kind) {
    case MW__SPLIT_TEXT:
    case MW__SPLIT_METASPACE:
        return find_content(step, text, at, end, out);
    case MW__SPLIT_REGEX:
        return mw__regex_find(step->regex, text->bytes, end, at, &out->begin, &out->end, text->err);
    default:
        *out = (mw__cut_span){end, end};
        return find_group(step, text, at, end, out) && out->begin < out->end;
    }
}

/* ---- rewriting ---- */

static bool begins_with(const mw__aligned *text, mw__cut_span span, const char *content)
{
    const size_t size = strlen(content);
    return span.end - span.begin >= size && memcmp(text->bytes + span.begin, content, size) == 0;
}

/* What is put in front stands for the first character. */
static void put_front(const mw__aligned *text, size_t at, const char *content, mw__aligned *out)
{
    const mw__char c = mw__unicode_read(text->bytes + at, text->bytes + text->size);
    mw__aligned_put(out, content, strlen(content), mw__aligned_from(text, at),
                    mw__aligned_to(text, at + c.length - 1U));
}

static bool wants_front(const mw__split_step *step, bool starts, const mw__aligned *text, mw__cut_span span)
{
    if (step->kind == MW__SPLIT_PREFIX_ALWAYS)
        return true;
    if (step->kind == MW__SPLIT_PREFIX)
        return !begins_with(text, span, " ");
    const bool asked = step->prepend == MW__PREPEND_ALWAYS ||
                       (step->prepend == MW__PREPEND_FIRST && starts && mw__aligned_from(text, span.begin) == 0);
    return asked && !begins_with(text, span, " ") && !begins_with(text, span, step->content);
}

static void put_spaces(const mw__split_step *step, const mw__aligned *text, mw__cut_span span, mw__aligned *out)
{
    for (size_t at = span.begin; at < span.end;) {
        const char *found = memchr(text->bytes + at, ' ', span.end - at);
        const size_t place = found != NULL ? (size_t)(found - text->bytes) : span.end;
        mw__aligned_copy(out, text, at, place - at);
        if (found != NULL)
            mw__aligned_put(out, step->content, strlen(step->content), mw__aligned_from(text, place),
                            mw__aligned_to(text, place));
        at = place + 1;
    }
}

static bool changes(const mw__split_step *step, bool starts, const mw__aligned *text, const mw__cut_spans *spans)
{
    if (step->kind == MW__SPLIT_METASPACE)
        return true;
    for (size_t i = 0; i < spans->count; i++)
        if (wants_front(step, starts, text, spans->items[i]))
            return true;
    return false;
}

mw_status mw__cut_rewrite(const mw__split_step *step, bool starts, mw__aligned *text, mw__cut_spans *spans)
{
    if (!changes(step, starts, text, spans))
        return MW_OK;
    mw__aligned made = mw__aligned_begin(text->allocator, text->size + text->size / 2, text->err);
    for (size_t i = 0; i < spans->count; i++) {
        const mw__cut_span span = spans->items[i];
        const size_t begin = made.size;
        if (wants_front(step, starts, text, span))
            put_front(text, span.begin, step->kind == MW__SPLIT_METASPACE ? step->content : " ", &made);
        if (step->kind != MW__SPLIT_METASPACE)
            mw__aligned_copy(&made, text, span.begin, span.end - span.begin);
        else
            put_spaces(step, text, span, &made);
        spans->items[i] = (mw__cut_span){begin, made.size};
    }
    mw__aligned_deinit(text);
    *text = made;
    return text->err->status;
}
