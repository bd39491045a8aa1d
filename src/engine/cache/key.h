/* What a compiled program is known by: everything that its plan depends on, and nothing else, above all no name of a
 * file. */
#ifndef MW__ENGINE_CACHE_KEY_H
#define MW__ENGINE_CACHE_KEY_H

#include "base/number/digest.h"
#include "base/text/text.h"
#include "engine/compile/compile.h"

/* What one compilation is asked for. */
typedef struct mw__cache_request {
    const char *location; /* folder of the cache; NULL = none */
    const char *path;
    mw__compile_options compile;
    const char *segmenter, *custom; /* as they were set, or NULL */
    const char *other;              /* options that are kept only, as a text; or NULL */
    bool force_new;                 /* an entry that is there is made anew */
    bool force_fetch;               /* and this asks for one that is there */
} mw__cache_request;

typedef struct mw__key {
    char name[MW__DIGEST_HEX];  /* of the record */
    char model[MW__DIGEST_HEX]; /* of text and weights */
    mw__text record;
    uint64_t weights; /* bytes of weights */
} mw__key;

/* *made = false: the text names weights that cannot be read, and its compilation will say so. After a failure, and
 * without a key, nothing is to be deinitialized. */
mw_status mw__key_make(mw__key *key, const mw__source *source, const mw__cache_request *request, bool *made,
                       mw_error *err);
/* The digest of text and weights alone, for a file that is compiled in whatever way. */
mw_status mw__key_make_model(const mw__source *source, char out[MW__DIGEST_HEX], bool *made, mw_error *err);
void mw__key_deinit(mw__key *key);
/* The record, of digests of text and weights. */
void mw__key_record(mw__text *record, const char *text, const char *weights, const mw__cache_request *request);

/* ---- records: lines "name=length:value" ---- */

typedef struct mw__record_line {
    const char *name;
    size_t name_length;
    const char *value; /* not terminated */
    size_t length;
} mw__record_line;

/* The line at *at, which is set behind it; false if it is malformed. */
bool mw__record_next(const char *record, size_t size, size_t *at, mw__record_line *out);
/* The first line of that name; false if there is none before the first malformed one. */
bool mw__record_find(const char *record, size_t size, const char *name, mw__record_line *out);
/* NULL is "". */
void mw__record_put(mw__text *record, const char *name, const char *value);

/* "millwright-0.1.0-1542eb4d342ca731": version and digest of the engine's sources, its compiler and flags. */
const char *mw__cache_engine_build(void);

#endif
