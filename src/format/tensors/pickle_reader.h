/* What the files of the reader of pickles share: the bytes, the stack with its marks, and the memo. */
#ifndef MW__FORMAT_PICKLE_READER_H
#define MW__FORMAT_PICKLE_READER_H

#include "format/tensors/pickle.h"

typedef struct mw__pickle_reader {
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
} mw__pickle_reader;

/* ---- pickle_stack.c ---- */

/* MW_ERROR_FORMAT with the place and `what`. */
mw_status mw__pickle_malformed(const mw__pickle_reader *r, const char *what, mw_error *err);
mw_status mw__pickle_take(mw__pickle_reader *r, size_t size, const unsigned char **out, mw_error *err);
mw_status mw__pickle_take_number(mw__pickle_reader *r, size_t size, uint64_t *out, mw_error *err);
mw_status mw__pickle_push(mw__pickle_reader *r, mw__pickle_value *value, mw_error *err);
mw_status mw__pickle_push_new(mw__pickle_reader *r, mw__pickle_value fields, mw_error *err);
mw_status mw__pickle_push_other(mw__pickle_reader *r, mw_error *err);
mw_status mw__pickle_pop(mw__pickle_reader *r, mw__pickle_value **out, mw_error *err);
mw_status mw__pickle_top(mw__pickle_reader *r, mw__pickle_value **out, mw_error *err);
mw_status mw__pickle_pop_mark(mw__pickle_reader *r, size_t *out_begin, mw_error *err);
mw_status mw__pickle_push_mark(mw__pickle_reader *r, mw_error *err);
mw_status mw__pickle_drop(mw__pickle_reader *r, mw_error *err);
mw_status mw__pickle_get_memo(mw__pickle_reader *r, size_t bytes, mw_error *err);
mw_status mw__pickle_put_memo_at(mw__pickle_reader *r, size_t bytes, mw_error *err);
/* Values above the last mark, or above the bottom, are what an opcode may take. */
size_t mw__pickle_floor(const mw__pickle_reader *r);
/* Drops what lies above `begin`. */
mw_status mw__pickle_drop_all(mw__pickle_reader *r, size_t begin, mw_error *err);
/* The topmost value gets that place in the memo. */
mw_status mw__pickle_put_memo(mw__pickle_reader *r, uint64_t index, mw_error *err);

/* ---- pickle_values.c: what opcodes make; `begin` is where on the stack their operands begin ---- */

mw_status mw__pickle_push_tuple(mw__pickle_reader *r, size_t begin, mw_error *err);
mw_status mw__pickle_push_small_tuple(mw__pickle_reader *r, size_t count, mw_error *err);
mw_status mw__pickle_set_items(mw__pickle_reader *r, size_t begin, mw_error *err);
mw_status mw__pickle_add_items(mw__pickle_reader *r, size_t begin, mw_error *err);
mw_status mw__pickle_push_frozenset(mw__pickle_reader *r, size_t begin, mw_error *err);
mw_status mw__pickle_append_items(mw__pickle_reader *r, size_t begin, mw_error *err);
mw_status mw__pickle_push_string(mw__pickle_reader *r, size_t length_bytes, mw_error *err);
mw_status mw__pickle_skip_bytes(mw__pickle_reader *r, size_t length_bytes, mw_error *err);
mw_status mw__pickle_push_global(mw__pickle_reader *r, mw_error *err);
mw_status mw__pickle_push_stack_global(mw__pickle_reader *r, mw_error *err);
mw_status mw__pickle_push_unsigned(mw__pickle_reader *r, size_t bytes, mw_error *err);
mw_status mw__pickle_push_int32(mw__pickle_reader *r, mw_error *err);
mw_status mw__pickle_push_long(mw__pickle_reader *r, size_t length_bytes, mw_error *err);
mw_status mw__pickle_push_float(mw__pickle_reader *r, mw_error *err);
mw_status mw__pickle_call(mw__pickle_reader *r, bool has_keywords, mw_error *err);
mw_status mw__pickle_build_object(mw__pickle_reader *r, mw_error *err);
mw_status mw__pickle_push_persistent(mw__pickle_reader *r, mw_error *err);

#endif
