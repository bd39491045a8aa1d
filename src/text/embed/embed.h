/* Embeddings: texts as tokens in batches of about one length, an encoder's hidden states, and one vector for each. */
#ifndef MW__TEXT_EMBED_EMBED_H
#define MW__TEXT_EMBED_EMBED_H

#include "text/pretrained/pretrained.h"

#include <millwright/text_model.h>

enum { MW__EMBEDDER_LENGTHS = 13, MW__EMBEDDER_BATCHES = 6 };

typedef struct mw__embedder {
    const mw_text_config *config;
    const mw_tokenizer *tokenizer;
    mw_compile_options compile;
    mw_dtype weights;
    mw_text_tuning tuning;
    mw__pretrained_sentence form;
    int64_t most; /* tokens of a text */
    /* For 16, 32, .. tokens of 1, 2, 4, .. texts, made when they are needed first; they share the weights of the first
     * one. NULL until then. */
    mw_program *programs[MW__EMBEDDER_LENGTHS][MW__EMBEDDER_BATCHES];
} mw__embedder;

/* How to open one; what it points to outlives the embedder. */
typedef struct mw__embedder_options {
    const mw_text_config *config;
    const mw_tokenizer *tokenizer;
    const mw_text_model_options *model;
} mw__embedder_options;
/* Deinit in any case. */
mw_status mw__embedder_open(mw__embedder *e, mw__pretrained *files, const mw__embedder_options *options, mw_error *err);
void mw__embedder_deinit(mw__embedder *e);

/* out [count, width] */
mw_status mw__embedder_run(mw__embedder *e, const char *const *texts, size_t count, const mw_embed_options *options,
                           float *out, mw_error *err);

#endif
