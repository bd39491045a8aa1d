/* A JSON file of settings, asked by key. What stands behind // in a line is a comment. What is wrong is said with line
 * and column, also a key that nobody asked for: it is a mistake in typing. The first error sticks; getters give their
 * default then. */
#ifndef MW__TOOL_CONFIG_H
#define MW__TOOL_CONFIG_H

#include "base/memory/alloc.h"
#include "base/text/spelling.h"

#include <millwright/status.h>
#include <stdbool.h>

typedef enum config_kind {
    CONFIG_OBJECT,
    CONFIG_ARRAY,
    CONFIG_STRING,
    CONFIG_NUMBER,
    CONFIG_BOOL,
    CONFIG_NULL
} config_kind;

typedef struct config_node {
    config_kind kind;
    const char *key; /* in an object; else NULL */
    const char *text;
    double number; /* of a bool 0 or 1 */
    size_t offset; /* in the text */
    bool used;     /* somebody asked */
    struct config_node *first, *last, *next;
    struct config_node *parent;
} config_node;

typedef struct config {
    const char *path;
    mw__arena arena;
    char *text;        /* with its comments */
    config_node *root; /* an object */
    config_node *open; /* while it is read */
    const char *key;
    mw_error *err;
    bool refused; /* a setting was refused, not the file */
} config;

/* Reads the file, of at most 1 MiB. false with err set; config_close either way. */
bool config_open(config *c, const char *path, mw_error *err);
/* The same of a text, which a model or a file has under `name`. */
bool config_parse(config *c, const char *name, const char *text, size_t limit, mw_error *err);
void config_close(config *c);

/* The member of an object; NULL if there is none, or for NULL. */
config_node *config_get(const config_node *object, const char *key);
/* Members of an object, elements of an array; 0 for NULL. */
size_t config_count(const config_node *node);
/* Fails with the place of a node. */
void config_fail(config *c, const config_node *node, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A member of the kind that is wanted, or the default. */
const char *config_string(config *c, const config_node *object, const char *key, const char *otherwise);
double config_number(config *c, const config_node *object, const char *key, double otherwise, double low, double high);
int64_t config_integer(config *c, const config_node *object, const char *key, int64_t otherwise, int64_t low,
                       int64_t high);
bool config_bool(config *c, const config_node *object, const char *key, bool otherwise);
/* The index of a string among `names`, which end with NULL. */
int config_choice(config *c, const config_node *object, const char *key, const char *const *names, int otherwise);
const config_node *config_object(config *c, const config_node *object, const char *key);

/* What is known of keys. `object` is the key of the object that a key stands in, "" for the file. */
typedef struct config_keys {
    /* When a key that is known has an effect; NULL for one that is not known. */
    const char *(*condition)(const char *object, const char *key);
    /* Whether all keys of an object are known: else its owner alone knows them. */
    bool (*is_listed)(const char *object);
    /* Offers the keys that may stand in an object. */
    void (*offer)(const config_node *object, mw__spelling *spelling);
    /* The object that has a key of this name; NULL if there is none. */
    const char *(*owner)(const char *key);
} config_keys;

/* Fails for the first key that is not known, in the objects whose keys are listed: before anything is done by the
 * others. */
void config_check(config *c, const config_keys *keys);
/* Fails for the first key that nobody asked for. */
void config_finish(config *c, const config_keys *keys);

#endif
