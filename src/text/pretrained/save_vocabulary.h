/* What the writers of vocabularies to GGUF share. */
#ifndef MW__TEXT_PRETRAINED_SAVE_VOCABULARY_H
#define MW__TEXT_PRETRAINED_SAVE_VOCABULARY_H

#include "text/pretrained/save.h"
#include "text/read/gguf_words.h"

/* A vocabulary that is being made: arrays of `count`, in the arena of the keys. */
typedef struct mw__saving_words {
    mw__saving_keys *keys;
    const mw_tokenizer *tokenizer;
    size_t count;
    const char **tokens;
    int32_t *kinds; /* MW__GGUF_.. */
    float *scores;
} mw__saving_words;

/* The keys of a kind, but for tokens and kinds, which may be changed. */
mw_status mw__saving_word_pieces(mw__saving_words *w);
mw_status mw__saving_scored_pieces(mw__saving_words *w);

#endif
