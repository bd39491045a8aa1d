/* Reads the pickles of checkpoints: a stack of values, a memo, and one row for each opcode that is known. */
#include "format/tensors/pickle.h"

#include <string.h>

typedef struct reader {
    mw__arena *arena;
    const char *path;
    const unsigned char *begin, *at, *end;
    mw__pickle_value **stack;
    size_t depth, stack_capacity;
    size_t *marks; /* depths */
    size_t mark_count, mark_capacity;
    mw__pickle_value **memo;
    size_t memo_size, memo_capacity;
    bool stopped;
} reader;

static mw_status malformed_pickle(const reader *r, const char *what, mw_error *err)
{
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": its pickle is not sound at byte %zu: %s", r->path,
                    (size_t)(r->at - r->begin), what);
}

/* ---- bytes ---- */

static mw_status take_bytes(reader *r, size_t size, const unsigned char **out, mw_error *err)
{
    if ((size_t)(r->end - r->at) < size)
        return malformed_pickle(r, "it is cut off", err);
    *out = r->at;
    r->at += size;
    return MW_OK;
}

static mw_status take_number(reader *r, size_t size, uint64_t *out, mw_error *err)
{
    const unsigned char *bytes;
    MW_TRY(take_bytes(r, size, &bytes, err));
    *out = 0;
    for (size_t i = size; i-- > 0;)
        *out = *out << 8 | bytes[i];
    return MW_OK;
}

/* ---- stack ---- */

static mw_status push(reader *r, mw__pickle_value *value, mw_error *err)
{
    MW_TRY(mw__grow(r->arena->allocator, &r->stack, &r->stack_capacity, r->depth + 1, sizeof *r->stack, err));
    r->stack[r->depth++] = value;
    return MW_OK;
}

static mw_status push_new(reader *r, mw__pickle_value fields, mw_error *err)
{
    mw__pickle_value *value = mw__arena_alloc(r->arena, 1, sizeof *value, err);
    if (value == NULL)
        return MW_ERROR_MEMORY;
    *value = fields;
    return push(r, value, err);
}

static mw_status push_other(reader *r, mw_error *err)
{
    return push_new(r, (mw__pickle_value){.kind = MW__PICKLE_OTHER}, err);
}

/* Values above the last mark, or above the bottom, are what an opcode may take. */
static size_t floor_of(const reader *r) { return r->mark_count > 0 ? r->marks[r->mark_count - 1] : 0; }

static mw_status pop(reader *r, mw__pickle_value **out, mw_error *err)
{
    if (r->depth <= floor_of(r))
        return malformed_pickle(r, "an opcode takes more than the stack has", err);
    *out = r->stack[--r->depth];
    return MW_OK;
}

static mw_status top(reader *r, mw__pickle_value **out, mw_error *err)
{
    MW_TRY(pop(r, out, err));
    r->depth++;
    return MW_OK;
}

static mw_status pop_mark(reader *r, size_t *out_begin, mw_error *err)
{
    if (r->mark_count == 0)
        return malformed_pickle(r, "an opcode wants a mark, and there is none", err);
    *out_begin = r->marks[--r->mark_count];
    return MW_OK;
}

/* ---- containers ---- */

static mw_status append_member(reader *r, mw__pickle_value *to, const mw__pickle_value *key,
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

static mw_status push_tuple(reader *r, size_t begin, mw_error *err)
{
    mw__pickle_value *tuple = mw__arena_alloc(r->arena, 1, sizeof *tuple, err);
    if (tuple == NULL)
        return MW_ERROR_MEMORY;
    tuple->kind = MW__PICKLE_TUPLE;
    for (size_t i = begin; i < r->depth; i++)
        MW_TRY(append_member(r, tuple, NULL, r->stack[i], err));
    r->depth = begin;
    return push(r, tuple, err);
}

static mw_status push_small_tuple(reader *r, size_t count, mw_error *err)
{
    if (r->depth - floor_of(r) < count)
        return malformed_pickle(r, "a tuple takes more than the stack has", err);
    return push_tuple(r, r->depth - count, err);
}

/* What has no items that are kept: sets, and what a foreign global makes. */
static bool drops_items(const mw__pickle_value *value)
{
    return value->kind == MW__PICKLE_CALL || value->kind == MW__PICKLE_OTHER;
}

/* A call of OrderedDict makes a dict, too. */
static bool is_dict(const mw__pickle_value *value) { return value->kind == MW__PICKLE_DICT; }

static mw_status set_items(reader *r, size_t begin, mw_error *err)
{
    const size_t end = r->depth;
    mw__pickle_value *dict;
    r->depth = begin;
    MW_TRY(top(r, &dict, err));
    if (drops_items(dict))
        return MW_OK;
    if (!is_dict(dict) || (end - begin) % 2 != 0)
        return malformed_pickle(r, "items are set of what is no dict, or a key has no value", err);
    for (size_t i = begin; i < end; i += 2)
        MW_TRY(append_member(r, dict, r->stack[i], r->stack[i + 1], err));
    return MW_OK;
}

/* Of a set, which is kept as none of its items. */
static mw_status add_items(reader *r, size_t begin, mw_error *err)
{
    mw__pickle_value *set;
    r->depth = begin;
    MW_TRY(top(r, &set, err));
    return drops_items(set) ? MW_OK : malformed_pickle(r, "something is added to what is no set", err);
}

static mw_status push_frozenset(reader *r, size_t begin, mw_error *err)
{
    r->depth = begin;
    return push_other(r, err);
}

static mw_status append_items(reader *r, size_t begin, mw_error *err)
{
    const size_t end = r->depth;
    mw__pickle_value *list;
    r->depth = begin;
    MW_TRY(top(r, &list, err));
    if (drops_items(list))
        return MW_OK;
    if (list->kind != MW__PICKLE_LIST)
        return malformed_pickle(r, "something is appended to what is no list", err);
    for (size_t i = begin; i < end; i++)
        MW_TRY(append_member(r, list, NULL, r->stack[i], err));
    return MW_OK;
}

/* ---- strings ---- */

static mw_status copy_text(reader *r, const unsigned char *bytes, size_t size, const char **out, mw_error *err)
{
    if (memchr(bytes, 0, size) != NULL)
        return malformed_pickle(r, "a string has a zero byte", err);
    *out = mw__arena_string(r->arena, (const char *)bytes, size, err);
    return *out != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status push_string(reader *r, size_t length_bytes, mw_error *err)
{
    uint64_t length;
    const unsigned char *bytes;
    mw__pickle_value value = {.kind = MW__PICKLE_STRING};
    MW_TRY(take_number(r, length_bytes, &length, err));
    if (length > (uint64_t)(r->end - r->at))
        return malformed_pickle(r, "a string is cut off", err);
    MW_TRY(take_bytes(r, (size_t)length, &bytes, err));
    if (memchr(bytes, 0, (size_t)length) != NULL) /* bytes that protocol 2 writes as text */
        return push_other(r, err);
    MW_TRY(copy_text(r, bytes, (size_t)length, &value.text, err));
    return push_new(r, value, err);
}

/* bytes: no tensor is made of them */
static mw_status skip_bytes(reader *r, size_t length_bytes, mw_error *err)
{
    uint64_t length;
    const unsigned char *bytes;
    MW_TRY(take_number(r, length_bytes, &length, err));
    if (length > (uint64_t)(r->end - r->at))
        return malformed_pickle(r, "a string of bytes is cut off", err);
    MW_TRY(take_bytes(r, (size_t)length, &bytes, err));
    return push_other(r, err);
}

/* module newline name newline */
static mw_status push_global(reader *r, mw_error *err)
{
    const unsigned char *module = r->at;
    const unsigned char *first = memchr(module, '\n', (size_t)(r->end - module));
    const unsigned char *last = first != NULL ? memchr(first + 1, '\n', (size_t)(r->end - first - 1)) : NULL;
    mw__pickle_value value = {.kind = MW__PICKLE_GLOBAL};
    if (last == NULL)
        return malformed_pickle(r, "the name of a global is cut off", err);
    MW_TRY(copy_text(r, module, (size_t)(last - module), &value.text, err));
    ((char *)value.text)[first - module] = ' ';
    r->at = last + 1;
    return push_new(r, value, err);
}

static mw_status push_stack_global(reader *r, mw_error *err)
{
    mw__pickle_value *name, *module;
    MW_TRY(pop(r, &name, err));
    MW_TRY(pop(r, &module, err));
    if (name->kind != MW__PICKLE_STRING || module->kind != MW__PICKLE_STRING)
        return malformed_pickle(r, "the name of a global is no string", err);
    const size_t before = strlen(module->text), behind = strlen(name->text);
    char *text = mw__arena_alloc(r->arena, before + behind + 2, 1, err);
    if (text == NULL)
        return MW_ERROR_MEMORY;
    memcpy(text, module->text, before);
    text[before] = ' ';
    memcpy(text + before + 1, name->text, behind);
    return push_new(r, (mw__pickle_value){.kind = MW__PICKLE_GLOBAL, .text = text}, err);
}

/* ---- numbers ---- */

static mw_status push_int(reader *r, int64_t number, mw_error *err)
{
    return push_new(r, (mw__pickle_value){.kind = MW__PICKLE_INT, .number = number}, err);
}

static mw_status push_unsigned(reader *r, size_t bytes, mw_error *err)
{
    uint64_t number;
    MW_TRY(take_number(r, bytes, &number, err));
    return push_int(r, (int64_t)number, err);
}

static mw_status push_int32(reader *r, mw_error *err)
{
    uint64_t number;
    MW_TRY(take_number(r, 4, &number, err));
    return push_int(r, (int32_t)(uint32_t)number, err);
}

/* length, that many bytes of a two's complement number. A seed may have 64 bits and one of its sign. */
static mw_status push_long(reader *r, size_t length_bytes, mw_error *err)
{
    uint64_t length, number = 0;
    const unsigned char *bytes;
    MW_TRY(take_number(r, length_bytes, &length, err));
    if (length > 8) {
        if (length > (uint64_t)(r->end - r->at))
            return malformed_pickle(r, "an integer is cut off", err);
        MW_TRY(take_bytes(r, (size_t)length, &bytes, err));
        return push_other(r, err);
    }
    MW_TRY(take_number(r, (size_t)length, &number, err));
    if (length > 0 && length < 8 && (number >> (8 * length - 1) & 1) != 0)
        number |= UINT64_MAX << (8 * length);
    return push_int(r, (int64_t)number, err);
}

static mw_status push_float(reader *r, mw_error *err)
{
    const unsigned char *bytes; /* no tensor depends on the value */
    MW_TRY(take_bytes(r, 8, &bytes, err));
    return push_new(r, (mw__pickle_value){.kind = MW__PICKLE_FLOAT}, err);
}

/* ---- memo ---- */

static mw_status put_memo(reader *r, uint64_t index, mw_error *err)
{
    mw__pickle_value *value;
    MW_TRY(top(r, &value, err));
    /* Writers count up; an index far beyond would only cost memory. */
    if (index > r->memo_size)
        return malformed_pickle(r, "the memo has a gap", err);
    if (index == r->memo_size)
        MW_TRY(mw__grow(r->arena->allocator, &r->memo, &r->memo_capacity, ++r->memo_size, sizeof *r->memo, err));
    r->memo[index] = value;
    return MW_OK;
}

static mw_status get_memo(reader *r, size_t bytes, mw_error *err)
{
    uint64_t index;
    MW_TRY(take_number(r, bytes, &index, err));
    if (index >= r->memo_size)
        return malformed_pickle(r, "the memo does not have what is taken from it", err);
    return push(r, r->memo[index], err);
}

static mw_status put_memo_at(reader *r, size_t bytes, mw_error *err)
{
    uint64_t index;
    MW_TRY(take_number(r, bytes, &index, err));
    return put_memo(r, index, err);
}

/* ---- calls ---- */

/* Whether the call makes a dict that items are set of: OrderedDict(), defaultdict(list). */
static bool makes_dict(const mw__pickle_value *callee, const mw__pickle_value *argument)
{
    return (strcmp(callee->text, "collections OrderedDict") == 0 && argument->count == 0) ||
           (strcmp(callee->text, "collections defaultdict") == 0 && argument->count <= 1);
}

/* Everything else stays a call; one of what a call gave is named by the global that was called first. */
static mw_status push_call(reader *r, const mw__pickle_value *callee, const mw__pickle_value *argument, mw_error *err)
{
    const mw__pickle_value *global = callee->kind == MW__PICKLE_CALL ? callee->callee : callee;
    if (argument->kind != MW__PICKLE_TUPLE || global->kind != MW__PICKLE_GLOBAL)
        return malformed_pickle(r, "what is called is no global, or its arguments are no tuple", err);
    if (callee == global && makes_dict(callee, argument))
        return push_new(r, (mw__pickle_value){.kind = MW__PICKLE_DICT}, err);
    static const mw__pickle_value nothing = {.kind = MW__PICKLE_TUPLE};
    return push_new(r,
                    (mw__pickle_value){
                        .kind = MW__PICKLE_CALL, .callee = global, .argument = callee == global ? argument : &nothing},
                    err);
}

/* callable arguments REDUCE, class arguments NEWOBJ, class arguments keywords NEWOBJ_EX */
static mw_status call(reader *r, bool has_keywords, mw_error *err)
{
    mw__pickle_value *keywords, *argument, *callee;
    if (has_keywords)
        MW_TRY(pop(r, &keywords, err));
    MW_TRY(pop(r, &argument, err));
    MW_TRY(pop(r, &callee, err));
    return push_call(r, callee, argument, err);
}

/* A state dict's _metadata, or the state of an object that nobody makes: no tensor needs it. */
static mw_status build_object(reader *r, mw_error *err)
{
    mw__pickle_value *state, *object;
    MW_TRY(pop(r, &state, err));
    MW_TRY(top(r, &object, err));
    if (!is_dict(object) && object->kind != MW__PICKLE_LIST && !drops_items(object))
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "\"%.200s\": its pickle gives a state to what is no object (BUILD)",
                        r->path);
    return MW_OK;
}

/* POP takes a value, or a mark that nothing was put on. */
static mw_status drop(reader *r, mw_error *err)
{
    mw__pickle_value *value;
    if (r->mark_count > 0 && r->depth == floor_of(r)) {
        r->mark_count--;
        return MW_OK;
    }
    return pop(r, &value, err);
}

static mw_status drop_all(reader *r, size_t begin, mw_error *err)
{
    (void)err;
    r->depth = begin;
    return MW_OK;
}

static mw_status push_persistent(reader *r, mw_error *err)
{
    mw__pickle_value *id;
    MW_TRY(pop(r, &id, err));
    return push_new(r, (mw__pickle_value){.kind = MW__PICKLE_PERSISTENT, .argument = id}, err);
}

static mw_status push_mark(reader *r, mw_error *err)
{
    MW_TRY(mw__grow(r->arena->allocator, &r->marks, &r->mark_capacity, r->mark_count + 1, sizeof *r->marks, err));
    r->marks[r->mark_count++] = r->depth;
    return MW_OK;
}

static mw_status from_mark(reader *r, mw_status (*act)(reader *, size_t, mw_error *), mw_error *err)
{
    size_t begin;
    MW_TRY(pop_mark(r, &begin, err));
    return act(r, begin, err);
}

static mw_status from_last(reader *r, size_t count, mw_status (*act)(reader *, size_t, mw_error *), mw_error *err)
{
    if (r->depth - floor_of(r) < count)
        return malformed_pickle(r, "an opcode takes more than the stack has", err);
    return act(r, r->depth - count, err);
}

/* ---- opcodes ---- */

static const struct {
    unsigned char code;
    const char *name;
} refused[] = {
    {'2', "DUP"},          {'F', "FLOAT"},
    {'I', "INT"},          {'L', "LONG"},
    {'P', "PERSID"},       {'S', "STRING"},
    {'V', "UNICODE"},      {'d', "DICT"},
    {'g', "GET"},          {'i', "INST"},
    {'l', "LIST"},         {'o', "OBJ"},
    {'p', "PUT"},          {0x82, "EXT1"},
    {0x83, "EXT2"},        {0x84, "EXT4"},
    {'T', "BINSTRING"},    {'U', "SHORT_BINSTRING"},
    {0x97, "NEXT_BUFFER"}, {0x98, "READONLY_BUFFER"},
};

static mw_status refuse_opcode(const reader *r, unsigned char code, mw_error *err)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        if ((unsigned char)refused[i].code == code)
            return mw__fail(err, MW_ERROR_UNSUPPORTED,
                            "\"%.200s\": its pickle has the opcode %s, which torch.save does not write; it is not read",
                            r->path, refused[i].name);
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": its pickle has the byte 0x%02x for an opcode", r->path, code);
}

static mw_status check_protocol(reader *r, mw_error *err)
{
    uint64_t version;
    MW_TRY(take_number(r, 1, &version, err));
    return version >= 2 && version <= 5 ? MW_OK : malformed_pickle(r, "its protocol is none of 2 to 5", err);
}

static mw_status skip_frame(reader *r, mw_error *err)
{
    uint64_t length;
    return take_number(r, 8, &length, err);
}

/* Opcodes of what is made of nothing. */
static mw_status run_value(reader *r, unsigned char code, mw_error *err)
{
    switch (code) {
    case 'N':
        return push_new(r, (mw__pickle_value){.kind = MW__PICKLE_NONE}, err);
    case 0x88: /* NEWTRUE */
    case 0x89: /* NEWFALSE */
        return push_new(r, (mw__pickle_value){.kind = MW__PICKLE_BOOL, .number = code == 0x88}, err);
    case 'K':
        return push_unsigned(r, 1, err);
    case 'M':
        return push_unsigned(r, 2, err);
    case 'J':
        return push_int32(r, err);
    case 0x8a: /* LONG1 */
        return push_long(r, 1, err);
    case 0x8b: /* LONG4 */
        return push_long(r, 4, err);
    case 'C': /* SHORT_BINBYTES */
        return skip_bytes(r, 1, err);
    case 'B': /* BINBYTES */
        return skip_bytes(r, 4, err);
    case 0x8e: /* BINBYTES8, BYTEARRAY8 */
    case 0x96:
        return skip_bytes(r, 8, err);
    case 0x8f: /* EMPTY_SET */
        return push_other(r, err);
    case 'G':
        return push_float(r, err);
    case 'X':
        return push_string(r, 4, err);
    case 0x8c: /* SHORT_BINUNICODE */
        return push_string(r, 1, err);
    case 0x8d: /* BINUNICODE8 */
        return push_string(r, 8, err);
    case ')':
        return push_new(r, (mw__pickle_value){.kind = MW__PICKLE_TUPLE}, err);
    case ']':
        return push_new(r, (mw__pickle_value){.kind = MW__PICKLE_LIST}, err);
    case '}':
        return push_new(r, (mw__pickle_value){.kind = MW__PICKLE_DICT}, err);
    case 'c':
        return push_global(r, err);
    default:
        return refuse_opcode(r, code, err);
    }
}

/* Opcodes that work on the stack. */
static mw_status run_stack_opcode(reader *r, unsigned char code, mw_error *err)
{
    switch (code) {
    case 0x80: /* PROTO */
        return check_protocol(r, err);
    case 0x95: /* FRAME */
        return skip_frame(r, err);
    case '(':
        return push_mark(r, err);
    case 't':
        return from_mark(r, push_tuple, err);
    case 0x85: /* TUPLE1 .. 3 */
    case 0x86:
    case 0x87:
        return push_small_tuple(r, code - 0x84u, err);
    case 'a':
        return from_last(r, 1, append_items, err);
    case 'e':
        return from_mark(r, append_items, err);
    case 's':
        return from_last(r, 2, set_items, err);
    case 'u':
        return from_mark(r, set_items, err);
    case 'q':
        return put_memo_at(r, 1, err);
    case 'r':
        return put_memo_at(r, 4, err);
    case 0x94: /* MEMOIZE */
        return put_memo(r, r->memo_size, err);
    case 'h':
        return get_memo(r, 1, err);
    case 'j':
        return get_memo(r, 4, err);
    case 0x93: /* STACK_GLOBAL */
        return push_stack_global(r, err);
    case 'R':
    case 0x81: /* NEWOBJ */
        return call(r, false, err);
    case 0x92: /* NEWOBJ_EX */
        return call(r, true, err);
    case '0':
        return drop(r, err);
    case '1': /* POP_MARK */
        return from_mark(r, drop_all, err);
    case 0x90: /* ADDITEMS */
        return from_mark(r, add_items, err);
    case 0x91: /* FROZENSET */
        return from_mark(r, push_frozenset, err);
    case 'b':
        return build_object(r, err);
    case 'Q':
        return push_persistent(r, err);
    case '.':
        r->stopped = true;
        return MW_OK;
    default:
        return run_value(r, code, err);
    }
}

static mw_status run_all(reader *r, const mw__pickle_value **out, mw_error *err)
{
    while (!r->stopped) {
        const unsigned char *code;
        MW_TRY(take_bytes(r, 1, &code, err));
        MW_TRY(run_stack_opcode(r, *code, err));
    }
    if (r->depth != 1 || r->mark_count != 0 || r->at != r->end)
        return malformed_pickle(r, "it does not end with one value at the end of its bytes", err);
    *out = r->stack[0];
    return MW_OK;
}

mw_status mw__pickle_read(mw__arena *arena, const char *path, const unsigned char *text, size_t size,
                          const mw__pickle_value **out, mw_error *err)
{
    reader r = {.arena = arena, .path = path, .begin = text, .at = text, .end = text + size};
    const mw_status status = run_all(&r, out, err);
    mw__free(arena->allocator, r.stack);
    mw__free(arena->allocator, r.marks);
    mw__free(arena->allocator, r.memo);
    return status;
}

const mw__pickle_value *mw__pickle_at(const mw__pickle_value *sequence, size_t index)
{
    const mw__pickle_cell *cell = sequence->first;
    while (cell != NULL && index-- > 0)
        cell = cell->next;
    return cell != NULL ? cell->value : NULL;
}
