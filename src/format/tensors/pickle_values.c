/* Values that the opcodes of pickles make: containers, strings, numbers, calls. */
#include "format/tensors/pickle_reader.h"

#include <string.h>

/* ---- containers ---- */

static mw_status append_member(mw__pickle_reader *r, mw__pickle_value *to, const mw__pickle_value *key,
                               const mw__pickle_value *value, mw_error *err)
{
    mw__pickle_cell *cell = mw__arena_alloc(r->arena, 1, sizeof *cell, err);
    if (cell == NULL)
        return MW_ERROR_MEMORY;
    *cell = (mw__pickle_cell){.key = key, .value = value};
    if (to->last != NULL)
        to->last->next = cell;
    else
        to->first = cell;
    to->last = cell;
    to->count++;
    return MW_OK;
}

mw_status mw__pickle_push_tuple(mw__pickle_reader *r, size_t begin, mw_error *err)
{
    mw__pickle_value *tuple = mw__arena_alloc(r->arena, 1, sizeof *tuple, err);
    if (tuple == NULL)
        return MW_ERROR_MEMORY;
    tuple->kind = MW__PICKLE_TUPLE;
    for (size_t i = begin; i < r->depth; i++)
        MW_TRY(append_member(r, tuple, NULL, r->stack[i], err));
    r->depth = begin;
    return mw__pickle_push(r, tuple, err);
}

mw_status mw__pickle_push_small_tuple(mw__pickle_reader *r, size_t count, mw_error *err)
{
    if (r->depth - mw__pickle_floor(r) < count)
        return mw__pickle_malformed(r, "a tuple takes more than the stack has", err);
    return mw__pickle_push_tuple(r, r->depth - count, err);
}

/* What has no items that are kept: sets, and what a foreign global makes. */
static bool drops_items(const mw__pickle_value *value)
{
    return value->kind == MW__PICKLE_CALL || value->kind == MW__PICKLE_OTHER;
}

/* A call of OrderedDict makes a dict, too. */
static bool is_dict(const mw__pickle_value *value) { return value->kind == MW__PICKLE_DICT; }

mw_status mw__pickle_set_items(mw__pickle_reader *r, size_t begin, mw_error *err)
{
    const size_t end = r->depth;
    mw__pickle_value *dict;
    r->depth = begin;
    MW_TRY(mw__pickle_top(r, &dict, err));
    if (drops_items(dict))
        return MW_OK;
    if (!is_dict(dict) || (end - begin) % 2 != 0)
        return mw__pickle_malformed(r, "items are set of what is no dict, or a key has no value", err);
    for (size_t i = begin; i < end; i += 2)
        MW_TRY(append_member(r, dict, r->stack[i], r->stack[i + 1], err));
    return MW_OK;
}

/* Of a set, which is kept as none of its items. */
mw_status mw__pickle_add_items(mw__pickle_reader *r, size_t begin, mw_error *err)
{
    mw__pickle_value *set;
    r->depth = begin;
    MW_TRY(mw__pickle_top(r, &set, err));
    return drops_items(set) ? MW_OK : mw__pickle_malformed(r, "something is added to what is no set", err);
}

mw_status mw__pickle_push_frozenset(mw__pickle_reader *r, size_t begin, mw_error *err)
{
    r->depth = begin;
    return mw__pickle_push_other(r, err);
}

mw_status mw__pickle_append_items(mw__pickle_reader *r, size_t begin, mw_error *err)
{
    const size_t end = r->depth;
    mw__pickle_value *list;
    r->depth = begin;
    MW_TRY(mw__pickle_top(r, &list, err));
    if (drops_items(list))
        return MW_OK;
    if (list->kind != MW__PICKLE_LIST)
        return mw__pickle_malformed(r, "something is appended to what is no list", err);
    for (size_t i = begin; i < end; i++)
        MW_TRY(append_member(r, list, NULL, r->stack[i], err));
    return MW_OK;
}

/* ---- strings ---- */

static mw_status copy_text(mw__pickle_reader *r, const unsigned char *bytes, size_t size, const char **out,
                           mw_error *err)
{
    if (memchr(bytes, 0, size) != NULL)
        return mw__pickle_malformed(r, "a string has a zero byte", err);
    *out = mw__arena_string(r->arena, (const char *)bytes, size, err);
    return *out != NULL ? MW_OK : MW_ERROR_MEMORY;
}

mw_status mw__pickle_push_string(mw__pickle_reader *r, size_t length_bytes, mw_error *err)
{
    uint64_t length;
    const unsigned char *bytes;
    mw__pickle_value value = {.kind = MW__PICKLE_STRING};
    MW_TRY(mw__pickle_take_number(r, length_bytes, &length, err));
    if (length > (uint64_t)(r->end - r->at))
        return mw__pickle_malformed(r, "a string is cut off", err);
    MW_TRY(mw__pickle_take(r, (size_t)length, &bytes, err));
    if (memchr(bytes, 0, (size_t)length) != NULL) /* bytes that protocol 2 writes as text */
        return mw__pickle_push_other(r, err);
    MW_TRY(copy_text(r, bytes, (size_t)length, &value.text, err));
    return mw__pickle_push_new(r, value, err);
}

/* bytes: no tensor is made of them */
mw_status mw__pickle_skip_bytes(mw__pickle_reader *r, size_t length_bytes, mw_error *err)
{
    uint64_t length;
    const unsigned char *bytes;
    MW_TRY(mw__pickle_take_number(r, length_bytes, &length, err));
    if (length > (uint64_t)(r->end - r->at))
        return mw__pickle_malformed(r, "a string of bytes is cut off", err);
    MW_TRY(mw__pickle_take(r, (size_t)length, &bytes, err));
    return mw__pickle_push_other(r, err);
}

/* module newline name newline */
mw_status mw__pickle_push_global(mw__pickle_reader *r, mw_error *err)
{
    const unsigned char *module = r->at;
    const unsigned char *first = memchr(module, '\n', (size_t)(r->end - module));
    const unsigned char *last = first != NULL ? memchr(first + 1, '\n', (size_t)(r->end - first - 1)) : NULL;
    mw__pickle_value value = {.kind = MW__PICKLE_GLOBAL};
    if (last == NULL)
        return mw__pickle_malformed(r, "the name of a global is cut off", err);
    MW_TRY(copy_text(r, module, (size_t)(last - module), &value.text, err));
    ((char *)value.text)[first - module] = ' ';
    r->at = last + 1;
    return mw__pickle_push_new(r, value, err);
}

mw_status mw__pickle_push_stack_global(mw__pickle_reader *r, mw_error *err)
{
    mw__pickle_value *name, *module;
    MW_TRY(mw__pickle_pop(r, &name, err));
    MW_TRY(mw__pickle_pop(r, &module, err));
    if (name->kind != MW__PICKLE_STRING || module->kind != MW__PICKLE_STRING)
        return mw__pickle_malformed(r, "the name of a global is no string", err);
    const size_t before = strlen(module->text), behind = strlen(name->text);
    char *text = mw__arena_alloc(r->arena, before + behind + 2, 1, err);
    if (text == NULL)
        return MW_ERROR_MEMORY;
    memcpy(text, module->text, before);
    text[before] = ' ';
    memcpy(text + before + 1, name->text, behind);
    return mw__pickle_push_new(r, (mw__pickle_value){.kind = MW__PICKLE_GLOBAL, .text = text}, err);
}

/* ---- numbers ---- */

static mw_status push_int(mw__pickle_reader *r, int64_t number, mw_error *err)
{
    return mw__pickle_push_new(r, (mw__pickle_value){.kind = MW__PICKLE_INT, .number = number}, err);
}

mw_status mw__pickle_push_unsigned(mw__pickle_reader *r, size_t bytes, mw_error *err)
{
    uint64_t number;
    MW_TRY(mw__pickle_take_number(r, bytes, &number, err));
    return push_int(r, (int64_t)number, err);
}

mw_status mw__pickle_push_int32(mw__pickle_reader *r, mw_error *err)
{
    uint64_t number;
    MW_TRY(mw__pickle_take_number(r, 4, &number, err));
    return push_int(r, (int32_t)(uint32_t)number, err);
}

/* length, that many bytes of a two's complement number. A seed may have 64 bits and one of its sign. */
mw_status mw__pickle_push_long(mw__pickle_reader *r, size_t length_bytes, mw_error *err)
{
    uint64_t length, number = 0;
    const unsigned char *bytes;
    MW_TRY(mw__pickle_take_number(r, length_bytes, &length, err));
    if (length > 8) {
        if (length > (uint64_t)(r->end - r->at))
            return mw__pickle_malformed(r, "an integer is cut off", err);
        MW_TRY(mw__pickle_take(r, (size_t)length, &bytes, err));
        return mw__pickle_push_other(r, err);
    }
    MW_TRY(mw__pickle_take_number(r, (size_t)length, &number, err));
    if (length > 0 && length < 8 && (number >> (8 * length - 1) & 1) != 0)
        number |= UINT64_MAX << (8 * length);
    return push_int(r, (int64_t)number, err);
}

mw_status mw__pickle_push_float(mw__pickle_reader *r, mw_error *err)
{
    const unsigned char *bytes; /* no tensor depends on the value */
    MW_TRY(mw__pickle_take(r, 8, &bytes, err));
    return mw__pickle_push_new(r, (mw__pickle_value){.kind = MW__PICKLE_FLOAT}, err);
}

/* ---- calls ---- */

/* Whether the call makes a dict that items are set of: OrderedDict(), defaultdict(list). */
static bool makes_dict(const mw__pickle_value *callee, const mw__pickle_value *argument)
{
    return (strcmp(callee->text, "collections OrderedDict") == 0 && argument->count == 0) ||
           (strcmp(callee->text, "collections defaultdict") == 0 && argument->count <= 1);
}

/* Everything else stays a call; one of what a call gave is named by the global that was called first. */
static mw_status push_call(mw__pickle_reader *r, const mw__pickle_value *callee, const mw__pickle_value *argument,
                           mw_error *err)
{
    const mw__pickle_value *global = callee->kind == MW__PICKLE_CALL ? callee->callee : callee;
    if (argument->kind != MW__PICKLE_TUPLE || global->kind != MW__PICKLE_GLOBAL)
        return mw__pickle_malformed(r, "what is called is no global, or its arguments are no tuple", err);
    if (callee == global && makes_dict(callee, argument))
        return mw__pickle_push_new(r, (mw__pickle_value){.kind = MW__PICKLE_DICT}, err);
    static const mw__pickle_value nothing = {.kind = MW__PICKLE_TUPLE};
    return mw__pickle_push_new(r,
                               (mw__pickle_value){.kind = MW__PICKLE_CALL,
                                                  .callee = global,
                                                  .argument = callee == global ? argument : &nothing},
                               err);
}

/* callable arguments REDUCE, class arguments NEWOBJ, class arguments keywords NEWOBJ_EX */
mw_status mw__pickle_call(mw__pickle_reader *r, bool has_keywords, mw_error *err)
{
    mw__pickle_value *keywords, *argument, *callee;
    if (has_keywords)
        MW_TRY(mw__pickle_pop(r, &keywords, err));
    MW_TRY(mw__pickle_pop(r, &argument, err));
    MW_TRY(mw__pickle_pop(r, &callee, err));
    return push_call(r, callee, argument, err);
}

/* A state dict's _metadata, or the state of an object that nobody makes: no tensor needs it. */
mw_status mw__pickle_build_object(mw__pickle_reader *r, mw_error *err)
{
    mw__pickle_value *state, *object;
    MW_TRY(mw__pickle_pop(r, &state, err));
    MW_TRY(mw__pickle_top(r, &object, err));
    if (!is_dict(object) && object->kind != MW__PICKLE_LIST && !drops_items(object))
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "\"%.200s\": its pickle gives a state to what is no object (BUILD)",
                        r->path);
    return MW_OK;
}

mw_status mw__pickle_push_persistent(mw__pickle_reader *r, mw_error *err)
{
    mw__pickle_value *id;
    MW_TRY(mw__pickle_pop(r, &id, err));
    return mw__pickle_push_new(r, (mw__pickle_value){.kind = MW__PICKLE_PERSISTENT, .argument = id}, err);
}
