/* Examples of a file of tokens: where each begins and how long it is, and its columns. */
#ifndef MW__TEXT_DATA_EXAMPLES_H
#define MW__TEXT_DATA_EXAMPLES_H

#include "text/data/token_file.h"

#include <millwright/text_data.h>

enum { MW__CORPUS_BUCKETS = 32, MW__CORPUS_SHORTEST = 32 };

/* Column 0 has the tokens, column 1 those that follow, column 2 where a token's document begins. */
typedef enum mw__corpus_column {
    MW__CORPUS_TOKENS,
    MW__CORPUS_LABELS,
    MW__CORPUS_STARTS,
    MW__CORPUS_COLUMNS
} mw__corpus_column;

/* An example: so many tokens from there on have a label. */
typedef struct mw__corpus_place {
    uint64_t begin;
    int64_t count;
} mw__corpus_place;

typedef struct mw__corpus_examples {
    const mw__corpus_file *file;
    int64_t tokens; /* of an example */
    bool padded, apart, whole, buckets;
    uint64_t words;           /* 0 = nobody knows */
    mw__corpus_place *places; /* [count]; NULL = windows, one after the other */
    size_t capacity;
    int64_t count;
    int64_t limits[MW__CORPUS_BUCKETS]; /* to which examples are filled up; the last is `tokens` */
    size_t limit_count;
} mw__corpus_examples;

/* Finds them; the caller has set all but places, count and limits. With buckets `tokens` becomes what the longest
 * needs. Deinit in any case. */
mw_status mw__corpus_examples_find(mw__corpus_examples *e, mw_error *err);
void mw__corpus_examples_deinit(mw__corpus_examples *e);
/* Tokens of an example, without what it is filled up with. */
int64_t mw__corpus_examples_length(const mw__corpus_examples *e, int64_t example);
/* out [tokens] */
mw_status mw__corpus_examples_fill(const mw__corpus_examples *e, int64_t example, mw__corpus_column column,
                                   int32_t *out, mw_error *err);

#endif
