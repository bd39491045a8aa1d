/* A tokenizer as its parts: what is found first, how a text is normalized, cut and made tokens, what is put around it,
 * and how tokens become text again. */
#ifndef MW__TEXT_TOKENIZER_TOKENIZER_H
#define MW__TEXT_TOKENIZER_TOKENIZER_H

#include "base/text/text.h"
#include "text/model/model.h"
#include "text/normal/normal.h"
#include "text/split/spans.h"

#include <millwright/tokenizer.h>

/* A token that is found in the text before the model sees it. */
typedef struct mw__added {
    const char *text, *find; /* as it is, and as the normalizer leaves it */
    size_t size, find_size;
    int32_t id;
    bool special;
    bool hidden;                    /* no text has it: it is put around texts alone */
    bool single_word;               /* only between what is no word */
    bool strips_left, strips_right; /* takes the white space there */
    bool normalized;                /* is looked for after the normalizer */
} mw__added;

/* One of what stands around a text: a token, or the text itself. */
typedef struct mw__template_part {
    bool is_text;
    int32_t id;
} mw__template_part;

typedef enum mw__decode_kind {
    MW__DECODE_REPLACE,   /* `from` by `to` in each piece */
    MW__DECODE_FALLBACK,  /* "<0x0A>" is a byte */
    MW__DECODE_STRIP,     /* up to `count` of `from` at the begin of the text */
    MW__DECODE_WORDPIECE, /* a space before each piece without `from`, which goes */
    MW__DECODE_CLEANUP,   /* WordPiece: no space before punctuation */
    MW__DECODE_SUFFIX,    /* `from` at the end of a piece becomes a space */
    MW__DECODE_PREFIX     /* Metaspace: of the first piece the space goes */
} mw__decode_kind;

typedef struct mw__decode_step {
    mw__decode_kind kind;
    const char *from, *to;
    size_t count;
} mw__decode_step;

struct mw_tokenizer {
    mw__arena arena;
    mw__model model;
    mw__added *added;
    size_t added_count, added_capacity;
    struct mw__trie *raw,
        *normal;             /* of what is looked for before and after the normalizer: places in `added`; NULL = none */
    const mw__added **by_id; /* [id_count]; NULL where a number is the model's */
    size_t id_count;
    mw__normal_step *normals;
    size_t normal_count, normal_capacity;
    mw__split_step *splits;
    size_t split_count, split_capacity;
    mw__template_part *parts;
    size_t part_count, part_capacity; /* count 0: the text alone */
    bool trims;                       /* offsets leave out white space at the ends of tokens */
    bool trims_prefix;                /* but for the space that was put in front */
    mw__decode_step *decodes;
    size_t decode_count, decode_capacity;
};

/* An empty one, to be filled by a reader. */
mw_tokenizer *mw__tokenizer_make(mw_error *err);
/* After a reader: what is derived of the parts. NULL with `t` freed on failure. */
mw_tokenizer *mw__tokenizer_finish(mw_tokenizer *t, mw_error *err);
/* A token beside the model. */
mw_status mw__tokenizer_add_token(mw_tokenizer *t, mw__added added, mw_error *err);

/* The file that mw_tokenizer_open reads of a folder, or `path` itself; and "merges.txt" beside a "vocab.json", else "".
 *  size    of each of both
 *  return  false: the folder has none, or a path is too long */
bool mw__tokenizer_files(const char *path, char *out_file, char *out_merges, size_t size);

/* ---- parts ---- */

mw_status mw__added_prepare(mw_tokenizer *t, mw_error *err);
void mw__added_deinit(mw_tokenizer *t);
/* A place where an added token stands. */
typedef struct mw__added_match {
    const mw__added *token; /* NULL = none */
    size_t begin, end;      /* with what it strips */
} mw__added_match;
/* The first one at or after `at`; what it strips ends at `at`. */
mw__added_match mw__added_find(const mw_tokenizer *t, bool normal, const char *text, size_t size, size_t at,
                               bool special_too);

/* Appends the bytes of a token to `out`. `first`: no token came before it.
 * False: there is no such token. */
bool mw__tokenizer_put_piece(const mw_tokenizer *t, int32_t id, bool first, bool keep_special, mw__text *out);

/* Readers. */
mw_tokenizer *mw__read_tokenizer_json(const char *text, size_t size, mw_error *err);
mw_tokenizer *mw__read_vocabulary_and_merges(const char *vocabulary, size_t size, const char *merges,
                                             size_t merges_size, mw_error *err);
mw_tokenizer *mw__read_llama2c(const char *data, size_t size, mw_error *err);
mw_tokenizer *mw__read_sentencepiece(const char *data, size_t size, mw_error *err);
mw_tokenizer *mw__read_gguf(const char *path, mw_error *err);
mw_tokenizer *mw__read_lines(const char *text, size_t size, mw_error *err);

#endif
