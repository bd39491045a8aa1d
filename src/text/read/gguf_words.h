/* The vocabulary of a GGUF file as its arrays and keys: what the readers of its kinds share. */
#ifndef MW__TEXT_READ_GGUF_WORDS_H
#define MW__TEXT_READ_GGUF_WORDS_H

#include "text/read/read.h"

#include <millwright/tensors.h>

/* Kinds of pieces, as the file numbers them. */
enum {
    MW__GGUF_NORMAL = 1,
    MW__GGUF_UNKNOWN = 2,
    MW__GGUF_CONTROL = 3,
    MW__GGUF_USER = 4,
    MW__GGUF_UNUSED = 5,
    MW__GGUF_BYTE = 6
};

/* The arrays of a vocabulary; of what a file lacks the count is 0. */
typedef struct mw__gguf_words {
    mw_tensors *tensors;
    mw_tensors_array tokens, scores, kinds, merges;
} mw__gguf_words;

/* The value of "tokenizer.ggml." `name`; NULL = there is none. */
const char *mw__read_gguf_note(const mw__gguf_words *w, const char *name);
bool mw__read_gguf_flag(const mw__gguf_words *w, const char *name, bool otherwise);
/* The number of a token by its key. */
mw_status mw__read_gguf_token(const mw__gguf_words *w, const char *name, int32_t otherwise, int32_t *out,
                              mw_error *err);

/* An array by its whole key; `needed`: it has to be there. */
mw_status mw__read_gguf_array(mw__gguf_words *w, const char *key, const char *type, bool needed, mw_tensors_array *out,
                              mw_error *err);
mw_status mw__read_gguf_take_arrays(mw__gguf_words *w, mw_error *err);
const char *mw__read_gguf_string(const mw_tensors_array *a, size_t i, size_t *out_size);
double mw__read_gguf_score(const mw__gguf_words *w, size_t i);
uint32_t mw__read_gguf_kind(const mw__gguf_words *w, size_t i);

/* All pieces, as files spell them. */
mw_status mw__read_gguf_add_pieces(mw_tokenizer *t, const mw__gguf_words *w, mw_error *err);
/* What is put around a text, unless the file says otherwise. */
typedef struct mw__gguf_ends {
    int32_t first, last; /* numbers of tokens; -1 = none */
    bool begins, ends;   /* whether they are put there */
} mw__gguf_ends;
mw_status mw__read_gguf_add_around(mw_tokenizer *t, const mw__gguf_words *w, const mw__gguf_ends *usual, mw_error *err);

/* Kinds of vocabularies (gguf_pieces.c). */
mw_status mw__read_gguf_bert(mw_tokenizer *t, const mw__gguf_words *w, mw_error *err);
mw_status mw__read_gguf_t5(mw_tokenizer *t, mw__gguf_words *w, mw_error *err);

#endif
