/* Learning a byte-level vocabulary from a text: its words are counted, then the pair of tokens that comes most often
 * becomes a token, again and again. */
#ifndef MW__TEXT_TRAIN_TRAIN_H
#define MW__TEXT_TRAIN_TRAIN_H

#include "text/model/vocabulary.h"
#include "text/split/scanners.h"

/* ---- words.c: the words of a text, each once ---- */

typedef struct mw__counted_word {
    const char *text; /* in the text that was counted */
    uint32_t size;
    int64_t count;
} mw__counted_word;

typedef struct mw__bpe_word_counts {
    const mw_allocator *allocator;
    mw__counted_word *items; /* in the order in which they came first */
    size_t count, capacity;
    uint32_t *slots; /* [slot_count], a power of two: place of a word plus 1; 0 = empty */
    size_t slot_count;
} mw__bpe_word_counts;

/* Adds the words of a text, which must outlive the counts. */
mw_status mw__bpe_word_counts_add(mw__bpe_word_counts *counts, mw__scanner *scan, const char *text, size_t size,
                                  mw_error *err);
void mw__bpe_word_counts_deinit(mw__bpe_word_counts *counts);

/* ---- pairs.c: pairs of neighbors, how often they come and where ---- */

/* Left << 32 | right. */
typedef uint64_t mw__pair;

/* Places of symbols, in order. */
typedef struct mw__pair_places {
    int32_t *items;
    size_t count, capacity;
} mw__pair_places;

/* A pair that waits for its turn. */
typedef struct mw__pair_entry {
    int64_t count;
    mw__pair pair;
    mw__pair_places places;
} mw__pair_entry;

typedef struct mw__pair_table {
    const mw_allocator *allocator;
    struct mw__pair_slot *slots; /* [slot_count], a power of two */
    size_t slot_count, used;
    mw__pair_entry *fresh; /* found since the last mw__pairs_queue */
    size_t fresh_count, fresh_capacity;
    mw__pair_entry *heap; /* the one that comes most often first, of equal ones that of the lower numbers */
    size_t heap_count, heap_capacity;
} mw__pair_table;

/* Counts a pair `by` more, or fewer; one that is not there only fewer is an invariant of ours. */
mw_status mw__pairs_count(mw__pair_table *table, mw__pair pair, int64_t by, mw_error *err);
/* The same, and that it stands at a place. */
mw_status mw__pairs_found(mw__pair_table *table, mw__pair pair, int64_t by, int32_t place, mw_error *err);
/* What was found takes its place among those that wait. */
mw_status mw__pairs_queue(mw__pair_table *table, mw_error *err);
/* The pair that comes most often; its places are the caller's to free. False if none comes `least` times. */
bool mw__pairs_next(mw__pair_table *table, int64_t least, mw__pair_entry *out);
void mw__pairs_deinit(mw__pair_table *table);

/* ---- merges.c ---- */

typedef struct mw__bpe_learned_merge {
    int32_t left, right;
} mw__bpe_learned_merge;

typedef struct mw__learning {
    const mw_allocator *allocator;
    mw__vocabulary *vocabulary;    /* of bytes at first */
    const int32_t *byte_token;     /* [256] */
    size_t most;                   /* tokens */
    int64_t least;                 /* times that a pair comes, to become a token */
    mw__bpe_learned_merge *merges; /* the result, in order */
    size_t merge_count, merge_capacity;
} mw__learning;

mw_status mw__learn_merges(mw__learning *l, const mw__bpe_word_counts *words, mw_error *err);

/* ---- write.c ---- */

typedef struct mw__bpe_learned {
    const mw__vocabulary *vocabulary;
    const mw__bpe_learned_merge *merges;
    size_t merge_count;
    const char *const *special; /* the first tokens */
    size_t special_count;
    const char *pattern; /* where words end; NULL = that of GPT-2, which tokenizer.json leaves out */
} mw__bpe_learned;

/* Writes tokenizer.json. */
mw_status mw__bpe_learned_write(const mw__bpe_learned *learned, const char *path, mw_error *err);
/* The code of the character that a file spells a byte as. */
uint32_t mw__bpe_learned_code(int byte);

#endif
