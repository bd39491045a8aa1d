/* vocab.json with merges.txt, vocab.txt, and tokenizer.bin. */
#include "base/number/bytes.h"
#include "base/text/error.h"
#include "text/read/read.h"
#include "text/unicode/unicode.h"

#include <string.h>

/* ---- GPT-2 ---- */

static mw_status read_json_vocabulary(mw_tokenizer *t, const char *text, size_t size, mw_error *err)
{
    mw__arena tree;
    mw__arena_init(&tree, t->arena.allocator);
    const mw__json_node *root = mw__tree_read(&tree, text, size, err);
    mw_status status = root != NULL ? MW_OK : err->status;
    if (root != NULL && root->kind != MW__JSON_IS_OBJECT)
        status = mw__fail(err, MW_ERROR_FORMAT, "vocab.json is no object of tokens and numbers");
    for (const mw__json_node *piece = root != NULL ? root->first : NULL; piece != NULL && status == MW_OK;
         piece = piece->next)
        status = piece->kind == MW__JSON_IS_NUMBER && piece->number < (double)MW__VOCABULARY_MOST
                     ? mw__read_piece(t, piece->key, piece->key_length, (int32_t)piece->number, 0.0, err)
                     : mw__fail(err, MW_ERROR_FORMAT, "vocab.json: \"%.60s\" has no number", piece->key);
    mw__arena_deinit(&tree);
    return status;
}

static mw_status read_merge_line(mw_tokenizer *t, const char *line, size_t size, int32_t *rank, mw_error *err)
{
    if (size == 0 || (*rank == 0 && size > 8 && memcmp(line, "#version", 8) == 0))
        return MW_OK;
    const char *space = memchr(line, ' ', size);
    if (space == NULL)
        return mw__fail(err, MW_ERROR_FORMAT, "merges.txt: merge %d has no space between two tokens", (int)*rank);
    const size_t left = (size_t)(space - line);
    return mw__read_merge(t, line, left, space + 1, size - left - 1, (*rank)++, err);
}

static size_t line_size(const char *at, const char *end, const char **next)
{
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    *next = stop != NULL ? stop + 1 : end;
    size_t size = (size_t)((stop != NULL ? stop : end) - at);
    return size > 0 && at[size - 1] == '\r' ? size - 1 : size;
}

/* GPT-2 and RoBERTa have one special token each, of this text. */
static mw_status add_end_of_text(mw_tokenizer *t, mw_error *err)
{
    static const char text[] = "<|endoftext|>";
    const int32_t id = mw__vocabulary_find(&t->model.vocabulary, text, sizeof text - 1);
    if (id < 0)
        return MW_OK;
    return mw__tokenizer_add_token(t, (mw__added){.text = text, .size = sizeof text - 1, .id = id, .special = true},
                                   err);
}

mw_tokenizer *mw__read_vocabulary_and_merges(const char *vocabulary, size_t size, const char *merges,
                                             size_t merges_size, mw_error *err)
{
    mw_tokenizer *t = mw__tokenizer_make(err);
    if (t == NULL)
        return NULL;
    int32_t rank = 0;
    t->model.kind = MW__MODEL_BPE;
    t->model.byte_level = true;
    mw_status status =
        mw__unicode_is_whole()
            ? read_json_vocabulary(t, vocabulary, size, err)
            : mw__fail(err, MW_ERROR_UNSUPPORTED, "vocab.json needs libutf8proc; the library was built without it");
    for (const char *at = merges, *next; at < merges + merges_size && status == MW_OK; at = next) {
        const size_t line = line_size(at, merges + merges_size, &next);
        status = read_merge_line(t, at, line, &rank, err);
    }
    if (status == MW_OK)
        status = add_end_of_text(t, err);
    if (status == MW_OK)
        mw__read_add_split(
            t, (mw__split_step){.kind = MW__SPLIT_SCANNER, .scanner = mw__scanner_of(mw__scanner_gpt2_pattern)}, err);
    return mw__tokenizer_finish(t, err);
}

/* ---- BERT: a token in each line ---- */

static mw_status add_special_line(mw_tokenizer *t, const char *name, mw_error *err)
{
    const int32_t id = mw__vocabulary_find(&t->model.vocabulary, name, strlen(name));
    if (id < 0)
        return MW_OK;
    return mw__tokenizer_add_token(t, (mw__added){.text = name, .size = strlen(name), .id = id, .special = true}, err);
}

mw_status mw__read_add_bert_steps(mw_tokenizer *t, bool strips, bool lower, mw_error *err)
{
    const struct {
        mw__normal_kind kind;
        bool on;
    } steps[] = {{MW__NORMAL_CLEAN, true},
                 {MW__NORMAL_CJK, true},
                 {MW__NORMAL_NFD, strips},
                 {MW__NORMAL_STRIP_ACCENTS, strips},
                 {MW__NORMAL_LOWERCASE, lower}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i].on)
            MW_TRY(mw__read_add_normal(t, (mw__normal_step){.kind = steps[i].kind}, err));
    MW_TRY(mw__read_add_split(t, (mw__split_step){.kind = MW__SPLIT_WHITESPACE_SPLIT, .behavior = MW__SPLIT_REMOVED},
                              err));
    MW_TRY(mw__read_add_split(t, (mw__split_step){.kind = MW__SPLIT_PUNCTUATION, .behavior = MW__SPLIT_ISOLATED}, err));
    MW_TRY(mw__read_add_decode(t, (mw__decode_step){.kind = MW__DECODE_WORDPIECE, .from = "##", .to = ""}, err));
    return mw__read_add_decode(t, (mw__decode_step){.kind = MW__DECODE_CLEANUP, .from = "", .to = ""}, err);
}

static mw_status finish_lines(mw_tokenizer *t, mw_error *err)
{
    static const char *const specials[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        MW_TRY(add_special_line(t, specials[i], err));
    MW_TRY(mw__read_add_bert_steps(t, true, true, err));
    t->model.unknown = mw__vocabulary_find(&t->model.vocabulary, "[UNK]", 5);
    const int32_t first = mw__vocabulary_find(&t->model.vocabulary, "[CLS]", 5);
    const int32_t last = mw__vocabulary_find(&t->model.vocabulary, "[SEP]", 5);
    if (t->model.unknown < 0 || first < 0 || last < 0)
        return mw__fail(err, MW_ERROR_FORMAT, "vocab.txt has no lines [UNK], [CLS] and [SEP]: it is none of BERT's");
    MW_TRY(mw__read_add_part(t, (mw__template_part){.id = first}, err));
    MW_TRY(mw__read_add_part(t, (mw__template_part){.is_text = true}, err));
    return mw__read_add_part(t, (mw__template_part){.id = last}, err);
}

mw_tokenizer *mw__read_lines(const char *text, size_t size, mw_error *err)
{
    mw_tokenizer *t = mw__tokenizer_make(err);
    if (t == NULL)
        return NULL;
    int32_t id = 0;
    t->model.kind = MW__MODEL_WORDPIECE;
    t->model.prefix = "##";
    t->model.longest_word = 100;
    mw_status status =
        mw__unicode_is_whole()
            ? MW_OK
            : mw__fail(err, MW_ERROR_UNSUPPORTED, "vocab.txt needs libutf8proc; the library was built without it");
    for (const char *at = text, *next; at < text + size && status == MW_OK; at = next, id++) {
        const size_t line = line_size(at, text + size, &next);
        status = mw__vocabulary_add(&t->model.vocabulary, id, at, line, 0.0, err);
    }
    if (status == MW_OK)
        finish_lines(t, err);
    return mw__tokenizer_finish(t, err);
}

/* ---- llama2.c: the longest piece, then score, length and bytes of each ---- */

static mw_status read_bin_piece(mw_tokenizer *t, const char *data, size_t size, size_t *at, int32_t id, mw_error *err)
{
    float score = 0.0F;
    const size_t left = size - *at;
    const uint32_t length = left >= 8 ? mw__bytes_u32((const unsigned char *)data + *at + 4) : 0;
    if (left < 8 || length > left - 8)
        return mw__fail(err, MW_ERROR_FORMAT, "tokenizer.bin: token %d has %u bytes at %zu, and the file %zu", (int)id,
                        length, *at, size);
    memcpy(&score, data + *at, 4);
    const mw_status status = mw__vocabulary_add(&t->model.vocabulary, id, data + *at + 8, length, (double)score, err);
    *at += 8 + (size_t)length;
    return status;
}

/* As llama2.c: <s> before a text, which gets a space in front; bytes have the numbers from 3 on. */
static mw_status finish_bin(mw_tokenizer *t, mw_error *err)
{
    static const char *const specials[] = {"<unk>", "<s>", "</s>"};
    for (int32_t i = 0; i < 3 && (size_t)i < t->model.vocabulary.count; i++)
        MW_TRY(mw__tokenizer_add_token(
            t, (mw__added){.text = specials[i], .size = strlen(specials[i]), .id = i, .special = true}, err));
    MW_TRY(mw__read_add_split(t, (mw__split_step){.kind = MW__SPLIT_PREFIX_ALWAYS}, err));
    MW_TRY(mw__read_add_part(t, (mw__template_part){.id = 1}, err));
    MW_TRY(mw__read_add_part(t, (mw__template_part){.is_text = true}, err));
    MW_TRY(mw__read_add_decode(t, (mw__decode_step){.kind = MW__DECODE_FALLBACK, .from = "", .to = ""}, err));
    return mw__read_add_decode(t, (mw__decode_step){.kind = MW__DECODE_PREFIX, .from = "", .to = ""}, err);
}

mw_tokenizer *mw__read_llama2c(const char *data, size_t size, mw_error *err)
{
    mw_tokenizer *t = mw__tokenizer_make(err);
    if (t == NULL)
        return NULL;
    size_t at = 4;
    int32_t id = 0;
    t->model.kind = MW__MODEL_BPE;
    t->model.by_score = t->model.byte_fallback = true;
    mw_status status = size > 12 ? MW_OK : mw__fail(err, MW_ERROR_FORMAT, "%zu bytes are no tokenizer.bin", size);
    while (status == MW_OK && at < size)
        status = read_bin_piece(t, data, size, &at, id++, err);
    if (status == MW_OK && id < 3)
        status = mw__fail(err, MW_ERROR_FORMAT,
                          "a tokenizer.bin has 3 tokens at least, the unknown, the first and the "
                          "last of a text; this one has %d",
                          (int)id);
    if (status == MW_OK)
        finish_bin(t, err);
    return mw__tokenizer_finish(t, err);
}
