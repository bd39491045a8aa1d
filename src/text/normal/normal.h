/* Normalizers: what a tokenizer does to a text before it cuts it. A list of steps, as tokenizer.json has them. */
#ifndef MW__TEXT_NORMAL_NORMAL_H
#define MW__TEXT_NORMAL_NORMAL_H

#include "text/normal/aligned.h"

struct mw__charsmap;
struct mw__regex;

typedef enum mw__normal_kind {
    MW__NORMAL_NFC,
    MW__NORMAL_NFD,
    MW__NORMAL_NFKC,
    MW__NORMAL_NFKD,
    MW__NORMAL_LOWERCASE,
    MW__NORMAL_STRIP_ACCENTS, /* nonspacing marks go */
    MW__NORMAL_STRIP,         /* white space at the ends */
    MW__NORMAL_COLLAPSE,      /* spaces at the ends, and all but one of those between */
    MW__NORMAL_REPLACE,       /* `text` by `content` */
    MW__NORMAL_REPLACE_REGEX, /* what `regex` finds by `content` */
    MW__NORMAL_PREPEND,       /* `content`, unless the text is empty */
    MW__NORMAL_CLEAN,         /* BERT: control characters go, white space becomes a space */
    MW__NORMAL_CJK,           /* BERT: spaces around ideographs */
    MW__NORMAL_NMT,           /* SentencePiece: the same for other sets of characters */
    MW__NORMAL_CHARSMAP       /* SentencePiece: a table of the file */
} mw__normal_kind;

typedef struct mw__normal_step {
    mw__normal_kind kind;
    const char *text, *content; /* NUL-terminated */
    bool left, right;           /* STRIP */
    const struct mw__charsmap *charsmap;
    const struct mw__regex *regex;
} mw__normal_step;

/* *text becomes what the steps make of it. */
mw_status mw__normalizer_run(const mw__normal_step *steps, size_t count, mw__aligned *text);

/* The parts. */
void mw__normalizer_form(mw__normal_kind form, const mw__aligned *in, mw__aligned *out);
void mw__normalizer_charsmap(const struct mw__charsmap *map, const mw__aligned *in, mw__aligned *out);
void mw__normalizer_regex(const mw__normal_step *step, const mw__aligned *in, mw__aligned *out);

/* The table of a SentencePiece model: a double array of prefixes, and the texts that they become.
 *  data  kept as it is; lives as long as the map */
const struct mw__charsmap *mw__normalizer_read_charsmap(mw__arena *arena, const char *data, size_t size, mw_error *err);
/* What it was read from. */
const char *mw__normalizer_charsmap_data(const struct mw__charsmap *map, size_t *size);

#endif
