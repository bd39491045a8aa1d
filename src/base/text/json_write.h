/* JSON that is written: strings alone, and whole texts, value by value. */
#ifndef MW__BASE_TEXT_JSON_WRITE_H
#define MW__BASE_TEXT_JSON_WRITE_H

#include "base/text/text.h"
#include "base/visible.h"

#include <stdint.h>

/* ---- strings ---- */

/* What is escaped beyond quotes, backslashes and characters below U+0020, and what becomes of bytes that are no UTF-8.
 */
typedef enum mw__json_style {
    MW__JSON_SAFE,    /* what a terminal would obey is escaped; other bytes become U+FFFD */
    MW__JSON_SPELLED, /* the same; other bytes are spelled as text, \x80 */
    MW__JSON_VALID,   /* nothing more is escaped; other bytes become U+FFFD */
    MW__JSON_EXACT    /* nothing more is escaped; other bytes stay, as the caller has checked that there are none */
} mw__json_style;

/* Appends `length` bytes as a string in quotes. */
MW__SIBLING void mw__json_put_bytes(mw__text *text, const char *string, size_t length, mw__json_style style);
/* Appends a string in quotes, MW__JSON_SAFE. */
void mw__json_put_string(mw__text *text, const char *string);
/* Appends a string without quotes, as base/text/printable.h shows it. It is first cut to `longest` < MW__JSON_PRINTABLE
 * bytes; then each quote and backslash gets a backslash before it, so that the result may be up to twice as long.
 */
MW__SIBLING void mw__json_put_printable(mw__text *text, const char *string, size_t longest);
#define MW__JSON_PRINTABLE 1024

/* ---- whole texts ---- */

/* Each value comes with its key; in arrays the key is NULL. Commas and quotes are the writer's. Errors stick to `text`.
 */
typedef struct mw__json_writer {
    mw__text text;
    const char *comma, *colon; /* between values, and behind a key */
    mw__json_style style;      /* of strings; MW__JSON_SAFE unless the caller sets another */
    bool separate;             /* a value stands before the next one */
    bool breaks;               /* the next value begins a line */
} mw__json_writer;

/* compact: no spaces. */
MW__SIBLING void mw__json_writer_init(mw__json_writer *json, const mw_allocator *allocator, bool compact);
MW__SIBLING void mw__json_writer_deinit(mw__json_writer *json);
/* What is written so far; NULL if there was no memory for it. */
const char *mw__json_text(const mw__json_writer *json);

/* The next value begins a line. */
MW__SIBLING void mw__json_break(mw__json_writer *json);
/* What stands before a value, which the caller appends to the text. */
MW__SIBLING void mw__json_add_key(mw__json_writer *json, const char *key);
MW__SIBLING void mw__json_open(mw__json_writer *json, const char *key, char bracket);
MW__SIBLING void mw__json_close(mw__json_writer *json, char bracket);
MW__SIBLING void mw__json_add_null(mw__json_writer *json, const char *key);
MW__SIBLING void mw__json_add_bool(mw__json_writer *json, const char *key, bool value);
MW__SIBLING void mw__json_add_integer(mw__json_writer *json, const char *key, int64_t value);
MW__SIBLING void mw__json_add_unsigned(mw__json_writer *json, const char *key, uint64_t value);
/* With the digits that read back to the same number; NaN and the infinities, which JSON lacks, are null. */
MW__SIBLING void mw__json_add_number(mw__json_writer *json, const char *key, double value);
/* NULL is null. */
MW__SIBLING void mw__json_add_string(mw__json_writer *json, const char *key, const char *value);
MW__SIBLING void mw__json_add_printable(mw__json_writer *json, const char *key, const char *value, size_t longest);
/* A value that is JSON already; NULL is null. */
void mw__json_add_raw(mw__json_writer *json, const char *key, const char *value);

#endif
