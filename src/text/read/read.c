/* What readers of tokenizers share. */
#include "text/read/read.h"

#include "base/text/error.h"
#include "base/text/utf8.h"

#include <string.h>

#define ADD(t, list, name, step, err)                                                                                  \
    do {                                                                                                               \
        MW_TRY(mw__grow((t)->arena.allocator, &(t)->list, &(t)->name##_capacity, (t)->name##_count + 1,                \
                        sizeof *(t)->list, err));                                                                      \
        (t)->list[(t)->name##_count++] = (step);                                                                       \
    } while (0)

mw_status mw__read_add_normal(mw_tokenizer *t, mw__normal_step step, mw_error *err)
{
    ADD(t, normals, normal, step, err);
    return MW_OK;
}

mw_status mw__read_add_split(mw_tokenizer *t, mw__split_step step, mw_error *err)
{
    ADD(t, splits, split, step, err);
    return MW_OK;
}

mw_status mw__read_add_part(mw_tokenizer *t, mw__template_part part, mw_error *err)
{
    ADD(t, parts, part, part, err);
    return MW_OK;
}

mw_status mw__read_add_decode(mw_tokenizer *t, mw__decode_step step, mw_error *err)
{
    ADD(t, decodes, decode, step, err);
    return MW_OK;
}

const char *mw__read_keep(mw_tokenizer *t, const char *text, mw_error *err)
{
    return mw__arena_keep(&t->arena, text != NULL ? text : "", err);
}

static const mw__read_row *row_of(const mw__read_row *rows, size_t count, const char *type)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].type, type) == 0)
            return &rows[i];
    return NULL;
}

/* Lists of lists are as deep as JSON may be. */
static mw_status read_list(const mw__read_row *rows, size_t count, const char *what, const char *of, mw_tokenizer *t,
                           const mw__json_node *node, mw_error *err)
{
    const mw__json_node *list = mw__tree_find(node, of);
    if (!mw__tree_is(list, MW__JSON_IS_ARRAY))
        return mw__fail(err, MW_ERROR_FORMAT, "the %s is a Sequence without \"%s\"", what, of);
    for (const mw__json_node *part = list->first; part != NULL; part = part->next)
        MW_TRY(mw__read_by_type(rows, count, what, of, t, part, err));
    return MW_OK;
}

mw_status mw__read_by_type(const mw__read_row *rows, size_t count, const char *what, const char *of, mw_tokenizer *t,
                           const mw__json_node *node, mw_error *err)
{
    if (node == NULL || node->kind == MW__JSON_IS_NULL)
        return MW_OK;
    const char *type = mw__tree_text(node, "type");
    if (type == NULL)
        return mw__fail(err, MW_ERROR_FORMAT, "the %s has no \"type\"", what);
    if (strcmp(type, "Sequence") == 0)
        return read_list(rows, count, what, of, t, node, err);
    const mw__read_row *row = row_of(rows, count, type);
    if (row == NULL)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "the %s \"%.60s\" is not known", what, type);
    return row->read(t, node, err);
}

/* ---- bytes that are spelled ---- */

/* The byte that a character stands for; -1 = none. Bytes that print are themselves, the others follow from 256 on. */
static int byte_of_code(uint32_t code)
{
    const bool prints = (code >= 33 && code <= 126) || (code >= 161 && code <= 172) || (code >= 174 && code <= 255);
    if (prints)
        return (int)code;
    if (code < 256 || code >= 256 + 68)
        return -1;
    const int n = (int)code - 256; /* of the bytes that do not print: 0 to 32, 127 to 160, 173 */
    return n <= 32 ? n : n <= 66 ? n + 94 : 173;
}

uint32_t mw__read_spelling(unsigned char byte)
{
    if (byte_of_code(byte) == byte)
        return byte;
    return 256u + (byte <= 32 ? byte : byte == 173 ? 67u : byte - 94u);
}

bool mw__read_spelled_bytes(const char *piece, size_t size, char *out, size_t *out_size)
{
    const char *end = piece + size;
    *out_size = 0;
    for (const char *at = piece; at < end;) {
        uint32_t code = (unsigned char)*at;
        const size_t length = code < 128 ? 1 : mw__utf8_read(at, end, &code);
        const int byte = length > 0 ? byte_of_code(code) : -1;
        if (byte < 0)
            return false;
        out[(*out_size)++] = (char)byte;
        at += length;
    }
    return true;
}

typedef struct spelled {
    char small[256];
    char *large; /* NULL = `small`, or the piece itself */
    const char *text;
    size_t size;
} spelled;

static mw_status spell(const mw_tokenizer *t, const char *piece, size_t size, spelled *out, mw_error *err)
{
    out->large = NULL;
    out->text = piece;
    out->size = size;
    if (!t->model.byte_level)
        return MW_OK;
    if (size > sizeof out->small) {
        out->large = mw__alloc(t->arena.allocator, size, 1, err);
        if (out->large == NULL)
            return MW_ERROR_MEMORY;
    }
    char *bytes = out->large != NULL ? out->large : out->small;
    size_t count = 0;
    if (mw__read_spelled_bytes(piece, size, bytes, &count)) {
        out->text = bytes;
        out->size = count;
    }
    return MW_OK;
}

mw_status mw__read_piece(mw_tokenizer *t, const char *piece, size_t size, int32_t id, double score, mw_error *err)
{
    spelled s;
    MW_TRY(spell(t, piece, size, &s, err));
    const mw_status status = mw__vocabulary_add(&t->model.vocabulary, id, s.text, s.size, score, err);
    mw__free(t->arena.allocator, s.large);
    return status;
}

/* What stands in the middle of a word has a prefix, which is no part of the text. */
static int32_t merged_piece(const mw_tokenizer *t, const spelled *left, const spelled *right, mw_error *err)
{
    const char *prefix = t->model.prefix != NULL ? t->model.prefix : "";
    const size_t cut =
        strlen(prefix) <= right->size && memcmp(right->text, prefix, strlen(prefix)) == 0 ? strlen(prefix) : 0;
    const size_t size = left->size + right->size - cut;
    char *both = mw__alloc(t->arena.allocator, size, 1, err);
    if (both == NULL)
        return -1;
    memcpy(both, left->text, left->size);
    memcpy(both + left->size, right->text + cut, right->size - cut);
    const int32_t id = mw__vocabulary_find(&t->model.vocabulary, both, size);
    mw__free(t->arena.allocator, both);
    return id;
}

static mw_status add_merge(mw_tokenizer *t, const spelled *left, const spelled *right, int32_t rank, mw_error *err)
{
    const int32_t a = mw__vocabulary_find(&t->model.vocabulary, left->text, left->size);
    const int32_t b = mw__vocabulary_find(&t->model.vocabulary, right->text, right->size);
    const int32_t id = merged_piece(t, left, right, err);
    MW_TRY(err->status);
    if (a < 0 || b < 0 || id < 0)
        return mw__fail(err, MW_ERROR_FORMAT, "merge %d, of \"%.*s\" and \"%.*s\": %s is no token", (int)rank,
                        (int)(left->size < 60 ? left->size : 60), left->text,
                        (int)(right->size < 60 ? right->size : 60), right->text,
                        a < 0   ? "the first"
                        : b < 0 ? "the second"
                                : "what they make");
    return mw__subword_add_merge(&t->model, a, b, rank, id, err);
}

mw_status mw__read_merge(mw_tokenizer *t, const char *left, size_t left_size, const char *right, size_t right_size,
                         int32_t rank, mw_error *err)
{
    spelled a, b = {.large = NULL};
    mw_status status = spell(t, left, left_size, &a, err);
    if (status == MW_OK)
        status = spell(t, right, right_size, &b, err);
    if (status == MW_OK)
        status = add_merge(t, &a, &b, rank, err);
    mw__free(t->arena.allocator, a.large);
    mw__free(t->arena.allocator, b.large);
    return status;
}
