/* The pieces of a tokenizer and their numbers. */
#ifndef MW__TEXT_MODEL_VOCABULARY_H
#define MW__TEXT_MODEL_VOCABULARY_H

#include "base/memory/alloc.h"

typedef struct mw__vocabulary_piece {
    const char *text; /* NULL: no piece has this number */
    uint32_t size;
    double score; /* Unigram and SentencePiece; 0 else */
} mw__vocabulary_piece;

typedef struct mw__vocabulary {
    mw__arena *arena; /* of texts */
    mw__vocabulary_piece *pieces;
    size_t count, capacity;
    int32_t *slots; /* [slot_count], a power of two; -1 = empty */
    size_t slot_count;
    size_t longest; /* bytes of a piece */
} mw__vocabulary;

/* Numbers are below this; files with others are refused. */
#define MW__VOCABULARY_MOST (1 << 24)

/* Gives a number to a piece. An older piece of that number is an error; of two numbers of one piece the first is found.
 *  text  copied */
mw_status mw__vocabulary_add(mw__vocabulary *v, int32_t id, const char *text, size_t size, double score, mw_error *err);
void mw__vocabulary_deinit(mw__vocabulary *v);

/* -1 if there is none. */
int32_t mw__vocabulary_find(const mw__vocabulary *v, const char *text, size_t size);
/* NULL text if there is none. */
mw__vocabulary_piece mw__vocabulary_at(const mw__vocabulary *v, int32_t id);

#endif
