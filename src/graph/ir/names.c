/* Identifiers for the values of a function. Given names come first and are kept where they can be; automatic names
 * avoid all of them, so that naming one value never renames another that has a name. */
#include "graph/ir/names.h"

#include "base/number/number.h"
#include "base/number/types.h"

#include <string.h>

/* The names that are visible in a block: its own and those of the blocks around it. */
typedef struct name_scope {
    mw__map used;
    mw__map suffixes; /* stem -> the suffix that was found free last: all below are in use */
    const struct name_scope *outer;
} name_scope;

/* The stem of a hint and its next number. Hints are shared: most are the name of an operation. */
typedef struct hint_count {
    const char *hint, *stem;
    unsigned *number;
} hint_count;

enum { HINTS = 64 };

typedef struct name_run {
    mw__names *names;
    const mw_allocator *allocator;
    mw__map exact;           /* given names that are identifiers: a made-up one must not take them */
    mw__map taken;           /* every name that a given one became, in any block */
    mw__map counters;        /* stem -> next number */
    hint_count hints[HINTS]; /* of those that were met last, by address */
    mw_error *err;
} name_run;

typedef mw_status visit_value(name_run *naming, name_scope *scope, const mw_tensor *value);

static char present; /* the value of sets */

/* ---- identifiers ---- */

static bool is_keyword(const char *name)
{
    static const char *const words[] = {"program", "func", "tensor", "list",     "dict", "tuple",
                                        "state",   "true", "false",  "BLOBFILE", "inf",  "nan"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(name, words[i]) == 0)
            return true;
    }
    return mw__number_dtype_named(name, strlen(name)) != MW_DTYPE_NONE;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_tail(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '@'; }

static bool is_identifier(const char *name)
{
    if (!is_letter(name[0]))
        return false;
    for (size_t i = 1; name[i] != '\0'; i++) {
        if (!is_tail(name[i]))
            return false;
    }
    return !is_keyword(name);
}

/* The nearest identifier, perhaps a keyword still. */
static char *make_identifier(name_run *naming, const char *name)
{
    const size_t length = strlen(name);
    char *out = mw__arena_alloc(&naming->names->arena, length + 2, 1, naming->err);
    if (out == NULL)
        return NULL;
    size_t used = 0;
    if (!is_letter(name[0]) && (is_tail(name[0]) || length == 0))
        out[used++] = '_';
    for (size_t i = 0; i < length; i++) {
        const bool fits = used > 0 ? is_tail(name[i]) : is_letter(name[i]);
        out[used] = fits ? name[i] : '_';
        used++;
    }
    return out;
}

enum { NUMBER_ROOM = 1 + MW__NUMBER_MAX };

/* stem_number, where NUMBER_ROOM bytes lie behind the stem's. Every value without a name gets one. */
static void put_numbered(char *out, const char *stem, unsigned number)
{
    const size_t length = strlen(stem);
    memcpy(out, stem, length);
    out[length] = '_';
    mw__number_print_i64(out + length + 1, number);
}

/* ---- given names ---- */

static bool visible(const name_scope *scope, const char *name)
{
    for (; scope != NULL; scope = scope->outer) {
        if (mw__map_get(&scope->used, name) != NULL)
            return true;
    }
    return false;
}

static mw_status settle(name_run *naming, name_scope *scope, const mw_tensor *value, const char *name)
{
    naming->names->by_id[value->id - naming->names->first] = name;
    MW_TRY(mw__map_set(&scope->used, name, &present, naming->err));
    return mw__map_set(&naming->taken, name, &present, naming->err);
}

/* Where the search for a free suffix begins, so that n names of one stem take n looks and not n * n. */
static unsigned first_suffix(const name_scope *scope, const char *stem)
{
    const unsigned *last = NULL;
    for (; scope != NULL && last == NULL; scope = scope->outer)
        last = mw__map_get(&scope->suffixes, stem);
    return last != NULL ? *last + 1 : 2;
}

static mw_status keep_suffix(name_run *naming, name_scope *scope, const char *stem, unsigned suffix)
{
    unsigned *last = mw__map_get(&scope->suffixes, stem);
    if (last == NULL) {
        last = mw__arena_alloc(&naming->names->arena, 1, sizeof *last, naming->err);
        if (last == NULL)
            return MW_ERROR_MEMORY;
        MW_TRY(mw__map_set(&scope->suffixes, stem, last, naming->err));
    }
    *last = suffix;
    return MW_OK;
}

static mw_status add_suffix(name_run *naming, name_scope *scope, const mw_tensor *value, const char *stem)
{
    const size_t size = strlen(stem) + NUMBER_ROOM;
    char *name = mw__arena_alloc(&naming->names->arena, size, 1, naming->err);
    if (name == NULL)
        return MW_ERROR_MEMORY;
    unsigned suffix = first_suffix(scope, stem);
    for (;; suffix++) {
        put_numbered(name, stem, suffix);
        if (mw__map_get(&naming->exact, name) == NULL && !visible(scope, name))
            break;
    }
    MW_TRY(keep_suffix(naming, scope, stem, suffix));
    return settle(naming, scope, value, name);
}

static mw_status collect_exact(name_run *naming, name_scope *scope, const mw_tensor *value)
{
    (void)scope;
    if (value->name == NULL || !is_identifier(value->name))
        return MW_OK;
    return mw__map_set(&naming->exact, value->name, &present, naming->err);
}

static mw_status name_given(name_run *naming, name_scope *scope, const mw_tensor *value)
{
    if (value->name == NULL)
        return MW_OK;
    const bool exact = is_identifier(value->name);
    char *name = make_identifier(naming, value->name);
    if (name == NULL)
        return MW_ERROR_MEMORY;
    const bool free_name = exact || (!is_keyword(name) && mw__map_get(&naming->exact, name) == NULL);
    if (free_name && !visible(scope, name))
        return settle(naming, scope, value, name);
    return add_suffix(naming, scope, value, name);
}

/* ---- automatic names ---- */

/* The stem of a hint and its counter, in the arena of the table; NULL without memory. */
static const hint_count *count_hint(name_run *naming, const char *hint)
{
    hint_count *found = &naming->hints[(uintptr_t)hint / 8 % HINTS];
    if (found->hint == hint)
        return found;
    const char *stem = make_identifier(naming, hint);
    if (stem == NULL)
        return NULL;
    unsigned *number = mw__map_get(&naming->counters, stem);
    if (number == NULL) {
        number = mw__arena_alloc(&naming->names->arena, 1, sizeof *number, naming->err);
        if (number == NULL || mw__map_set(&naming->counters, stem, number, naming->err) != MW_OK)
            return NULL;
    }
    *found = (hint_count){hint, stem, number};
    return found;
}

static mw_status name_automatic(name_run *naming, name_scope *scope, const mw_tensor *value)
{
    (void)scope;
    if (value->name != NULL)
        return MW_OK;
    const hint_count *counted = count_hint(naming, value->hint);
    const size_t size = counted != NULL ? strlen(counted->stem) + NUMBER_ROOM : 0;
    char *name = counted != NULL ? mw__arena_alloc(&naming->names->arena, size, 1, naming->err) : NULL;
    if (name == NULL)
        return MW_ERROR_MEMORY;
    do {
        put_numbered(name, counted->stem, (*counted->number)++);
    } while (mw__map_get(&naming->taken, name) != NULL);
    naming->names->by_id[value->id - naming->names->first] = name;
    return MW_OK;
}

/* ---- walking ---- */

static mw_status walk_block(name_run *naming, const mw__block *block, const name_scope *outer, visit_value *visit);

static mw_status walk_op(name_run *naming, const mw__op *op, name_scope *scope, visit_value *visit)
{
    for (size_t i = 0; i < op->block_count; i++)
        MW_TRY(walk_block(naming, op->blocks[i], scope, visit));
    for (size_t i = 0; i < op->result_count; i++)
        MW_TRY(visit(naming, scope, op->results[i]));
    return MW_OK;
}

static mw_status walk_values(name_run *naming, const mw__block *block, name_scope *scope, visit_value *visit)
{
    for (size_t i = 0; i < block->input_count; i++)
        MW_TRY(visit(naming, scope, block->inputs[i]));
    for (size_t i = 0; i < block->op_count; i++)
        MW_TRY(walk_op(naming, block->ops[i], scope, visit));
    return MW_OK;
}

static mw_status walk_block(name_run *naming, const mw__block *block, const name_scope *outer, visit_value *visit)
{
    name_scope scope = {.outer = outer};
    mw__map_init(&scope.used, naming->allocator);
    mw__map_init(&scope.suffixes, naming->allocator);
    const mw_status status = walk_values(naming, block, &scope, visit);
    mw__map_deinit(&scope.used);
    mw__map_deinit(&scope.suffixes);
    return status;
}

static void widen_range(mw_tensor *const *values, size_t count, size_t *first, size_t *end)
{
    for (size_t i = 0; i < count; i++) {
        *first = values[i]->id < *first ? values[i]->id : *first;
        *end = values[i]->id >= *end ? values[i]->id + 1 : *end;
    }
}

static void find_range(const mw__block *block, size_t *first, size_t *end)
{
    widen_range(block->inputs, block->input_count, first, end);
    for (size_t i = 0; i < block->op_count; i++) {
        widen_range(block->ops[i]->results, block->ops[i]->result_count, first, end);
        for (size_t k = 0; k < block->ops[i]->block_count; k++)
            find_range(block->ops[i]->blocks[k], first, end);
    }
}

static mw_status assign(name_run *naming, const mw__function *function)
{
    MW_TRY(walk_block(naming, function->body, NULL, collect_exact));
    MW_TRY(walk_block(naming, function->body, NULL, name_given));
    return walk_block(naming, function->body, NULL, name_automatic);
}

mw_status mw__names_assign(const mw__function *function, mw__names *names, mw_error *err)
{
    const mw_graph *graph = function->graph;
    const bool alone = graph->function_count == 1;
    size_t first = alone ? 0 : SIZE_MAX, end = alone ? graph->value_count : 0;
    if (!alone) /* each names few of the graph's values */
        find_range(function->body, &first, &end);
    *names = (mw__names){.first = first < end ? first : 0, .count = first < end ? end - first : 0};
    mw__arena_init(&names->arena, graph->allocator);
    names->by_id = mw__arena_alloc(&names->arena, names->count, sizeof *names->by_id, err);
    if (names->by_id == NULL)
        return MW_ERROR_MEMORY;
    name_run naming = {.names = names, .allocator = graph->allocator, .err = err};
    mw__map_init(&naming.exact, graph->allocator);
    mw__map_init(&naming.taken, graph->allocator);
    mw__map_init(&naming.counters, graph->allocator);
    const mw_status status = assign(&naming, function);
    mw__map_deinit(&naming.exact);
    mw__map_deinit(&naming.taken);
    mw__map_deinit(&naming.counters);
    return status;
}

void mw__names_deinit(mw__names *names)
{
    mw__arena_deinit(&names->arena);
    names->by_id = NULL;
    names->count = 0;
}

const char *mw__names_get(const mw__names *names, const mw_tensor *value)
{
    return value != NULL && names->by_id != NULL && value->id >= names->first && value->id - names->first < names->count
               ? names->by_id[value->id - names->first]
               : NULL;
}
