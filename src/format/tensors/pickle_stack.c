/* The machine that runs pickles: its bytes, its stack with marks, and its memo. */
#include "format/tensors/pickle_reader.h"

mw_status mw__pickle_malformed(const mw__pickle_reader *r, const char *what, mw_error *err)
{
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": its pickle is not sound at byte %zu: %s", r->path,
                    (size_t)(r->at - r->begin), what);
}

/* ---- bytes ---- */

mw_status mw__pickle_take(mw__pickle_reader *r, size_t size, const unsigned char **out, mw_error *err)
{
    if ((size_t)(r->end - r->at) < size)
        return mw__pickle_malformed(r, "it is cut off", err);
    *out = r->at;
    r->at += size;
    return MW_OK;
}

mw_status mw__pickle_take_number(mw__pickle_reader *r, size_t size, uint64_t *out, mw_error *err)
{
    const unsigned char *bytes;
    MW_TRY(mw__pickle_take(r, size, &bytes, err));
    *out = 0;
    for (size_t i = size; i-- > 0;)
        *out = *out << 8 | bytes[i];
    return MW_OK;
}

/* ---- stack ---- */

mw_status mw__pickle_push(mw__pickle_reader *r, mw__pickle_value *value, mw_error *err)
{
    MW_TRY(mw__grow(r->arena->allocator, &r->stack, &r->stack_capacity, r->depth + 1, sizeof *r->stack, err));
    r->stack[r->depth++] = value;
    return MW_OK;
}

mw_status mw__pickle_push_new(mw__pickle_reader *r, mw__pickle_value fields, mw_error *err)
{
    mw__pickle_value *value = mw__arena_alloc(r->arena, 1, sizeof *value, err);
    if (value == NULL)
        return MW_ERROR_MEMORY;
    *value = fields;
    return mw__pickle_push(r, value, err);
}

mw_status mw__pickle_push_other(mw__pickle_reader *r, mw_error *err)
{
    return mw__pickle_push_new(r, (mw__pickle_value){.kind = MW__PICKLE_OTHER}, err);
}

/* Values above the last mark, or above the bottom, are what an opcode may take. */
size_t mw__pickle_floor(const mw__pickle_reader *r) { return r->mark_count > 0 ? r->marks[r->mark_count - 1] : 0; }

mw_status mw__pickle_pop(mw__pickle_reader *r, mw__pickle_value **out, mw_error *err)
{
    if (r->depth <= mw__pickle_floor(r))
        return mw__pickle_malformed(r, "an opcode takes more than the stack has", err);
    *out = r->stack[--r->depth];
    return MW_OK;
}

mw_status mw__pickle_top(mw__pickle_reader *r, mw__pickle_value **out, mw_error *err)
{
    MW_TRY(mw__pickle_pop(r, out, err));
    r->depth++;
    return MW_OK;
}

mw_status mw__pickle_pop_mark(mw__pickle_reader *r, size_t *out_begin, mw_error *err)
{
    if (r->mark_count == 0)
        return mw__pickle_malformed(r, "an opcode wants a mark, and there is none", err);
    *out_begin = r->marks[--r->mark_count];
    return MW_OK;
}

mw_status mw__pickle_push_mark(mw__pickle_reader *r, mw_error *err)
{
    MW_TRY(mw__grow(r->arena->allocator, &r->marks, &r->mark_capacity, r->mark_count + 1, sizeof *r->marks, err));
    r->marks[r->mark_count++] = r->depth;
    return MW_OK;
}

/* POP takes a value, or a mark that nothing was put on. */
mw_status mw__pickle_drop(mw__pickle_reader *r, mw_error *err)
{
    mw__pickle_value *value;
    if (r->mark_count > 0 && r->depth == mw__pickle_floor(r)) {
        r->mark_count--;
        return MW_OK;
    }
    return mw__pickle_pop(r, &value, err);
}

mw_status mw__pickle_drop_all(mw__pickle_reader *r, size_t begin, mw_error *err)
{
    (void)err;
    r->depth = begin;
    return MW_OK;
}

/* ---- memo ---- */

mw_status mw__pickle_put_memo(mw__pickle_reader *r, uint64_t index, mw_error *err)
{
    mw__pickle_value *value;
    MW_TRY(mw__pickle_top(r, &value, err));
    /* Writers count up; an index far beyond would only cost memory. */
    if (index > r->memo_size)
        return mw__pickle_malformed(r, "the memo has a gap", err);
    if (index == r->memo_size)
        MW_TRY(mw__grow(r->arena->allocator, &r->memo, &r->memo_capacity, ++r->memo_size, sizeof *r->memo, err));
    r->memo[index] = value;
    return MW_OK;
}

mw_status mw__pickle_get_memo(mw__pickle_reader *r, size_t bytes, mw_error *err)
{
    uint64_t index;
    MW_TRY(mw__pickle_take_number(r, bytes, &index, err));
    if (index >= r->memo_size)
        return mw__pickle_malformed(r, "the memo does not have what is taken from it", err);
    return mw__pickle_push(r, r->memo[index], err);
}

mw_status mw__pickle_put_memo_at(mw__pickle_reader *r, size_t bytes, mw_error *err)
{
    uint64_t index;
    MW_TRY(mw__pickle_take_number(r, bytes, &index, err));
    return mw__pickle_put_memo(r, index, err);
}
