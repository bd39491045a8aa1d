/* tokenizer.json of a tokenizer, part by part. */
#ifndef MW__TEXT_PRETRAINED_SAVE_TOKENIZER_H
#define MW__TEXT_PRETRAINED_SAVE_TOKENIZER_H

#include "base/text/json_write.h"
#include "text/pretrained/save.h"
#include "text/tokenizer/tokenizer.h"

/* A file that is being written. What it has no form for is refused: MW_ERROR_UNSUPPORTED in `err`. */
typedef struct mw__saving_json {
    mw__json_writer json;
    mw__text text; /* what becomes a key or a value next */
    const mw_tokenizer *tokenizer;
    mw_error *err;
} mw__saving_json;

/* ---- save_tokenizer_steps.c ---- */

mw_status mw__saving_put_normalizer(mw__saving_json *s);
mw_status mw__saving_put_cuts(mw__saving_json *s);
mw_status mw__saving_put_decoder(mw__saving_json *s);

/* ---- save_tokenizer_model.c ---- */

mw_status mw__saving_put_model(mw__saving_json *s);

#endif
