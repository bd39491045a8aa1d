/* JSON as a tree, made of the reader's events. */
#include "text/json/tree.h"

#include "base/number/number.h"
#include "base/text/json.h"

#include <string.h>

typedef struct building {
    mw__arena *arena;
    mw__json_node *open[MW__JSON_DEPTH + 1];
    int depth;
    const char *key;
    size_t key_length;
    mw__json_node *root;
} building;

static void hang(building *b, mw__json_node *node)
{
    mw__json_node *parent = b->depth > 0 ? b->open[b->depth - 1] : NULL;
    if (parent == NULL) {
        b->root = node;
        return;
    }
    if (parent->last != NULL)
        parent->last->next = node;
    else
        parent->first = node;
    parent->last = node;
    parent->count++;
}

static mw_status keep_text(building *b, const mw__json_item *item, const char **out, mw_error *err)
{
    *out = mw__arena_string(b->arena, item->text, item->length, err);
    return *out != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw__json_kind kind_of(mw__json_event event)
{
    switch (event) {
    case MW__JSON_BEGIN_OBJECT:
        return MW__JSON_IS_OBJECT;
    case MW__JSON_BEGIN_ARRAY:
        return MW__JSON_IS_ARRAY;
    case MW__JSON_STRING:
        return MW__JSON_IS_TEXT;
    case MW__JSON_NUMBER:
    case MW__JSON_REAL:
        return MW__JSON_IS_NUMBER;
    case MW__JSON_TRUE:
        return MW__JSON_IS_TRUE;
    case MW__JSON_FALSE:
        return MW__JSON_IS_FALSE;
    default:
        return MW__JSON_IS_NULL;
    }
}

static mw_status add_node(building *b, const mw__json_item *item, mw_error *err)
{
    mw__json_node *node = mw__arena_alloc(b->arena, 1, sizeof *node, err);
    if (node == NULL)
        return MW_ERROR_MEMORY;
    *node = (mw__json_node){.kind = kind_of(item->event), .key = b->key, .key_length = b->key_length};
    b->key = NULL;
    node->length = item->event == MW__JSON_STRING ? item->length : 0;
    node->number = (double)item->number;
    if (item->event == MW__JSON_REAL)
        mw__number_read(item->text, item->length, MW__NUMBER_F64, &node->number);
    if (item->event == MW__JSON_STRING)
        MW_TRY(keep_text(b, item, &node->text, err));
    hang(b, node);
    if (node->kind == MW__JSON_IS_OBJECT || node->kind == MW__JSON_IS_ARRAY)
        b->open[b->depth++] = node;
    return MW_OK;
}

static mw_status take_item(void *user, const mw__json_item *item, mw_error *err)
{
    building *b = user;
    switch (item->event) {
    case MW__JSON_KEY:
        b->key_length = item->length;
        return keep_text(b, item, &b->key, err);
    case MW__JSON_END_OBJECT:
    case MW__JSON_END_ARRAY:
        b->depth--;
        return MW_OK;
    default:
        return add_node(b, item, err);
    }
}

const mw__json_node *mw__tree_read(mw__arena *arena, const char *text, size_t size, mw_error *err)
{
    building b = {.arena = arena};
    return mw__json_read_all(arena->allocator, text, size, take_item, &b, err) == MW_OK ? b.root : NULL;
}

const mw__json_node *mw__tree_find(const mw__json_node *node, const char *key)
{
    if (key == NULL || !mw__tree_is(node, MW__JSON_IS_OBJECT))
        return NULL;
    for (const mw__json_node *member = node->first; member != NULL; member = member->next)
        if (strcmp(member->key, key) == 0)
            return member;
    return NULL;
}

const char *mw__tree_text(const mw__json_node *node, const char *key)
{
    const mw__json_node *member = mw__tree_find(node, key);
    return mw__tree_is(member, MW__JSON_IS_TEXT) ? member->text : NULL;
}

bool mw__tree_bool(const mw__json_node *node, const char *key, bool otherwise)
{
    const mw__json_node *member = mw__tree_find(node, key);
    if (mw__tree_is(member, MW__JSON_IS_TRUE))
        return true;
    return mw__tree_is(member, MW__JSON_IS_FALSE) ? false : otherwise;
}

double mw__tree_number(const mw__json_node *node, const char *key, double otherwise)
{
    const mw__json_node *member = mw__tree_find(node, key);
    return mw__tree_is(member, MW__JSON_IS_NUMBER) ? member->number : otherwise;
}
