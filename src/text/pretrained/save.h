/* What the writers of the forms share: a source, what was trained, and how to write. */
#ifndef MW__TEXT_PRETRAINED_SAVE_H
#define MW__TEXT_PRETRAINED_SAVE_H

#include "text/pretrained/pretrained.h"

#include <millwright/tensors.h>
#include <millwright/text_save.h>

/* Weights that stand in place of the source's, or are added to them. All NULL without any. */
typedef struct mw__trained {
    mw__arena arena;
    mw_tensors *tensors;
    double scale;                               /* of adapters: alpha / r */
    const mw_tensor_info **whole, **down, **up; /* [count], of the source's weights: W, A [r, in] and B [out, r] */
} mw__trained;

/* NULL path: nothing. Deinit in any case. */
mw_status mw__trained_open(mw__trained *t, const char *path, const mw__pretrained *source, mw_error *err);
void mw__trained_deinit(mw__trained *t);
/* Changes the source's elements of a weight. */
mw_status mw__trained_apply(const mw__trained *t, const mw__pretrained_weight *weight, size_t index, float *data,
                            mw_error *err);

typedef struct mw__saving {
    mw__pretrained source;
    mw__trained trained;
    const char *path;
    const mw_text_save_options *options;
} mw__saving;

/* The elements of a weight as they are saved, in the order of a folder. */
mw_status mw__saving_read(mw__saving *s, size_t weight, float *out, mw_error *err);

/* Whether a file can be made there. What is made to find out is gone again. */
mw_status mw__saving_check_file(const char *path, mw_error *err);

mw_status mw__saving_folder(mw__saving *s, mw_error *err);
mw_status mw__saving_gguf(mw__saving *s, mw_error *err);
mw_status mw__saving_llama2c(mw__saving *s, mw_error *err);
mw_status mw__saving_coreml(mw__saving *s, mw_error *err);

/* ---- vocabulary ---- */

/* Keys of a file that is being made. */
typedef struct mw__saving_keys {
    mw__arena arena;
    mw_gguf_value *values;
    size_t count, capacity;
    mw_error *err; /* what failed first; then nothing more is added */
} mw__saving_keys;

void mw__saving_add_u32(mw__saving_keys *k, const char *key, int64_t value);
void mw__saving_add_f32(mw__saving_keys *k, const char *key, double value);
void mw__saving_add_bool(mw__saving_keys *k, const char *key, bool value);
void mw__saving_add_text(mw__saving_keys *k, const char *key, const char *value);
/* `data` lives as long as the keys. */
void mw__saving_add_array(mw__saving_keys *k, const char *key, const char *type, size_t count, const void *data);

/* The vocabulary of a source, filled up to `words` tokens. */
mw_status mw__saving_add_vocabulary(mw__saving_keys *k, const char *source, const mw_tokenizer *tokenizer,
                                    int64_t words);
/* What modules.json of a source names, into a folder that has none of it; and such a file by the keys of GGUF. */
mw_status mw__saving_copy_modules(const char *source, const char *folder, mw_error *err);
mw_status mw__saving_write_modules(const mw__pretrained *source, const char *folder, mw_error *err);

/* tokenizer.json. MW_ERROR_UNSUPPORTED, and no file, where it has no form for what the tokenizer does. NULL path: that
 * alone is looked at. */
mw_status mw__saving_tokenizer_json(const mw_tokenizer *tokenizer, const char *path, mw_error *err);
/* tokenizer_config.json by the keys of a GGUF file. */
mw_status mw__saving_tokenizer_config(const mw__pretrained *source, const mw_tokenizer *tokenizer, const char *path,
                                      mw_error *err);
/* A file of the vocabulary alone. NULL path: whether there is a place for all of it. */
mw_status mw__saving_vocabulary_file(const char *source, const mw_tokenizer *tokenizer, int64_t words, const char *path,
                                     mw_error *err);

#endif
