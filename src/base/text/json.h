/* Strict JSON (RFC 8259): no duplicate keys in one object, at most MW__JSON_DEPTH levels, UTF-8 is checked. Events come
 * in text order; nothing is allocated per node but the set of keys of open objects. */
#ifndef MW__BASE_TEXT_JSON_H
#define MW__BASE_TEXT_JSON_H

#include "base/memory/alloc.h"

#define MW__JSON_DEPTH 8

typedef enum mw__json_event {
    MW__JSON_BEGIN_OBJECT,
    MW__JSON_END_OBJECT,
    MW__JSON_BEGIN_ARRAY,
    MW__JSON_END_ARRAY,
    MW__JSON_KEY,    /* text */
    MW__JSON_STRING, /* text */
    MW__JSON_NUMBER, /* number: an unsigned integer, below 2^64 in the subset, of at most 19 digits else */
    MW__JSON_REAL,   /* text: any other number, as it is written */
    MW__JSON_TRUE,
    MW__JSON_FALSE,
    MW__JSON_NULL
} mw__json_event;

typedef struct mw__json_item {
    mw__json_event event;
    const char *text; /* unescaped, NUL-terminated; valid during the call */
    size_t length;
    uint64_t number;
    int depth;     /* of the container that holds the item; 0 for the outermost value */
    size_t offset; /* in the text, where the key or value begins; of an end, that of what came last */
} mw__json_item;

typedef mw_status mw__json_handler(void *user, const mw__json_item *item, mw_error *err);

/* Reads one value that fills text[0..size) up to trailing spaces, in the subset of a safetensors header: objects,
 * arrays, strings and unsigned integers; no other numbers, no null, true or false. Errors carry line and column. */
mw_status mw__json_read(const mw_allocator *allocator, const char *text, size_t size, mw__json_handler *handler,
                        void *user, mw_error *err);
/* The same with all that JSON has. */
MW__SIBLING mw_status mw__json_read_all(const mw_allocator *allocator, const char *text, size_t size,
                                        mw__json_handler *handler, void *user, mw_error *err);

#endif
