/* Reads the pickles of checkpoints: one row for each opcode that is known. */
#include "format/tensors/pickle.h"
#include "format/tensors/pickle_reader.h"

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

static mw_status refuse_opcode(const mw__pickle_reader *r, unsigned char code, mw_error *err)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        if ((unsigned char)refused[i].code == code)
            return mw__fail(err, MW_ERROR_UNSUPPORTED,
                            "\"%.200s\": its pickle has the opcode %s, which torch.save does not write; it is not read",
                            r->path, refused[i].name);
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": its pickle has the byte 0x%02x for an opcode", r->path, code);
}

static mw_status check_protocol(mw__pickle_reader *r, mw_error *err)
{
    uint64_t version;
    MW_TRY(mw__pickle_take_number(r, 1, &version, err));
    return version >= 2 && version <= 5 ? MW_OK : mw__pickle_malformed(r, "its protocol is none of 2 to 5", err);
}

static mw_status skip_frame(mw__pickle_reader *r, mw_error *err)
{
    uint64_t length;
    return mw__pickle_take_number(r, 8, &length, err);
}

static mw_status from_mark(mw__pickle_reader *r, mw_status (*act)(mw__pickle_reader *, size_t, mw_error *),
                           mw_error *err)
{
    size_t begin;
    MW_TRY(mw__pickle_pop_mark(r, &begin, err));
    return act(r, begin, err);
}

static mw_status from_last(mw__pickle_reader *r, size_t count,
                           mw_status (*act)(mw__pickle_reader *, size_t, mw_error *), mw_error *err)
{
    if (r->depth - mw__pickle_floor(r) < count)
        return mw__pickle_malformed(r, "an opcode takes more than the stack has", err);
    return act(r, r->depth - count, err);
}

/* Opcodes of what is made of nothing. */
static mw_status run_value(mw__pickle_reader *r, unsigned char code, mw_error *err)
{
    switch (code) {
    case 'N':
        return mw__pickle_push_new(r, (mw__pickle_value){.kind = MW__PICKLE_NONE}, err);
    case 0x88: /* NEWTRUE */
    case 0x89: /* NEWFALSE */
        return mw__pickle_push_new(r, (mw__pickle_value){.kind = MW__PICKLE_BOOL, .number = code == 0x88}, err);
    case 'K':
        return mw__pickle_push_unsigned(r, 1, err);
    case 'M':
        return mw__pickle_push_unsigned(r, 2, err);
    case 'J':
        return mw__pickle_push_int32(r, err);
    case 0x8a: /* LONG1 */
        return mw__pickle_push_long(r, 1, err);
    case 0x8b: /* LONG4 */
        return mw__pickle_push_long(r, 4, err);
    case 'C': /* SHORT_BINBYTES */
        return mw__pickle_skip_bytes(r, 1, err);
    case 'B': /* BINBYTES */
        return mw__pickle_skip_bytes(r, 4, err);
    case 0x8e: /* BINBYTES8, BYTEARRAY8 */
    case 0x96:
        return mw__pickle_skip_bytes(r, 8, err);
    case 0x8f: /* EMPTY_SET */
        return mw__pickle_push_other(r, err);
    case 'G':
        return mw__pickle_push_float(r, err);
    case 'X':
        return mw__pickle_push_string(r, 4, err);
    case 0x8c: /* SHORT_BINUNICODE */
        return mw__pickle_push_string(r, 1, err);
    case 0x8d: /* BINUNICODE8 */
        return mw__pickle_push_string(r, 8, err);
    case ')':
        return mw__pickle_push_new(r, (mw__pickle_value){.kind = MW__PICKLE_TUPLE}, err);
    case ']':
        return mw__pickle_push_new(r, (mw__pickle_value){.kind = MW__PICKLE_LIST}, err);
    case '}':
        return mw__pickle_push_new(r, (mw__pickle_value){.kind = MW__PICKLE_DICT}, err);
    case 'c':
        return mw__pickle_push_global(r, err);
    default:
        return refuse_opcode(r, code, err);
    }
}

/* Opcodes that work on the stack. */
static mw_status run_stack_opcode(mw__pickle_reader *r, unsigned char code, mw_error *err)
{
    switch (code) {
    case 0x80: /* PROTO */
        return check_protocol(r, err);
    case 0x95: /* FRAME */
        return skip_frame(r, err);
    case '(':
        return mw__pickle_push_mark(r, err);
    case 't':
        return from_mark(r, mw__pickle_push_tuple, err);
    case 0x85: /* TUPLE1 .. 3 */
    case 0x86:
    case 0x87:
        return mw__pickle_push_small_tuple(r, code - 0x84u, err);
    case 'a':
        return from_last(r, 1, mw__pickle_append_items, err);
    case 'e':
        return from_mark(r, mw__pickle_append_items, err);
    case 's':
        return from_last(r, 2, mw__pickle_set_items, err);
    case 'u':
        return from_mark(r, mw__pickle_set_items, err);
    case 'q':
        return mw__pickle_put_memo_at(r, 1, err);
    case 'r':
        return mw__pickle_put_memo_at(r, 4, err);
    case 0x94: /* MEMOIZE */
        return mw__pickle_put_memo(r, r->memo_size, err);
    case 'h':
        return mw__pickle_get_memo(r, 1, err);
    case 'j':
        return mw__pickle_get_memo(r, 4, err);
    case 0x93: /* STACK_GLOBAL */
        return mw__pickle_push_stack_global(r, err);
    case 'R':
    case 0x81: /* NEWOBJ */
        return mw__pickle_call(r, false, err);
    case 0x92: /* NEWOBJ_EX */
        return mw__pickle_call(r, true, err);
    case '0':
        return mw__pickle_drop(r, err);
    case '1': /* POP_MARK */
        return from_mark(r, mw__pickle_drop_all, err);
    case 0x90: /* ADDITEMS */
        return from_mark(r, mw__pickle_add_items, err);
    case 0x91: /* FROZENSET */
        return from_mark(r, mw__pickle_push_frozenset, err);
    case 'b':
        return mw__pickle_build_object(r, err);
    case 'Q':
        return mw__pickle_push_persistent(r, err);
    case '.':
        r->stopped = true;
        return MW_OK;
    default:
        return run_value(r, code, err);
    }
}

static mw_status run_all(mw__pickle_reader *r, const mw__pickle_value **out, mw_error *err)
{
    while (!r->stopped) {
        const unsigned char *code;
        MW_TRY(mw__pickle_take(r, 1, &code, err));
        MW_TRY(run_stack_opcode(r, *code, err));
    }
    if (r->depth != 1 || r->mark_count != 0 || r->at != r->end)
        return mw__pickle_malformed(r, "it does not end with one value at the end of its bytes", err);
    *out = r->stack[0];
    return MW_OK;
}

mw_status mw__pickle_read(mw__arena *arena, const char *path, const unsigned char *text, size_t size,
                          const mw__pickle_value **out, mw_error *err)
{
    mw__pickle_reader r = {.arena = arena, .path = path, .begin = text, .at = text, .end = text + size};
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
