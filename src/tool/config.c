/* Settings in JSON: a tree with places. */
#include "tool/config.h"

#include "base/file/file.h"
#include "base/number/number.h"
#include "base/text/error.h"
#include "base/text/json.h"
#include "base/text/printable.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BYTES_MAX = 1 << 20 };

/* ---- reading ---- */

static const config_kind kinds[] = {
    [MW__JSON_BEGIN_OBJECT] = CONFIG_OBJECT, [MW__JSON_BEGIN_ARRAY] = CONFIG_ARRAY, [MW__JSON_STRING] = CONFIG_STRING,
    [MW__JSON_NUMBER] = CONFIG_NUMBER,       [MW__JSON_REAL] = CONFIG_NUMBER,       [MW__JSON_TRUE] = CONFIG_BOOL,
    [MW__JSON_FALSE] = CONFIG_BOOL,          [MW__JSON_NULL] = CONFIG_NULL,
};

static void append_node(config *c, config_node *node)
{
    config_node *parent = c->open;
    node->parent = parent;
    if (parent == NULL)
        c->root = node;
    else if (parent->last == NULL)
        parent->first = parent->last = node;
    else
        parent->last = parent->last->next = node;
}

static mw_status add_node(config *c, const mw__json_item *item, mw_error *err)
{
    config_node *node = mw__arena_alloc(&c->arena, 1, sizeof *node, err);
    if (node == NULL)
        return MW_ERROR_MEMORY;
    *node = (config_node){.kind = kinds[item->event], .key = c->key, .offset = item->offset};
    c->key = NULL;
    if (item->text != NULL)
        node->text = mw__arena_string(&c->arena, item->text, item->length, err);
    node->number = item->event == MW__JSON_TRUE ? 1 : (double)item->number;
    if (item->event == MW__JSON_REAL)
        mw__number_read(item->text, item->length, MW__NUMBER_F64, &node->number);
    append_node(c, node);
    if (node->kind == CONFIG_OBJECT || node->kind == CONFIG_ARRAY)
        c->open = node;
    return item->text == NULL || node->text != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status take_item(void *user, const mw__json_item *item, mw_error *err)
{
    config *c = user;
    if (item->event == MW__JSON_KEY) {
        c->key = mw__arena_string(&c->arena, item->text, item->length, err);
        return c->key != NULL ? MW_OK : MW_ERROR_MEMORY;
    }
    if (item->event == MW__JSON_END_OBJECT || item->event == MW__JSON_END_ARRAY) {
        c->open = c->open->parent;
        return MW_OK;
    }
    return add_node(c, item, err);
}

/* What the JSON reader says, with the file and the place in front. */
static void place_error(config *c)
{
    char what[sizeof c->err->message];
    if (c->err->text_line == 0)
        return;
    snprintf(what, sizeof what, "%s", c->err->message);
    mw__printable_printf(c->err->message, sizeof c->err->message, "%.200s:%d:%d: %s", c->path, c->err->text_line,
                         c->err->text_column, what);
}

/* Comments become blanks, so that places stay: from // outside of strings to the end of the line. */
static char *strip_comments(config *c, size_t size)
{
    char *plain = mw__arena_string(&c->arena, c->text, size, c->err);
    bool quoted = false;
    for (size_t i = 0; plain != NULL && i < size; i++) {
        if (quoted && plain[i] == '\\')
            i++;
        else if (plain[i] == '"')
            quoted = !quoted;
        else if (!quoted && plain[i] == '/' && i + 1 < size && plain[i + 1] == '/')
            for (; i < size && plain[i] != '\n'; i++)
                plain[i] = ' ';
    }
    return plain;
}

static bool read_text(config *c, size_t size)
{
    const char *plain = strip_comments(c, size);
    if (plain == NULL)
        return false;
    if (mw__json_read_all(c->arena.allocator, plain, size, take_item, c, c->err) != MW_OK)
        place_error(c);
    else if (c->root->kind != CONFIG_OBJECT)
        config_fail(c, c->root, "an object is expected here: { .. }");
    return c->err->status == MW_OK;
}

bool config_open(config *c, const char *path, mw_error *err)
{
    size_t size = 0;
    *c = (config){.path = path, .err = err};
    mw__arena_init(&c->arena, mw__allocator_or_default(NULL));
    return mw__file_read(c->arena.allocator, path, BYTES_MAX, &c->text, &size, err) == MW_OK && read_text(c, size);
}

bool config_parse(config *c, const char *name, const char *text, size_t limit, mw_error *err)
{
    const size_t size = strlen(text);
    *c = (config){.path = name, .err = err};
    mw__arena_init(&c->arena, mw__allocator_or_default(NULL));
    if (size > limit) {
        mw__fail(err, MW_ERROR_FORMAT, "\"%.100s\" has %zu bytes, more than %zu", name, size, limit);
        return false;
    }
    c->text = mw__alloc(c->arena.allocator, size + 1, 1, err);
    if (c->text == NULL)
        return false;
    memcpy(c->text, text, size + 1);
    return read_text(c, size);
}

void config_close(config *c)
{
    mw__free(c->arena.allocator, c->text);
    mw__arena_deinit(&c->arena);
}

/* ---- asking ---- */

config_node *config_get(const config_node *object, const char *key)
{
    if (object == NULL || object->kind != CONFIG_OBJECT)
        return NULL;
    for (config_node *node = object->first; node != NULL; node = node->next) {
        if (strcmp(node->key, key) == 0) {
            node->used = true;
            return node;
        }
    }
    return NULL;
}

size_t config_count(const config_node *node)
{
    size_t count = 0;
    for (const config_node *member = node != NULL ? node->first : NULL; member != NULL; member = member->next)
        count++;
    return count;
}

void config_fail(config *c, const config_node *node, const char *format, ...)
{
    char what[300];
    int line = 1, column = 1;
    va_list arguments;
    if (c->err->status != MW_OK)
        return;
    va_start(arguments, format);
    mw__printable_vprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    for (const char *at = c->text; at < c->text + node->offset; at++) {
        column = *at == '\n' ? 1 : column + 1;
        line += *at == '\n';
    }
    c->refused = true;
    c->err->status = MW_ERROR_FORMAT;
    c->err->text_line = line;
    c->err->text_column = column;
    mw__printable_printf(c->err->message, sizeof c->err->message, "%.200s:%d:%d: %s", c->path, line, column, what);
}

static config_node *get_kind(config *c, const config_node *object, const char *key, config_kind kind, const char *what)
{
    config_node *node = config_get(object, key);
    if (node == NULL || node->kind == kind)
        return node;
    config_fail(c, node, "\"%.60s\" is %s", key, what);
    return NULL;
}

const char *config_string(config *c, const config_node *object, const char *key, const char *otherwise)
{
    const config_node *node = get_kind(c, object, key, CONFIG_STRING, "a text in quotes");
    return node != NULL ? node->text : otherwise;
}

static void print_double(char out[MW__NUMBER_MAX], double value) { out[mw__number_print_double(out, value)] = '\0'; }

double config_number(config *c, const config_node *object, const char *key, double otherwise, double low, double high)
{
    const config_node *node = get_kind(c, object, key, CONFIG_NUMBER, "a number");
    if (node == NULL)
        return otherwise;
    if (node->number >= low && node->number <= high)
        return node->number;
    char number[MW__NUMBER_MAX], from[MW__NUMBER_MAX], to[MW__NUMBER_MAX];
    print_double(number, node->number);
    print_double(from, low);
    print_double(to, high);
    config_fail(c, node, "\"%.60s\" is %s, not in %s .. %s", key, number, from, to);
    return otherwise;
}

int64_t config_integer(config *c, const config_node *object, const char *key, int64_t otherwise, int64_t low,
                       int64_t high)
{
    const double number = config_number(c, object, key, (double)otherwise, (double)low, (double)high);
    if (number != floor(number))
        config_fail(c, config_get(object, key), "\"%.60s\" is %g, not a whole number", key, number);
    return c->err->status == MW_OK ? (int64_t)number : otherwise;
}

bool config_bool(config *c, const config_node *object, const char *key, bool otherwise)
{
    const config_node *node = get_kind(c, object, key, CONFIG_BOOL, "true or false");
    return node != NULL ? node->number != 0 : otherwise;
}

static void refuse_choice(config *c, const config_node *node, const char *const *names)
{
    char all[240] = "", hint[120];
    mw__spelling spelling;
    mw__spelling_init(&spelling, node->text);
    for (int i = 0; names[i] != NULL; i++) {
        const size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i > 0 ? ", " : "", names[i]);
        mw__spelling_offer(&spelling, names[i]);
    }
    config_fail(c, node, "\"%.60s\" is \"%.60s\", none of %s%s", node->key, node->text, all,
                mw__spelling_hint(&spelling, "", hint, sizeof hint));
}

int config_choice(config *c, const config_node *object, const char *key, const char *const *names, int otherwise)
{
    const config_node *node = get_kind(c, object, key, CONFIG_STRING, "a text in quotes");
    for (int i = 0; node != NULL && names[i] != NULL; i++) {
        if (strcmp(node->text, names[i]) == 0)
            return i;
    }
    if (node != NULL)
        refuse_choice(c, node, names);
    return otherwise;
}

const config_node *config_object(config *c, const config_node *object, const char *key)
{
    return get_kind(c, object, key, CONFIG_OBJECT, "an object, { .. }");
}

/* ---- keys that are not known, or that nobody asked for ---- */

/* The key of an object; "" for the file; NULL for an element of a list. */
static const char *name_of(const config *c, const config_node *object) { return object == c->root ? "" : object->key; }

static void refuse_unknown(config *c, const config_node *child, const config_keys *keys)
{
    char hint[120];
    mw__spelling spelling;
    const char *owner = keys->owner(child->key);
    mw__spelling_init(&spelling, child->key);
    keys->offer(child->parent, &spelling);
    mw__spelling_hint(&spelling, "", hint, sizeof hint);
    if (hint[0] == '\0' && owner != NULL)
        snprintf(hint, sizeof hint,
                 owner[0] != '\0' ? "; \"%.60s\" has such a key" : "; it stands beside \"network\"%s", owner);
    config_fail(c, child, "\"%.60s\" is not known here%s", child->key, hint);
}

static void check_listed(config *c, const config_node *object, const config_keys *keys)
{
    for (const config_node *child = object->first; child != NULL && c->err->status == MW_OK; child = child->next) {
        if (keys->condition(name_of(c, object), child->key) == NULL)
            refuse_unknown(c, child, keys);
        else if (child->kind == CONFIG_OBJECT && keys->is_listed(child->key))
            check_listed(c, child, keys);
    }
}

void config_check(config *c, const config_keys *keys)
{
    if (c->err->status == MW_OK)
        check_listed(c, c->root, keys);
}

static void refuse_unused(config *c, const config_node *child, const config_keys *keys)
{
    const char *object = name_of(c, child->parent);
    const char *when = object != NULL ? keys->condition(object, child->key) : NULL;
    if (when != NULL)
        config_fail(c, child, "\"%.60s\" has no effect here; it has one %s", child->key, when);
    else
        refuse_unknown(c, child, keys);
}

static void check_used(config *c, const config_node *node, const config_keys *keys)
{
    for (const config_node *child = node->first; child != NULL && c->err->status == MW_OK; child = child->next) {
        if (child->key != NULL && !child->used)
            refuse_unused(c, child, keys);
        check_used(c, child, keys);
    }
}

void config_finish(config *c, const config_keys *keys)
{
    if (c->err->status == MW_OK)
        check_used(c, c->root, keys);
}
