/* What readers of tokenizers share: lists that grow, and the bytes that byte-level files spell as characters. */
#ifndef MW__TEXT_READ_READ_H
#define MW__TEXT_READ_READ_H

#include "text/json/tree.h"
#include "text/tokenizer/tokenizer.h"

/* The parts of tokenizer.json. */
mw_status mw__read_normalizer(mw_tokenizer *t, const mw__json_node *node, mw_error *err);
mw_status mw__read_pre_tokenizer(mw_tokenizer *t, const mw__json_node *node, mw_error *err);
mw_status mw__read_post_processor(mw_tokenizer *t, const mw__json_node *node, mw_error *err);
mw_status mw__read_decoder(mw_tokenizer *t, const mw__json_node *node, mw_error *err);
mw_status mw__read_model(mw_tokenizer *t, const mw__json_node *node, mw_error *err);

mw_status mw__read_add_normal(mw_tokenizer *t, mw__normal_step step, mw_error *err);
mw_status mw__read_add_split(mw_tokenizer *t, mw__split_step step, mw_error *err);
mw_status mw__read_add_part(mw_tokenizer *t, mw__template_part part, mw_error *err);
mw_status mw__read_add_decode(mw_tokenizer *t, mw__decode_step step, mw_error *err);

/* A copy of a text that lives as long as the tokenizer; NULL only without memory. */
const char *mw__read_keep(mw_tokenizer *t, const char *text, mw_error *err);

/* A kind of a part, by the name of its type. */
typedef mw_status mw__read_part(mw_tokenizer *t, const mw__json_node *node, mw_error *err);
typedef struct mw__read_row {
    const char *type;
    mw__read_part *read;
} mw__read_row;
/* Reads a part by the row of its type; "Sequence" is the parts of the list `of`. `what` stands in messages. */
mw_status mw__read_by_type(const mw__read_row *rows, size_t count, const char *what, const char *of, mw_tokenizer *t,
                           const mw__json_node *node, mw_error *err);

/* Bytes of a piece that a byte-level file spells as characters, into out[strlen + 1]; false if it is no such spelling:
 * then it is the piece itself. */
bool mw__read_spelled_bytes(const char *piece, size_t size, char *out, size_t *out_size);
/* The character that spells a byte. */
uint32_t mw__read_spelling(unsigned char byte);
/* The name that GGUF has for how a tokenizer of bytes cuts words; NULL = none. */
const char *mw__read_gguf_cut(const mw_tokenizer *t);
/* What BERT does around its pieces: cleans, sets ideographs and punctuation apart, and decodes; accents and case may
 * go. */
mw_status mw__read_add_bert_steps(mw_tokenizer *t, bool strips, bool lower, mw_error *err);
/* A merge of two pieces as files spell them. */
mw_status mw__read_merge(mw_tokenizer *t, const char *left, size_t left_size, const char *right, size_t right_size,
                         int32_t rank, mw_error *err);
/* A piece as files spell it. */
mw_status mw__read_piece(mw_tokenizer *t, const char *piece, size_t size, int32_t id, double score, mw_error *err);

#endif
