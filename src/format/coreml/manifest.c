/* Reads and writes Manifest.json: items by identifier, one of which is the root. */
#include "format/coreml/manifest.h"
#include "base/memory/map.h"
#include "base/number/hash.h"
#include "base/text/json.h"
#include "base/text/text.h"
#include <stdio.h>
#include <string.h>

enum { LONGEST_PATH = 1024, LONGEST_NAME = 128 };

/* { "fileFormatVersion": "1.0.0", "itemInfoEntries": { id: { "path": path, .. }, .. }, "rootModelIdentifier": id } */
typedef struct manifest {
    const mw_allocator *allocator;
    mw__arena arena;
    mw__map paths; /* id -> path */
    bool in_items;
    char key[LONGEST_NAME], item[LONGEST_NAME], version[LONGEST_NAME], root[LONGEST_NAME];
} manifest;

static mw_status malformed_manifest(mw_error *err, const char *what)
{
    return mw__fail(err, MW_ERROR_FORMAT, "Manifest.json: %s", what);
}

static mw_status copy_word(char *out, const mw__json_item *item, mw_error *err)
{
    if (item->length >= LONGEST_NAME)
        return malformed_manifest(err, "a key or an identifier is too long");
    memcpy(out, item->text, item->length + 1);
    return MW_OK;
}

static mw_status keep_path(manifest *m, const mw__json_item *item, mw_error *err)
{
    if (item->length == 0 || item->length >= LONGEST_PATH)
        return malformed_manifest(err, "the path of an item is empty or too long");
    char *path = mw__arena_string(&m->arena, item->text, item->length, err);
    return path != NULL ? mw__map_set(&m->paths, m->item, path, err) : MW_ERROR_MEMORY;
}

static mw_status take_string(manifest *m, const mw__json_item *item, mw_error *err)
{
    if (item->depth == 1 && strcmp(m->key, "fileFormatVersion") == 0)
        return copy_word(m->version, item, err);
    if (item->depth == 1 && strcmp(m->key, "rootModelIdentifier") == 0)
        return copy_word(m->root, item, err);
    if (item->depth == 3 && m->in_items && strcmp(m->key, "path") == 0)
        return keep_path(m, item, err);
    return MW_OK;
}

static mw_status take_key(manifest *m, const mw__json_item *item, mw_error *err)
{
    if (item->depth == 1)
        m->in_items = strcmp(item->text, "itemInfoEntries") == 0;
    return copy_word(item->depth == 2 && m->in_items ? m->item : m->key, item, err);
}

static mw_status take_manifest_item(void *user, const mw__json_item *item, mw_error *err)
{
    if (item->event == MW__JSON_KEY)
        return take_key(user, item, err);
    return item->event == MW__JSON_STRING ? take_string(user, item, err) : MW_OK;
}

static mw_status model_path(const manifest *m, char **out, mw_error *err)
{
    static const char folder[] = "Data/";
    const char *path = mw__map_get(&m->paths, m->root);
    if (strncmp(m->version, "1.", 2) != 0)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "Manifest.json: fileFormatVersion \"%.40s\" is not 1.x", m->version);
    if (path == NULL)
        return malformed_manifest(err, "rootModelIdentifier names no item with a path");
    *out = mw__alloc(m->allocator, sizeof folder + strlen(path), 1, err);
    if (*out == NULL)
        return MW_ERROR_MEMORY;
    memcpy(*out, folder, sizeof folder - 1);
    memcpy(*out + sizeof folder - 1, path, strlen(path) + 1);
    return MW_OK;
}

mw_status mw__coreml_manifest_read(const mw_allocator *allocator, const char *text, size_t size, char **out,
                                   mw_error *err)
{
    manifest m = {.allocator = allocator};
    mw__arena_init(&m.arena, allocator);
    mw__map_init(&m.paths, allocator);
    mw_status status = mw__json_read_all(allocator, text, size, take_manifest_item, &m, err);
    if (status == MW_OK)
        status = model_path(&m, out, err);
    mw__map_deinit(&m.paths);
    mw__arena_deinit(&m.arena);
    return status;
}

/* ---- writing ---- */

/* A random identifier of version 4, as others write them; random is the seed alone. */
static void print_identifier(mw__text *text, uint64_t seed, uint64_t which)
{
    const uint64_t a = mw__hash64(&which, sizeof which, seed), b = mw__hash64(&which, sizeof which, ~seed);
    mw__text_printf(text, "%08X-%04X-4%03X-%04X-%04X%08X", (unsigned)(a >> 32), (unsigned)(a >> 16 & 0xffff),
                    (unsigned)(a & 0xfff), (unsigned)(0x8000 | (b >> 48 & 0x3fff)), (unsigned)(b >> 32 & 0xffff),
                    (unsigned)b);
}

static void print_item(mw__text *text, uint64_t seed, uint64_t which, const char *name, const char *what)
{
    mw__text_puts(text, "        \"");
    print_identifier(text, seed, which);
    mw__text_printf(text,
                    "\": {\n            \"author\": \"com.apple.CoreML\",\n            \"description\": \"%s\",\n"
                    "            \"name\": \"%s\",\n            \"path\": \"com.apple.CoreML/%s\"\n        }",
                    what, name, name);
}

void mw__coreml_manifest_print(mw__text *text, bool weights, uint64_t seed)
{
    mw__text_puts(text, "{\n    \"fileFormatVersion\": \"1.0.0\",\n    \"itemInfoEntries\": {\n");
    print_item(text, seed, 0, "model.mlmodel", "CoreML Model Specification");
    if (weights) {
        mw__text_puts(text, ",\n");
        print_item(text, seed, 1, "weights", "CoreML Model Weights");
    }
    mw__text_puts(text, "\n    },\n    \"rootModelIdentifier\": \"");
    print_identifier(text, seed, 0);
    mw__text_puts(text, "\"\n}\n");
}
