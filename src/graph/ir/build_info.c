/* Pairs of texts: out of a description, and into one. */
#include "graph/ir/build_info.h"

#include "base/memory/map.h"
#include "base/text/error.h"
#include "base/text/log.h"
#include "base/text/utf8.h"

#include <string.h>

/* ---- the attribute ---- */

const char *mw__build_info_word(const mw__payload *payload)
{
    const bool is_one = payload->type->kind == MW__TENSOR && mw__payload_count(payload) == 1;
    return is_one && payload->strings != NULL ? payload->strings[0] : NULL;
}

const mw__payload *mw__build_info_find(const mw_graph *graph)
{
    const mw__payload *info = NULL;
    for (size_t i = 0; i < graph->attribute_count; i++)
        if (strcmp(graph->attributes[i].name, MW__BUILD_INFO) == 0)
            info = graph->attributes[i].value;
    for (size_t i = 0; info != NULL && i < info->member_count; i++)
        if (mw__build_info_word(info->members[i]) == NULL)
            return NULL;
    return info != NULL && info->type->kind == MW__DICT ? info : NULL;
}

bool mw__build_info_at(const mw__payload *info, size_t index, mw_text_pair *out)
{
    if (info == NULL || index >= info->member_count / 2)
        return false;
    *out = (mw_text_pair){info->members[2 * index]->strings[0], info->members[2 * index + 1]->strings[0]};
    return true;
}

/* ---- from a description ---- */

/* What has a field of its own, under these keys. */
static const struct {
    const char *key;
    size_t offset;
} fields[] = {{"mw.text", offsetof(mw_description, text)},
              {"mw.version", offsetof(mw_description, version)},
              {"mw.author", offsetof(mw_description, author)},
              {"mw.license", offsetof(mw_description, license)}};
enum { FIELDS = sizeof fields / sizeof fields[0] };

static const char **field_of(const mw_description *description, size_t index)
{
    return (const char **)((uintptr_t)description + fields[index].offset);
}

/* Pairs that are gathered: the first of a key counts. */
typedef struct gathering {
    mw__pairs *pairs;
    mw__map keys;
    mw__arena *arena;
    mw_error *err;
} gathering;

bool mw__build_info_is_text(const char *key, const char *text)
{
    const bool good = mw__utf8_check(text);
    if (!good)
        mw__log(MW_LOG_WARNING, "\"%.80s\" of the description is no UTF-8 and is not written", key);
    return good;
}

static mw_status list_pair(gathering *g, const char *key, const char *value)
{
    if (key == NULL || key[0] == '\0' || value == NULL || mw__map_get(&g->keys, key) != NULL)
        return MW_OK;
    if (!mw__build_info_is_text(key, key) || !mw__build_info_is_text(key, value))
        return MW_OK;
    g->pairs->items[g->pairs->count++] = (mw_text_pair){key, value};
    return mw__map_set(&g->keys, key, (void *)(uintptr_t)value, g->err);
}

/* The field that is written under a key and says something; NULL if there is none. */
static const char *find_field(const mw_description *description, const char *key)
{
    for (size_t i = 0; key != NULL && i < FIELDS; i++) {
        const char *value = *field_of(description, i);
        if (strcmp(fields[i].key, key) == 0)
            return value != NULL && value[0] != '\0' ? value : NULL;
    }
    return NULL;
}

static mw_status list_all(gathering *g, const mw_description *description, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (find_field(description, description->pairs[i].key) == NULL)
            MW_TRY(list_pair(g, description->pairs[i].key, description->pairs[i].value));
    for (size_t i = 0; i < FIELDS; i++) {
        const char *value = *field_of(description, i);
        if (value != NULL && value[0] != '\0')
            MW_TRY(list_pair(g, fields[i].key, value));
    }
    return MW_OK;
}

mw_status mw__build_info_list(const mw_description *description, mw__arena *arena, mw__pairs *out, mw_error *err)
{
    gathering g = {.pairs = out, .arena = arena, .err = err};
    *out = (mw__pairs){0};
    if (description == NULL)
        return MW_OK;
    if (description->struct_size != sizeof *description)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the description was not made by mw_description_defaults");
    const size_t count = description->pairs != NULL ? description->pair_count : 0;
    out->items = mw__arena_alloc(arena, count + FIELDS, sizeof *out->items, err);
    if (out->items == NULL)
        return MW_ERROR_MEMORY;
    mw__map_init(&g.keys, arena->allocator);
    const mw_status status = list_all(&g, description, count);
    mw__map_deinit(&g.keys);
    return status;
}

/* ---- into a description ---- */

static char *copy_latin1(const gathering *g, const char *text)
{
    char *copy = mw__arena_alloc(g->arena, 2 * strlen(text) + 1, 1, g->err);
    if (copy != NULL)
        mw__utf8_from_latin1(text, copy);
    return copy;
}

static mw_status copy_text(const gathering *g, const char *key, const char *text, const char **out)
{
    const bool good = mw__utf8_check(text);
    if (!good)
        mw__log(MW_LOG_WARNING, "\"%.80s\" of the model is no UTF-8; it is taken for Latin 1", key);
    *out = good ? mw__arena_string(g->arena, text, strlen(text), g->err) : copy_latin1(g, text);
    return *out != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static const char **find_place(mw_description *description, const char *key)
{
    for (size_t i = 0; i < FIELDS; i++)
        if (strcmp(key, fields[i].key) == 0)
            return field_of(description, i);
    return NULL;
}

static mw_status take_pair(gathering *g, mw_description *description, mw_text_pair from)
{
    mw_text_pair pair;
    if (from.key[0] == '\0' || strncmp(from.key, "coremlc-", strlen("coremlc-")) == 0)
        return MW_OK;
    MW_TRY(copy_text(g, from.key, from.key, &pair.key));
    if (mw__map_get(&g->keys, pair.key) != NULL)
        return MW_OK;
    MW_TRY(copy_text(g, from.key, from.value, &pair.value));
    const char **field = find_place(description, pair.key);
    if (field != NULL)
        *field = pair.value;
    else
        g->pairs->items[g->pairs->count++] = pair;
    return mw__map_set(&g->keys, pair.key, (void *)(uintptr_t)pair.value, g->err);
}

static mw_status take_all(gathering *g, mw_description *made, const mw_graph *graph, const mw__payload *info)
{
    mw_text_pair entry;
    for (size_t i = 0; i < graph->pair_count; i++)
        MW_TRY(take_pair(g, made, graph->pairs[i]));
    for (size_t i = 0; mw__build_info_at(info, i, &entry); i++)
        MW_TRY(take_pair(g, made, entry));
    made->pairs = g->pairs->items;
    made->pair_count = g->pairs->count;
    return MW_OK;
}

static bool says_something(const mw_description *d)
{
    bool says = d->pair_count > 0;
    for (size_t i = 0; i < FIELDS; i++)
        says = says || (*field_of(d, i))[0] != '\0';
    return says;
}

mw_status mw__build_info_describe(const mw_graph *graph, mw__arena *arena, const mw_description **out, mw_error *err)
{
    mw__pairs pairs = {0};
    gathering g = {.pairs = &pairs, .arena = arena, .err = err};
    const mw__payload *info = mw__build_info_find(graph);
    const size_t count = graph->pair_count + (info != NULL ? info->member_count / 2 : 0);
    *out = NULL;
    if (count == 0)
        return MW_OK;
    mw_description *made = mw__arena_alloc(arena, 1, sizeof *made, err);
    pairs.items = mw__arena_alloc(arena, count, sizeof *pairs.items, err);
    if (made == NULL || pairs.items == NULL)
        return MW_ERROR_MEMORY;
    *made = (mw_description){.struct_size = sizeof *made, .text = "", .version = "", .author = "", .license = ""};
    mw__map_init(&g.keys, arena->allocator);
    const mw_status status = take_all(&g, made, graph, info);
    mw__map_deinit(&g.keys);
    *out = status == MW_OK && says_something(made) ? made : NULL;
    return status;
}
