/* UTF-8, UTF-16 and Latin 1 to UTF-8, piece by piece. */
#include "base/text/utf8.h"
#include "data/records/records.h"

#include <string.h>

enum { PIECE = 1 << 18 };

/* ---- which encoding ---- */

/* Text of 16 bits that is mostly ASCII has a zero in every second byte. */
static mw_text_encoding look_at_zeros(const unsigned char *head, size_t size)
{
    size_t zeros[2] = {0, 0};
    for (size_t i = 0; i < size; i++)
        zeros[i % 2] += head[i] == 0;
    if (zeros[1] > size / 4 && zeros[0] < size / 16 + 1)
        return MW_ENCODING_UTF16_LE;
    return zeros[0] > size / 4 && zeros[1] < size / 16 + 1 ? MW_ENCODING_UTF16_BE : MW_ENCODING_FOUND;
}

/* Of characters that are whole; what is cut at the end is left for the next piece. */
static bool is_utf8(const char *text, size_t size, size_t *out_done)
{
    const char *at = text, *const end = text + size;
    while (at < end) {
        const size_t length = mw__utf8_length(at, end);
        if (length == 0)
            break;
        at += length;
    }
    *out_done = (size_t)(at - text);
    return size - *out_done < 4;
}

/* Latin 1 if anything of the file is no UTF-8. */
static mw_status look_at_all(const mw__records_source *s, mw_text_encoding *out, mw_error *err)
{
    char *piece = mw__alloc(s->allocator, PIECE + 4, 1, err);
    size_t kept = 0, done = 0;
    mw_status status = piece != NULL ? MW_OK : MW_ERROR_MEMORY;
    *out = MW_ENCODING_UTF8;
    for (uint64_t at = 0; status == MW_OK && at < s->file.size && *out == MW_ENCODING_UTF8;) {
        const size_t size = s->file.size - at < PIECE ? (size_t)(s->file.size - at) : PIECE;
        status = mw__file_read_at(&s->file, at, piece + kept, size, s->path, err);
        at += size;
        if (status == MW_OK && (!is_utf8(piece, kept + size, &done) || (at == s->file.size && done < kept + size)))
            *out = MW_ENCODING_LATIN1;
        kept = kept + size - done;
        memmove(piece, piece + done, kept < 4 ? kept : 0);
    }
    mw__free(s->allocator, piece);
    return status;
}

/* The mark at the begin is skipped, whatever says the encoding. */
static mw_status find_encoding(mw__records_source *s, mw_text_encoding asked, mw_error *err)
{
    static const struct {
        const char *bytes;
        size_t size;
        mw_text_encoding encoding;
    } marks[] = {{"\xef\xbb\xbf", 3, MW_ENCODING_UTF8},
                 {"\xff\xfe", 2, MW_ENCODING_UTF16_LE},
                 {"\xfe\xff", 2, MW_ENCODING_UTF16_BE}};
    unsigned char head[4096];
    const size_t size = s->file.size < sizeof head ? (size_t)s->file.size : sizeof head;
    MW_TRY(mw__file_read_at(&s->file, 0, head, size, s->path, err));
    s->encoding = asked;
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        const bool fits = asked == MW_ENCODING_FOUND || asked == marks[i].encoding;
        if (!fits || size < marks[i].size || memcmp(head, marks[i].bytes, marks[i].size) != 0)
            continue;
        s->begin = s->offset = marks[i].size;
        s->encoding = marks[i].encoding;
        return MW_OK;
    }
    if (asked == MW_ENCODING_FOUND)
        s->encoding = look_at_zeros(head, size);
    return s->encoding != MW_ENCODING_FOUND ? MW_OK : look_at_all(s, &s->encoding, err);
}

mw_status mw__records_source_open(mw__records_source *source, const mw_allocator *allocator, const char *path,
                                  mw_text_encoding asked, mw_error *err)
{
    *source = (mw__records_source){.allocator = allocator, .path = path, .file = {.descriptor = -1}};
    MW_TRY(mw__file_open(&source->file, path, err));
    return find_encoding(source, asked, err);
}

void mw__records_source_close(mw__records_source *source)
{
    if (source->file.descriptor >= 0)
        mw__file_close(&source->file);
    source->file.descriptor = -1;
    mw__free(source->allocator, source->text);
    source->text = NULL;
}

/* ---- pieces ---- */

static void put_code(mw__records_source *s, uint32_t code)
{
    char *out = s->text + s->size;
    if (code < 0x80) {
        out[0] = (char)code;
        s->size += 1;
    } else if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        s->size += 2;
    } else if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        s->size += 3;
    } else {
        out[0] = (char)(0xf0 | code >> 18);
        out[1] = (char)(0x80 | (code >> 12 & 0x3f));
        out[2] = (char)(0x80 | (code >> 6 & 0x3f));
        out[3] = (char)(0x80 | (code & 0x3f));
        s->size += 4;
    }
}

static mw_status fail_bytes(const mw__records_source *s, size_t rest, const char *what, mw_error *err)
{
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\", byte %llu: %s; give the encoding that it has", s->path,
                    (unsigned long long)(s->offset - rest), what);
}

static uint32_t unit_at(const mw__records_source *s, const unsigned char *at)
{
    return s->encoding == MW_ENCODING_UTF16_LE ? (uint32_t)(at[0] | at[1] << 8) : (uint32_t)(at[0] << 8 | at[1]);
}

/* One character of UTF-16; *out_used 0 = it is cut. */
static mw_status decode_unit(const mw__records_source *s, const unsigned char *at, size_t rest, uint32_t *out,
                             size_t *out_used, mw_error *err)
{
    *out_used = 0;
    if (rest < 2)
        return s->offset == s->file.size ? fail_bytes(s, rest, "half of a character of UTF-16", err) : MW_OK;
    *out = unit_at(s, at);
    *out_used = 2;
    if (*out < 0xd800 || *out > 0xdfff)
        return MW_OK;
    if (rest < 4 && s->offset < s->file.size) {
        *out_used = 0;
        return MW_OK;
    }
    const uint32_t low = rest >= 4 ? unit_at(s, at + 2) : 0;
    if (*out > 0xdbff || low < 0xdc00 || low > 0xdfff)
        return fail_bytes(s, rest, "a surrogate of UTF-16 alone", err);
    *out = 0x10000 + ((*out - 0xd800) << 10) + (low - 0xdc00);
    *out_used = 4;
    return MW_OK;
}

/* Decodes all but a character that is cut at the end; how much is left of it. */
static mw_status decode(mw__records_source *s, const unsigned char *at, size_t size, size_t *out_rest, mw_error *err)
{
    const unsigned char *const end = at + size;
    while (at < end) {
        uint32_t code = *at;
        size_t used = 1;
        if (s->encoding == MW_ENCODING_UTF8) {
            used = mw__utf8_length((const char *)at, (const char *)end);
            if (used == 0 && (end - at >= 4 || s->offset == s->file.size))
                return fail_bytes(s, (size_t)(end - at), "it is no UTF-8", err);
            memcpy(s->text + s->size, at, used);
            s->size += used;
        } else {
            if (s->encoding != MW_ENCODING_LATIN1)
                MW_TRY(decode_unit(s, at, (size_t)(end - at), &code, &used, err));
            if (used > 0)
                put_code(s, code);
        }
        if (used == 0)
            break;
        at += used;
    }
    *out_rest = (size_t)(end - at);
    return MW_OK;
}

/* A byte becomes at most two, two bytes of UTF-16 three. */
static mw_status make_place(mw__records_source *s, mw_error *err)
{
    if (s->at > 0 && s->at >= s->size / 2) {
        memmove(s->text, s->text + s->at, s->size - s->at);
        s->size -= s->at;
        s->at = 0;
    }
    if (s->size - s->at > MW__RECORDS_BYTES_MAX)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\": a row of more than %d bytes; is a quote not closed?",
                        s->path, MW__RECORDS_BYTES_MAX);
    return mw__grow(s->allocator, &s->text, &s->capacity, s->size + 2 * (size_t)PIECE + 16, 1, err);
}

mw_status mw__records_source_fill(mw__records_source *source, mw_error *err)
{
    mw__records_source *s = source;
    const uint64_t left = s->file.size - s->offset;
    const size_t size = left < PIECE ? (size_t)left : PIECE;
    size_t rest = 0;
    MW_TRY(make_place(s, err));
    unsigned char *piece = mw__alloc(s->allocator, s->tail_size + size, 1, err);
    if (piece == NULL)
        return MW_ERROR_MEMORY;
    memcpy(piece, s->tail, s->tail_size);
    mw_status status = mw__file_read_at(&s->file, s->offset, piece + s->tail_size, size, s->path, err);
    s->offset += size;
    if (status == MW_OK)
        status = decode(s, piece, s->tail_size + size, &rest, err);
    if (status == MW_OK) {
        memcpy(s->tail, piece + s->tail_size + size - rest, rest);
        s->tail_size = rest;
        s->ended = s->offset == s->file.size;
    }
    mw__free(s->allocator, piece);
    return status;
}

mw_status mw__records_source_rewind(mw__records_source *source, mw_error *err)
{
    source->offset = source->begin;
    source->at = source->size = source->tail_size = 0;
    source->ended = false;
    return mw__records_source_fill(source, err);
}
