/* JSON as a tree: for files whose parts refer to each other, such as tokenizer.json. Memory: about 80 bytes a value and
 * its text, for a file of any content. */
#ifndef MW__TEXT_JSON_TREE_H
#define MW__TEXT_JSON_TREE_H

#include "base/memory/alloc.h"

typedef enum mw__json_kind {
    MW__JSON_IS_NULL,
    MW__JSON_IS_FALSE,
    MW__JSON_IS_TRUE,
    MW__JSON_IS_NUMBER,
    MW__JSON_IS_TEXT,
    MW__JSON_IS_ARRAY,
    MW__JSON_IS_OBJECT
} mw__json_kind;

typedef struct mw__json_node {
    mw__json_kind kind;
    const char *key; /* of a member of an object; NULL in arrays */
    size_t key_length;
    const char *text; /* NUL-terminated */
    size_t length;
    double number;
    struct mw__json_node *first, *last, *next;
    size_t count; /* of members */
} mw__json_node;

/* The tree of a whole text, in the arena. NULL with err set if it is no JSON. */
const mw__json_node *mw__tree_read(mw__arena *arena, const char *text, size_t size, mw_error *err);

/* The member with that key; NULL if there is none, `key` or `node` is NULL, or it is no object. */
const mw__json_node *mw__tree_find(const mw__json_node *node, const char *key);
/* The text of a member; NULL if it is none. */
const char *mw__tree_text(const mw__json_node *node, const char *key);
/* The truth of a member; `otherwise` if it is none. */
bool mw__tree_bool(const mw__json_node *node, const char *key, bool otherwise);
/* The number of a member; `otherwise` if it is none. */
double mw__tree_number(const mw__json_node *node, const char *key, double otherwise);
static inline bool mw__tree_is(const mw__json_node *node, mw__json_kind kind)
{
    return node != NULL && node->kind == kind;
}

#endif
