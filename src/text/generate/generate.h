/* A model of a folder: its programs, for one text and for several at a time. */
#ifndef MW__TEXT_GENERATE_GENERATE_H
#define MW__TEXT_GENERATE_GENERATE_H

#include "base/memory/alloc.h"
#include "text/embed/embed.h"

#include <millwright/text_model.h>

enum { MW__TEXT_READERS = 2 };

/* They share weights and cache. Those that read tokens are made when a prompt is long enough for them. */
typedef struct mw__generation_programs {
    int64_t batch;
    mw_program *writing;                   /* one token of each text in a run */
    mw_program *reading[MW__TEXT_READERS]; /* some tokens of each; NULL until then */
} mw__generation_programs;

struct mw_text_model {
    const mw_allocator *allocator;
    mw_text_config config;
    mw_tokenizer *tokenizer;
    mw_compile_options compile;
    mw_dtype weights;
    mw_text_tuning tuning;
    int64_t cache;
    mw__generation_programs one, several; /* several: of the newest number of texts */
    mw__embedder embedder;                /* of an encoder, which has nothing of the above but the first three */
};

/* The programs for so many texts, made if need be; NULL with err set on failure. */
mw__generation_programs *mw__generation_programs_for(mw_text_model *m, int64_t batch, mw_error *err);

/* The program that takes the next tokens of which `left` are there and `room` have room in the cache, and how many it
 * takes; it may take fewer than it has room for. */
mw_program *mw__generation_program_for(mw_text_model *m, mw__generation_programs *programs, int64_t left, int64_t room,
                                       int64_t *takes, mw_error *err);

#endif
