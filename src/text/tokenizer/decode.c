/* From tokens to a text: each token adds bytes, which may depend on whether another came before it. */
#include "base/memory/live.h"
#include "base/text/error.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "text/tokenizer/tokenizer.h"

#include <stdlib.h>
#include <string.h>

/* ---- one piece ---- */

static void replace_in(mw__text *text, size_t first, const char *from, const char *to)
{
    const size_t size = strlen(from);
    if (size == 0 || memmem(text->data + first, text->size - first, from, size) == NULL)
        return;
    mw__text made;
    mw__text_init(&made, text->allocator);
    for (size_t at = first; at < text->size;) {
        const char *found = memmem(text->data + at, text->size - at, from, size);
        const size_t place = found != NULL ? (size_t)(found - text->data) : text->size;
        mw__text_append(&made, text->data + at, place - at);
        if (found != NULL)
            mw__text_puts(&made, to);
        at = place + size;
    }
    text->size = first;
    mw__text_append(text, made.data != NULL ? made.data : "", made.size);
    text->failed = text->failed || made.failed;
    mw__text_deinit(&made);
}

static int hex_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "<0x0A>" is one byte. */
static void byte_of(mw__text *text, size_t first)
{
    const char *p = text->data + first;
    if (text->size - first != 6 || memcmp(p, "<0x", 3) != 0 || p[5] != '>' || hex_of(p[3]) < 0 || hex_of(p[4]) < 0)
        return;
    const char byte = (char)(hex_of(p[3]) * 16 + hex_of(p[4]));
    text->size = first;
    mw__text_append(text, &byte, 1);
}

static void remove_at(mw__text *text, size_t at, size_t size)
{
    memmove(text->data + at, text->data + at + size, text->size - at - size);
    text->size -= size;
    text->data[text->size] = '\0';
}

static bool begins(const mw__text *text, size_t first, const char *with)
{
    const size_t size = strlen(with);
    return text->size - first >= size && memcmp(text->data + first, with, size) == 0;
}

static void insert_space(mw__text *text, size_t first)
{
    mw__text_append(text, " ", 1);
    if (text->failed)
        return;
    memmove(text->data + first + 1, text->data + first, text->size - 1 - first);
    text->data[first] = ' ';
}

static void strip_front(const mw__decode_step *step, mw__text *text, size_t first)
{
    for (size_t i = 0; i < step->count && *step->from != '\0' && begins(text, first, step->from); i++)
        remove_at(text, first, strlen(step->from));
}

/* As the engine that wrote these files tidies English. */
static void clean_up(mw__text *text, size_t first)
{
    static const char *const pairs[][2] = {{" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
                                           {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
                                           {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        replace_in(text, first, pairs[i][0], pairs[i][1]);
}

static void put_suffix(const mw__decode_step *step, mw__text *text, size_t first)
{
    const size_t size = strlen(step->from);
    if (text->size - first < size || memcmp(text->data + text->size - size, step->from, size) != 0)
        return;
    text->size -= size;
    mw__text_append(text, " ", 1);
}

static void run_decode(const mw__decode_step *step, bool first_token, mw__text *text, size_t first)
{
    switch (step->kind) {
    case MW__DECODE_REPLACE:
        replace_in(text, first, step->from, step->to);
        break;
    case MW__DECODE_FALLBACK:
        byte_of(text, first);
        break;
    case MW__DECODE_STRIP:
        if (first_token)
            strip_front(step, text, first);
        break;
    case MW__DECODE_PREFIX:
        if (first_token && begins(text, first, " "))
            remove_at(text, first, 1);
        break;
    case MW__DECODE_WORDPIECE:
        if (!first_token && begins(text, first, step->from))
            remove_at(text, first, strlen(step->from));
        else if (!first_token)
            insert_space(text, first);
        break;
    case MW__DECODE_CLEANUP:
        clean_up(text, first);
        break;
    case MW__DECODE_SUFFIX:
        put_suffix(step, text, first);
        break;
    }
}

bool mw__tokenizer_put_piece(const mw_tokenizer *t, int32_t id, bool first, bool keep_special, mw__text *out)
{
    const mw__added *added = id >= 0 && (size_t)id < t->id_count ? t->by_id[id] : NULL;
    const mw__vocabulary_piece piece = mw__vocabulary_at(&t->model.vocabulary, id);
    const size_t begin = out->size;
    if (added == NULL && piece.text == NULL)
        return false;
    if (added != NULL && added->special && !keep_special)
        return true;
    if (added != NULL)
        mw__text_append(out, added->text, added->size);
    else
        mw__text_append(out, piece.text, piece.size);
    for (size_t i = 0; i < t->decode_count && !out->failed && out->data != NULL; i++)
        run_decode(&t->decodes[i], first, out, begin);
    return true;
}

/* ---- all of them ---- */

static mw_status fail_no_token(const mw_tokenizer *t, int32_t id, size_t at, mw_error *err)
{
    return mw__fail(err, MW_ERROR_ARGUMENT, "decode: token %zu has the number %d; the tokenizer has %zu numbers", at,
                    (int)id, mw_tokenizer_get_info(t).count);
}

static mw_status decode_all(const mw_tokenizer *t, const int32_t *ids, size_t count, bool keep_special, mw__text *text,
                            mw_error *err)
{
    bool first = true;
    mw__text_puts(text, "");
    for (size_t i = 0; i < count && !text->failed; i++) {
        if (!mw__tokenizer_put_piece(t, ids[i], first, keep_special, text))
            return fail_no_token(t, ids[i], i, err);
        first = first && !keep_special && mw_tokenizer_is_special(t, ids[i]);
    }
    return mw__text_check(text, err);
}

char *mw_tokenizer_decode(const mw_tokenizer *tokenizer, const int32_t *ids, size_t count, bool keep_special,
                          size_t *out_size, mw_error *err)
{
    mw_error own = {0};
    mw__text text;
    if (mw__skips(err))
        return NULL;
    err = err != NULL ? err : &own;
    if (mw__live_check(tokenizer, MW__LIVE_TOKENIZER, __func__, err) != MW_OK)
        return NULL;
    if (ids == NULL && count > 0) {
        mw__fail(err, MW_ERROR_ARGUMENT, "decode: no tokens");
        return NULL;
    }
    mw__text_init(&text, NULL);
    if (decode_all(tokenizer, ids, count, keep_special, &text, err) != MW_OK) {
        mw__text_deinit(&text);
        return NULL;
    }
    if (out_size != NULL)
        *out_size = text.size;
    return mw__text_take(&text, err);
}

/* ---- one after the other ---- */

struct mw_token_stream {
    const mw_tokenizer *t;
    mw__text text; /* what the last call returned */
    mw__text held; /* bytes of a character that is incomplete */
    bool has_begun;
    size_t count;
};

mw_token_stream *mw_token_stream_create(const mw_tokenizer *tokenizer, mw_error *err)
{
    if (mw__skips(err))
        return NULL;
    if (mw__live_check(tokenizer, MW__LIVE_TOKENIZER, __func__, err) != MW_OK)
        return NULL;
    mw_token_stream *stream = mw__live_make(NULL, sizeof *stream, MW__LIVE_TOKEN_STREAM, err);
    if (stream == NULL)
        return NULL;
    stream->t = tokenizer;
    mw__text_init(&stream->text, NULL);
    mw__text_init(&stream->held, NULL);
    return stream;
}

void mw_token_stream_destroy(mw_token_stream *stream)
{
    if (stream == NULL || !mw__live_remove(stream, MW__LIVE_TOKEN_STREAM, __func__))
        return;
    mw__text_deinit(&stream->text);
    mw__text_deinit(&stream->held);
    mw__free(NULL, stream);
}

/* Bytes at the end that may be the begin of a character. */
static size_t incomplete_tail(const char *text, size_t size)
{
    for (size_t back = 1; back <= 3 && back <= size; back++) {
        const unsigned char byte = (unsigned char)text[size - back];
        if (byte < 0x80)
            return 0;
        const size_t wants = byte >= 0xf0 && byte < 0xf5 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 0;
        if (wants > 0 || byte >= 0xc0)
            return byte < 0xf5 && back < wants ? back : 0;
    }
    return 0;
}

const char *mw_token_stream_push(mw_token_stream *stream, int32_t id, mw_error *err)
{
    if (mw__skips(err))
        return NULL;
    if (mw__live_check(stream, MW__LIVE_TOKEN_STREAM, __func__, err) != MW_OK ||
        mw__live_check(stream->t, MW__LIVE_TOKENIZER, __func__, err) != MW_OK)
        return NULL;
    stream->text.size = 0;
    mw__text_append(&stream->text, stream->held.data != NULL ? stream->held.data : "", stream->held.size);
    if (!mw__tokenizer_put_piece(stream->t, id, !stream->has_begun, false, &stream->text)) {
        fail_no_token(stream->t, id, stream->count, err);
        return NULL;
    }
    stream->count++;
    stream->has_begun = stream->has_begun || !mw_tokenizer_is_special(stream->t, id);
    if (mw__text_check(&stream->text, err) != MW_OK)
        return NULL;
    const size_t tail = incomplete_tail(stream->text.data, stream->text.size);
    stream->held.size = 0;
    mw__text_append(&stream->held, stream->text.data + stream->text.size - tail, tail);
    if (mw__text_check(&stream->held, err) != MW_OK)
        return NULL;
    stream->text.size -= tail;
    stream->text.data[stream->text.size] = '\0';
    return stream->text.data;
}

const char *mw_token_stream_finish(mw_token_stream *stream)
{
    if (!mw__live_has(stream, MW__LIVE_TOKEN_STREAM))
        return "";
    stream->text.size = 0;
    mw__text_append(&stream->text, stream->held.data != NULL ? stream->held.data : "", stream->held.size);
    stream->held.size = 0;
    stream->has_begun = false;
    stream->count = 0;
    return stream->text.data != NULL ? stream->text.data : "";
}
