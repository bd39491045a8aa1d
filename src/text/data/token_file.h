/* Files of tokens: those of others (raw 16 or 32 bits, llm.c), and the ones that are made of texts here.
 *
 *     tokens     [count] of 2 or 4 bytes, the lowest first
 *     -- of a file that is made here, also: --
 *     documents  [documents] uint64: which token each begins with
 *     learned    [(count + 7) / 8] bits, the lowest first: tokens that a loss counts; only with the flag 1
 *     the end    72 bytes: "mwtokens", uint32 version 1, uint32 width, uint64 count, documents, flags, key, bytes of
 * the texts, 0, and XXH3 of the 64 bytes before
 *
 * So a reader of raw tokens takes such a file, too, but for some tokens of no sense behind the last. */
#ifndef MW__TEXT_DATA_TOKEN_FILE_H
#define MW__TEXT_DATA_TOKEN_FILE_H

#include "base/file/file.h"

typedef struct mw__corpus_file {
    mw__file file;
    char *path;
    int width;             /* bytes of a token */
    uint64_t begin, count; /* the first byte of the tokens, and how many there are */
    bool is_own;           /* the rest is of such a file */
    uint64_t key, text_bytes;
    uint64_t *documents; /* [document_count] */
    size_t document_count;
    unsigned char *learned; /* bits; NULL = every token is */
} mw__corpus_file;

/* `words` decides how wide raw tokens are, and is 0 if nobody knows. Memory: 8 bytes a document and a bit a token of a
 * file that was made here, else nothing that grows with the file. */
mw_status mw__corpus_open(mw__corpus_file *file, const char *path, uint64_t words, mw_error *err);
void mw__corpus_close(mw__corpus_file *file);
/* Tokens at..at+count. What the file no longer holds is an error, not a signal, as a mapped file's would be. */
mw_status mw__corpus_read(const mw__corpus_file *file, uint64_t at, size_t count, int32_t *out, mw_error *err);
static inline bool mw__corpus_learns(const mw__corpus_file *file, uint64_t at)
{
    return file->learned == NULL || (file->learned[at / 8] >> (at % 8) & 1) != 0;
}

/* A file that appears whole or not at all. */
typedef struct mw__corpus_writer {
    mw__file_writer file;
    const mw_allocator *allocator;
    int width;
    uint64_t count, text_bytes;
    uint64_t *documents;
    size_t document_count, document_capacity;
    unsigned char *learned;
    size_t learned_capacity;
    bool has_learned; /* some token is not */
} mw__corpus_writer;

/* How wide tokens below `words` are. */
static inline int mw__corpus_width(uint64_t words) { return words <= 65536 ? 2 : 4; }
mw_status mw__corpus_begin(mw__corpus_writer *writer, const char *path, int width, mw_error *err);
/* One more document. `learned` [count], NULL = all. */
mw_status mw__corpus_add(mw__corpus_writer *writer, const int32_t *ids, const bool *learned, size_t count,
                         mw_error *err);
/* More tokens of the last document. */
mw_status mw__corpus_go_on(mw__corpus_writer *writer, const int32_t *ids, const bool *learned, size_t count,
                           mw_error *err);
/* `raw`: the tokens alone. */
mw_status mw__corpus_commit(mw__corpus_writer *writer, bool raw, uint64_t key, mw_error *err);
void mw__corpus_deinit(mw__corpus_writer *writer);

#endif
