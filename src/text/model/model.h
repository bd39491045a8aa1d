/* How the words of a text become tokens: byte pairs (BPE), pieces by their likelihood (Unigram), or the longest piece
 * first (WordPiece). A model is read only once it is made. */
#ifndef MW__TEXT_MODEL_MODEL_H
#define MW__TEXT_MODEL_MODEL_H

#include "text/model/vocabulary.h"

typedef enum mw__model_kind { MW__MODEL_BPE, MW__MODEL_UNIGRAM, MW__MODEL_WORDPIECE } mw__model_kind;

/* Two tokens that become one. */
typedef struct mw__merge {
    uint64_t pair; /* left << 32 | right; all bits = an empty slot */
    int32_t rank, id;
} mw__merge;

typedef struct mw__model {
    mw__model_kind kind;
    mw__vocabulary vocabulary;
    int32_t unknown;         /* -1 = none: what has no token is left out, or an error where bytes must not be lost */
    int32_t byte_token[256]; /* of bytes: of a byte-level model those that it begins with, else its fallback; -1 */
    bool byte_level;         /* pieces are bytes, not characters */
    bool byte_fallback;      /* a character without a token becomes its bytes' */
    bool fuse_unknown;
    bool whole_words;  /* a word that is a token is taken before merges are looked at */
    bool by_score;     /* SentencePiece, llama2.c: two neighbors whose text is a token merge, the highest score first */
    mw__merge *merges; /* [merge_slots], a power of two */
    size_t merge_slots, merge_count;
    const char *prefix;    /* of the pieces within a word: BPE continuing_subword_prefix, WordPiece "##"; "" = none */
    const char *suffix;    /* of the last piece of a word; "" = none */
    size_t longest_word;   /* WordPiece: characters of a word, beyond which it is unknown */
    bool single;           /* Unigram: scores are added as floats, as SentencePiece does */
    double lowest;         /* Unigram: of the scores */
    struct mw__trie *trie; /* Unigram: prefixes of pieces; owned */
} mw__model;

/* A token and the bytes of the text that it stands for. */
typedef struct mw__subword {
    int32_t id;
    uint32_t begin, end;
} mw__subword;

/* Tokens that are written, and the room in which one word is cut. */
typedef struct mw__subword_list {
    const mw_allocator *allocator;
    mw__subword *items;
    size_t count, capacity;
    struct mw__symbol *symbols;
    size_t symbol_capacity;
    struct mw__heap_entry *heap;
    size_t heap_capacity;
    double *best; /* Unigram */
    size_t best_capacity;
    struct mw__word_cache *cache; /* BPE; NULL = none */
    mw_error *err;
} mw__subword_list;

mw_status mw__subword_put(mw__subword_list *list, int32_t id, size_t begin, size_t end);
void mw__subword_list_deinit(mw__subword_list *list);

/* Appends the tokens of text[begin..end), a word. */
mw_status mw__subword_run(const mw__model *model, const char *text, size_t begin, size_t end, mw__subword_list *out);

/* Adds a merge; of two of one pair the first counts. `rank` is its place. */
mw_status mw__subword_add_merge(mw__model *model, int32_t left, int32_t right, int32_t rank, int32_t id, mw_error *err);
/* After the last piece: what is derived of them. */
mw_status mw__subword_finish(mw__model *model, mw_error *err);
void mw__subword_deinit(mw__model *model);

/* The slot that a search for a pair begins at. */
static inline size_t mw__subword_slot(const mw__model *model, uint64_t pair)
{
    uint64_t mixed = (pair ^ pair >> 32) * 0x9e3779b97f4a7c15U;
    mixed ^= mixed >> 29;
    return (size_t)mixed & (model->merge_slots - 1);
}

/* The kinds. */
mw_status mw__subword_bpe(const mw__model *model, const char *text, size_t begin, size_t end, mw__subword_list *out);
mw_status mw__subword_unigram(const mw__model *model, const char *text, size_t begin, size_t end,
                              mw__subword_list *out);
mw_status mw__subword_wordpiece(const mw__model *model, const char *text, size_t begin, size_t end,
                                mw__subword_list *out);
/* Words that come again are cut once: worth its memory for texts of some thousand bytes. */
mw_status mw__subword_bpe_cache(mw__subword_list *list);
mw_status mw__subword_make_trie(mw__model *model, mw_error *err);
/* Tokens of a text that none stands for: its bytes', one for each character, or one for all of it. */
mw_status mw__subword_put_unknown(const mw__model *model, const char *text, size_t begin, size_t end,
                                  mw__subword_list *out);

#endif
