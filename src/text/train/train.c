/* mw_tokenizer_train: what it is given, and the parts in their order. */
#include "text/train/train.h"

#include "base/text/error.h"
#include "base/text/utf8.h"

#include <millwright/tokenizer.h>
#include <string.h>

mw_tokenizer_train_options mw_tokenizer_train_defaults(void)
{
    static const char *const special[] = {"<|endoftext|>"};
    return (mw_tokenizer_train_options){.struct_size = sizeof(mw_tokenizer_train_options),
                                        .count = 8000,
                                        .least = 2,
                                        .pattern = "gpt2",
                                        .special = special,
                                        .special_count = 1};
}

/* ---- what is given ---- */

static mw_status check_special(const mw_tokenizer_train_options *o, mw_error *err)
{
    for (size_t i = 0; i < o->special_count; i++) {
        const char *text = o->special[i];
        if (text == NULL || strlen(text) < 2 || !mw__utf8_check(text))
            return mw__fail(err, MW_ERROR_ARGUMENT, "a vocabulary: special token %zu is no UTF-8 of 2 bytes or more",
                            i);
        for (size_t k = 0; k < i; k++)
            if (strcmp(o->special[k], text) == 0)
                return mw__fail(err, MW_ERROR_ARGUMENT, "a vocabulary: two special tokens are \"%.60s\"", text);
    }
    return MW_OK;
}

static mw_status check_train(const mw_tokenizer_train_options *o, const char *text, size_t size, const char *path,
                             mw_error *err)
{
    if (o->struct_size != sizeof *o)
        return mw__fail(err, MW_ERROR_ARGUMENT, "a vocabulary: options are made with mw_tokenizer_train_defaults");
    if ((text == NULL && size > 0) || path == NULL || (o->special == NULL && o->special_count > 0))
        return mw__fail(err, MW_ERROR_ARGUMENT, "a vocabulary: no %s",
                        path == NULL               ? "path"
                        : text == NULL && size > 0 ? "text"
                                                   : "special tokens");
    if (size > PTRDIFF_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "a vocabulary: a text of %zu bytes; at most %td", size,
                        (ptrdiff_t)PTRDIFF_MAX);
    if (o->count < 256 + o->special_count || o->count > MW__VOCABULARY_MOST)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "a vocabulary of %zu tokens: from %zu, of bytes and special ones, to %d", o->count,
                        256 + o->special_count, MW__VOCABULARY_MOST);
    if (o->least < 1)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "a vocabulary: a pair becomes a token from %lld times on; 1 is the least", (long long)o->least);
    return check_special(o, err);
}

/* ---- the first tokens ---- */

/* Special ones, then the bytes in the order of the characters that they are spelled as. */
static mw_status add_first(const mw_tokenizer_train_options *o, mw__vocabulary *v, int32_t byte_token[256],
                           mw_error *err)
{
    int bytes[256 + 68];
    for (int i = 0; i < 256 + 68; i++)
        bytes[i] = -1;
    for (int byte = 0; byte < 256; byte++)
        bytes[mw__bpe_learned_code(byte)] = byte;
    for (size_t i = 0; i < o->special_count; i++)
        MW_TRY(mw__vocabulary_add(v, (int32_t)i, o->special[i], strlen(o->special[i]), 0.0, err));
    for (int i = 0; i < 256 + 68; i++) {
        const char byte = (char)bytes[i];
        if (bytes[i] < 0)
            continue;
        byte_token[bytes[i]] = (int32_t)v->count;
        MW_TRY(mw__vocabulary_add(v, (int32_t)v->count, &byte, 1, 0.0, err));
    }
    return MW_OK;
}

static mw_status learn(const mw_tokenizer_train_options *o, mw__vocabulary *v, const mw__bpe_word_counts *words,
                       const char *pattern, const char *path, mw_error *err)
{
    int32_t byte_token[256];
    mw__learning learning = {
        .allocator = words->allocator, .vocabulary = v, .byte_token = byte_token, .most = o->count, .least = o->least};
    mw_status status = add_first(o, v, byte_token, err);
    if (status == MW_OK)
        status = mw__learn_merges(&learning, words, err);
    const mw__bpe_learned learned = {.vocabulary = v,
                                     .merges = learning.merges,
                                     .merge_count = learning.merge_count,
                                     .special = o->special,
                                     .special_count = o->special_count,
                                     .pattern = strcmp(pattern, mw__scanner_gpt2_pattern) == 0 ? NULL : pattern};
    if (status == MW_OK)
        status = mw__bpe_learned_write(&learned, path, err);
    mw__free(words->allocator, learning.merges);
    return status;
}

mw_status mw_tokenizer_train(const char *text, size_t size, const mw_tokenizer_train_options *options, const char *path,
                             mw_error *err)
{
    mw_error own = {0};
    if (mw__skips(err))
        return err->status;
    err = err != NULL ? err : &own;
    const mw_tokenizer_train_options o = options != NULL ? *options : mw_tokenizer_train_defaults();
    MW_TRY(check_train(&o, text, size, path, err));
    const char *const pattern = o.pattern != NULL ? mw__scanner_pattern(o.pattern) : NULL;
    if (pattern == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "a vocabulary: words by \"%.40s\"; known are %s",
                        o.pattern != NULL ? o.pattern : "", mw__scanner_names);
    mw__bpe_word_counts words = {.allocator = mw__allocator_default()};
    mw__arena arena;
    mw__arena_init(&arena, words.allocator);
    mw__vocabulary vocabulary = {.arena = &arena};
    mw_status status = mw__bpe_word_counts_add(&words, mw__scanner_of(pattern), text, size, err);
    if (status == MW_OK)
        status = learn(&o, &vocabulary, &words, pattern, path, err);
    mw__vocabulary_deinit(&vocabulary);
    mw__bpe_word_counts_deinit(&words);
    mw__arena_deinit(&arena);
    return status;
}
