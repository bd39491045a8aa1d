/* Models of tokenizer.json. */
#include "base/text/error.h"
#include "text/read/read.h"

#include <string.h>

/* ---- pieces ---- */

static mw_status read_vocabulary(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    const mw__json_node *vocabulary = mw__tree_find(node, "vocab");
    if (!mw__tree_is(vocabulary, MW__JSON_IS_OBJECT))
        return mw__fail(err, MW_ERROR_FORMAT, "the model has no \"vocab\" of tokens and their numbers");
    for (const mw__json_node *piece = vocabulary->first; piece != NULL; piece = piece->next) {
        if (piece->kind != MW__JSON_IS_NUMBER || !(piece->number >= 0.0 && piece->number < (double)MW__VOCABULARY_MOST))
            return mw__fail(err, MW_ERROR_FORMAT, "the token \"%.60s\" has no number from 0 to %d", piece->key,
                            MW__VOCABULARY_MOST - 1);
        MW_TRY(mw__read_piece(t, piece->key, piece->key_length, (int32_t)piece->number, 0.0, err));
    }
    return MW_OK;
}

static void read_unknown(mw_tokenizer *t, const mw__json_node *node)
{
    const char *unknown = mw__tree_text(node, "unk_token");
    if (unknown != NULL)
        t->model.unknown = mw__vocabulary_find(&t->model.vocabulary, unknown, strlen(unknown));
}

static mw_status keep_affixes(mw_tokenizer *t, const mw__json_node *node, const char *otherwise, mw_error *err)
{
    const char *prefix = mw__tree_text(node, "continuing_subword_prefix");
    t->model.prefix = mw__read_keep(t, prefix != NULL ? prefix : otherwise, err);
    t->model.suffix = mw__read_keep(t, mw__tree_text(node, "end_of_word_suffix"), err);
    if (t->model.prefix == NULL || t->model.suffix == NULL)
        return MW_ERROR_MEMORY;
    if (t->model.byte_level && (t->model.prefix[0] != '\0' || t->model.suffix[0] != '\0'))
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "a byte-level model that marks pieces within words");
    return MW_OK;
}

/* ---- BPE ---- */

/* "a b", or ["a", "b"] where pieces have spaces in them. */
static mw_status read_one_merge(mw_tokenizer *t, const mw__json_node *merge, int32_t rank, mw_error *err)
{
    if (merge->kind == MW__JSON_IS_TEXT) {
        const char *space = memchr(merge->text, ' ', merge->length);
        if (space != NULL && strchr(space + 1, ' ') == NULL)
            return mw__read_merge(t, merge->text, (size_t)(space - merge->text), space + 1,
                                  merge->length - (size_t)(space + 1 - merge->text), rank, err);
    }
    const mw__json_node *a = merge->first, *b = a != NULL ? a->next : NULL;
    if (merge->kind != MW__JSON_IS_ARRAY || merge->count != 2 || !mw__tree_is(a, MW__JSON_IS_TEXT) ||
        !mw__tree_is(b, MW__JSON_IS_TEXT))
        return mw__fail(err, MW_ERROR_FORMAT, "merge %d is no pair of tokens", (int)rank);
    return mw__read_merge(t, a->text, a->length, b->text, b->length, rank, err);
}

static mw_status read_merges(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    const mw__json_node *merges = mw__tree_find(node, "merges");
    int32_t rank = 0;
    if (!mw__tree_is(merges, MW__JSON_IS_ARRAY))
        return mw__fail(err, MW_ERROR_FORMAT, "the model BPE has no \"merges\"");
    for (const mw__json_node *merge = merges->first; merge != NULL; merge = merge->next)
        MW_TRY(read_one_merge(t, merge, rank++, err));
    return MW_OK;
}

static mw_status read_bpe(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    mw__model *m = &t->model;
    m->kind = MW__MODEL_BPE;
    m->byte_fallback = mw__tree_bool(node, "byte_fallback", false);
    m->fuse_unknown = mw__tree_bool(node, "fuse_unk", false);
    m->whole_words = mw__tree_bool(node, "ignore_merges", false);
    MW_TRY(keep_affixes(t, node, "", err));
    MW_TRY(read_vocabulary(t, node, err));
    read_unknown(t, node);
    return read_merges(t, node, err);
}

/* ---- WordPiece ---- */

static mw_status read_wordpiece(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    const double most = mw__tree_number(node, "max_input_chars_per_word", 100.0);
    t->model.kind = MW__MODEL_WORDPIECE;
    t->model.longest_word = most >= 0.0 && most < 4096.0 ? (size_t)most : 4096;
    MW_TRY(keep_affixes(t, node, "##", err));
    MW_TRY(read_vocabulary(t, node, err));
    read_unknown(t, node);
    if (t->model.unknown < 0)
        return mw__fail(err, MW_ERROR_FORMAT, "the model WordPiece has no token \"unk_token\"");
    return MW_OK;
}

/* ---- Unigram ---- */

static mw_status read_scored(mw_tokenizer *t, const mw__json_node *pair, int32_t id, mw_error *err)
{
    const mw__json_node *piece = pair->first, *score = piece != NULL ? piece->next : NULL;
    if (pair->kind != MW__JSON_IS_ARRAY || !mw__tree_is(piece, MW__JSON_IS_TEXT) ||
        !mw__tree_is(score, MW__JSON_IS_NUMBER))
        return mw__fail(err, MW_ERROR_FORMAT, "token %d is no pair of a text and a score", (int)id);
    return mw__read_piece(t, piece->text, piece->length, id, score->number, err);
}

static mw_status read_unigram(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    const mw__json_node *vocabulary = mw__tree_find(node, "vocab");
    const double unknown = mw__tree_number(node, "unk_id", -1.0);
    int32_t id = 0;
    t->model.kind = MW__MODEL_UNIGRAM;
    t->model.fuse_unknown = true;
    t->model.byte_fallback = mw__tree_bool(node, "byte_fallback", false);
    if (!mw__tree_is(vocabulary, MW__JSON_IS_ARRAY))
        return mw__fail(err, MW_ERROR_FORMAT, "the model Unigram has no \"vocab\" of pieces and scores");
    if (unknown >= (double)vocabulary->count)
        return mw__fail(err, MW_ERROR_FORMAT, "the model Unigram has %zu tokens, and the unknown one is number %.0f",
                        vocabulary->count, unknown);
    t->model.unknown = unknown >= 0.0 ? (int32_t)unknown : -1;
    for (const mw__json_node *pair = vocabulary->first; pair != NULL; pair = pair->next)
        MW_TRY(read_scored(t, pair, id++, err));
    return MW_OK;
}

/* Older files do not say what they are. */
static const char *type_of(const mw__json_node *node)
{
    const char *type = mw__tree_text(node, "type");
    if (type != NULL)
        return type;
    if (mw__tree_find(node, "merges") != NULL)
        return "BPE";
    return mw__tree_is(mw__tree_find(node, "vocab"), MW__JSON_IS_ARRAY) ? "Unigram" : "WordPiece";
}

mw_status mw__read_model(mw_tokenizer *t, const mw__json_node *node, mw_error *err)
{
    if (!mw__tree_is(node, MW__JSON_IS_OBJECT))
        return mw__fail(err, MW_ERROR_FORMAT, "there is no \"model\": this is no tokenizer.json");
    const char *type = type_of(node);
    if (strcmp(type, "BPE") == 0)
        return read_bpe(t, node, err);
    if (strcmp(type, "WordPiece") == 0)
        return read_wordpiece(t, node, err);
    if (strcmp(type, "Unigram") == 0)
        return read_unigram(t, node, err);
    return mw__fail(err, MW_ERROR_UNSUPPORTED, "the model \"%.60s\" is not known", type);
}
