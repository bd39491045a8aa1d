/* Texts of files as documents of tokens: plain text, a document each; JSON Lines, a document a line. */
#ifndef MW__TEXT_DATA_ENCODER_H
#define MW__TEXT_DATA_ENCODER_H

#include "text/data/chat.h"
#include "text/data/token_file.h"

#include <millwright/tokenizer.h>

enum { MW__CORPUS_AROUND = 8 }; /* the most tokens in front of a document, and behind it */

typedef struct mw__corpus_encoder {
    mw_tokenizer *tokenizer;
    mw__arena arena;
    mw__corpus_chat chat;
    const char *no_chat; /* why conversations cannot be read; NULL = they can */
    int32_t before[MW__CORPUS_AROUND], after[MW__CORPUS_AROUND];
    size_t before_count, after_count;
    uint64_t words; /* numbers of tokens are below it */
    uint64_t key;   /* of all that says how a text is encoded */
} mw__corpus_encoder;

/* Of a folder with a tokenizer, or of one of its files. `chat`: the name of a template; NULL = that of the folder. */
mw_status mw__corpus_encoder_open(mw__corpus_encoder *e, const char *folder, const char *chat, mw_error *err);
void mw__corpus_encoder_close(mw__corpus_encoder *e);
/* Whether the name of a file says that it is one of JSON Lines. */
bool mw__corpus_is_lines(const char *path);
/* Appends the documents of a file. Memory: some 20 times the longest line, or of plain text 400 MB. */
mw_status mw__corpus_encode(const mw__corpus_encoder *e, const char *path, mw__corpus_writer *out, mw_error *err);
/* XXH3 over the parts of a file, from `seed` on. */
mw_status mw__corpus_hash_file(const char *path, uint64_t seed, uint64_t *out, mw_error *err);

#endif
