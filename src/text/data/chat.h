/* Conversations as texts, by the templates that folders of models bring: a row each. A template is recognized by what
 * stands in its text, and is not run: one of another kind is refused by name. */
#ifndef MW__TEXT_DATA_CHAT_H
#define MW__TEXT_DATA_CHAT_H

#include "base/text/text.h"
#include "text/json/tree.h"

#define MW__CHAT_NAMES "chatml, llama-2, llama-3, gemma, mistral, zephyr"

struct mw__chat_row;

typedef struct mw__corpus_chat {
    const struct mw__chat_row *row; /* NULL = none */
    const char *bos, *eos;          /* texts of these tokens */
    const char *system;             /* said where a conversation has no system message; NULL = nothing */
    bool spaced_end;                /* mistral of the first kind: a space behind the end of an answer */
} mw__corpus_chat;

/* Part of a text. */
typedef struct mw__chat_span {
    size_t begin, end;
    bool learned; /* an answer, with what ends it; else what somebody wrote */
} mw__chat_span;

typedef struct mw__chat_text {
    mw__text text;
    mw__chat_span *spans;
    size_t span_count, span_capacity;
} mw__chat_text;

/* Sets chat->row by name, or by the text of a template. `where`: for messages. */
mw_status mw__corpus_chat_by_name(mw__corpus_chat *chat, const char *name, mw_error *err);
mw_status mw__corpus_chat_by_template(mw__corpus_chat *chat, mw__arena *arena, const char *text, const char *where,
                                      mw_error *err);
const char *mw__corpus_chat_name(const mw__corpus_chat *chat);
/* Replaces what is in `out` by the text of "messages", an array of {"role", "content"}. */
mw_status mw__corpus_chat_render(const mw__corpus_chat *chat, const mw__json_node *messages, mw__chat_text *out,
                                 mw_error *err);

#endif
