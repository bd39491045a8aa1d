/* SentencePiece's own file: pieces with scores and kinds, how it was trained, and its normalizer. */
#include "base/text/error.h"
#include "text/read/fields.h"
#include "text/read/read.h"

#include <string.h>

/* Kinds of pieces, as the file numbers them. */
enum { NORMAL = 1, UNKNOWN = 2, CONTROL = 3, USER = 4, UNUSED = 5, BYTE = 6 };
enum { UNIGRAM = 1, BPE = 2 };

/* What the file says beside its pieces; the values are what is meant where it says nothing. */
typedef struct spm_file {
    uint64_t type;
    bool byte_fallback, suffix;
    bool prefix, collapses, escapes;
    const char *charsmap;
    size_t charsmap_size;
} spm_file;

static mw_status broken_file(const char *what, mw_error *err)
{
    return mw__fail(err, MW_ERROR_FORMAT, "%s is no message of a SentencePiece model", what);
}

/* ---- pieces ---- */

typedef struct spm_piece {
    const char *text;
    size_t size;
    float score;
    uint64_t kind;
} spm_piece;

static bool read_spm_piece(const mw__field *of, spm_piece *out)
{
    mw__fields fields = mw__fields_of(of->data, of->size);
    mw__field f;
    *out = (spm_piece){.text = "", .kind = NORMAL};
    while (mw__fields_next(&fields, &f)) {
        if (f.number == 1 && f.data != NULL) {
            out->text = f.data;
            out->size = f.size;
        }
        out->score = f.number == 2 ? f.real : out->score;
        out->kind = f.number == 3 ? f.value : out->kind;
    }
    return !fields.broken;
}

/* Control pieces are in no text; those of users are found before all others. */
static mw_status add_spm_piece(mw_tokenizer *t, const spm_piece *p, int32_t id, mw_error *err)
{
    if (p->kind == UNKNOWN)
        t->model.unknown = id;
    if (p->kind == UNKNOWN || p->kind == CONTROL || p->kind == USER)
        MW_TRY(mw__tokenizer_add_token(t,
                                       (mw__added){.text = p->text,
                                                   .size = p->size,
                                                   .id = id,
                                                   .special = p->kind != USER,
                                                   .hidden = p->kind != USER,
                                                   .normalized = true},
                                       err));
    const bool in_text = p->kind == NORMAL || p->kind == BYTE;
    return in_text ? mw__vocabulary_add(&t->model.vocabulary, id, p->text, p->size, (double)p->score, err) : MW_OK;
}

/* ---- the rest ---- */

static bool read_trainer(const mw__field *of, spm_file *file)
{
    mw__fields fields = mw__fields_of(of->data, of->size);
    mw__field f;
    while (mw__fields_next(&fields, &f)) {
        file->type = f.number == 3 ? f.value : file->type;
        file->byte_fallback = f.number == 35 ? f.value != 0 : file->byte_fallback;
        file->suffix = f.number == 24 ? f.value != 0 : file->suffix;
    }
    return !fields.broken;
}

static bool read_spm_normalizer(const mw__field *of, spm_file *file)
{
    mw__fields fields = mw__fields_of(of->data, of->size);
    mw__field f;
    while (mw__fields_next(&fields, &f)) {
        if (f.number == 2 && f.data != NULL) {
            file->charsmap = f.data;
            file->charsmap_size = f.size;
        }
        file->prefix = f.number == 3 ? f.value != 0 : file->prefix;
        file->collapses = f.number == 4 ? f.value != 0 : file->collapses;
        file->escapes = f.number == 5 ? f.value != 0 : file->escapes;
    }
    return !fields.broken;
}

static mw_status read_fields(mw_tokenizer *t, const char *data, size_t size, spm_file *file, mw_error *err)
{
    mw__fields fields = mw__fields_of(data, size);
    mw__field f;
    int32_t id = 0;
    while (mw__fields_next(&fields, &f)) {
        spm_piece piece;
        if (f.number == 1 && (f.data == NULL || !read_spm_piece(&f, &piece)))
            return broken_file("a piece", err);
        if (f.number == 1)
            MW_TRY(add_spm_piece(t, &piece, id++, err));
        if (f.number == 2 && (f.data == NULL || !read_trainer(&f, file)))
            return broken_file("the trainer's part", err);
        if (f.number == 3 && (f.data == NULL || !read_spm_normalizer(&f, file)))
            return broken_file("the normalizer's part", err);
    }
    return fields.broken || id == 0 ? broken_file("the file", err) : MW_OK;
}

/* ---- what it makes ---- */

static mw_status add_charsmap(mw_tokenizer *t, const spm_file *file, mw_error *err)
{
    if (file->charsmap_size == 0)
        return MW_OK;
    char *data = mw__arena_alloc(&t->arena, file->charsmap_size, 1, err);
    if (data == NULL)
        return MW_ERROR_MEMORY;
    memcpy(data, file->charsmap, file->charsmap_size);
    const struct mw__charsmap *map = mw__normalizer_read_charsmap(&t->arena, data, file->charsmap_size, err);
    if (map == NULL)
        return err->status;
    return mw__read_add_normal(t, (mw__normal_step){.kind = MW__NORMAL_CHARSMAP, .charsmap = map}, err);
}

static const char mark[] = "\xe2\x96\x81";

static mw_status add_spm_steps(mw_tokenizer *t, const spm_file *file, mw_error *err)
{
    const char *space = file->escapes ? mark : " ";
    MW_TRY(add_charsmap(t, file, err));
    if (file->collapses)
        MW_TRY(mw__read_add_normal(t, (mw__normal_step){.kind = MW__NORMAL_COLLAPSE}, err));
    if (file->prefix)
        MW_TRY(mw__read_add_normal(t, (mw__normal_step){.kind = MW__NORMAL_PREPEND, .content = space}, err));
    if (file->escapes)
        MW_TRY(
            mw__read_add_normal(t, (mw__normal_step){.kind = MW__NORMAL_REPLACE, .text = " ", .content = mark}, err));
    MW_TRY(mw__read_add_decode(t, (mw__decode_step){.kind = MW__DECODE_FALLBACK, .from = "", .to = ""}, err));
    MW_TRY(mw__read_add_decode(t, (mw__decode_step){.kind = MW__DECODE_REPLACE, .from = mark, .to = " "}, err));
    return file->prefix
               ? mw__read_add_decode(t, (mw__decode_step){.kind = MW__DECODE_PREFIX, .from = "", .to = ""}, err)
               : MW_OK;
}

static mw_status finish_spm(mw_tokenizer *t, const spm_file *file, mw_error *err)
{
    if (file->type != UNIGRAM && file->type != BPE)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "a SentencePiece model of words or characters (type %llu)",
                        (unsigned long long)file->type);
    if (file->suffix)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "a SentencePiece model with white space behind words");
    t->model.kind = file->type == BPE ? MW__MODEL_BPE : MW__MODEL_UNIGRAM;
    t->model.by_score = file->type == BPE;
    t->model.single = t->model.fuse_unknown = true;
    t->model.byte_fallback = file->byte_fallback;
    return add_spm_steps(t, file, err);
}

mw_tokenizer *mw__read_sentencepiece(const char *data, size_t size, mw_error *err)
{
    mw_tokenizer *t = mw__tokenizer_make(err);
    if (t == NULL)
        return NULL;
    spm_file file = {.type = UNIGRAM, .prefix = true, .collapses = true, .escapes = true};
    if (read_fields(t, data, size, &file, err) == MW_OK)
        finish_spm(t, &file, err);
    return mw__tokenizer_finish(t, err);
}
