/* The opcodes of Python's pickle that checkpoints are written with, read as data. Nothing is imported or called: a
 * global is a name, and what the caller makes of `REDUCE` is its own. Dicts of the module collections are dicts. Every
 * other opcode is refused by its name.
 * source  CPython, Lib/pickletools.py (the opcodes), protocols 2 to 5 */
#ifndef MW__FORMAT_PICKLE_H
#define MW__FORMAT_PICKLE_H

#include "base/memory/alloc.h"

typedef enum mw__pickle_kind {
    MW__PICKLE_NONE = 1,
    MW__PICKLE_BOOL,
    MW__PICKLE_INT,
    MW__PICKLE_FLOAT,
    MW__PICKLE_STRING,
    MW__PICKLE_GLOBAL,     /* string: "torch FloatStorage" */
    MW__PICKLE_TUPLE,      /* cells of values */
    MW__PICKLE_LIST,       /* likewise */
    MW__PICKLE_DICT,       /* cells of keys and values */
    MW__PICKLE_PERSISTENT, /* argument: its id */
    MW__PICKLE_CALL, /* callee (a global) and argument (a tuple), which nobody makes; what is set of it is dropped */
    MW__PICKLE_OTHER /* bytes, sets, integers of more than 64 bits: no tensor is made of them */
} mw__pickle_kind;

typedef struct mw__pickle_value mw__pickle_value;

typedef struct mw__pickle_cell {
    const mw__pickle_value *key; /* of a dict */
    const mw__pickle_value *value;
    struct mw__pickle_cell *next;
} mw__pickle_cell;

struct mw__pickle_value {
    mw__pickle_kind kind;
    int64_t number;   /* INT, BOOL */
    const char *text; /* STRING, GLOBAL; NUL-terminated, without another NUL inside */
    mw__pickle_cell *first, *last;
    size_t count; /* cells */
    const mw__pickle_value *callee, *argument;
};

/* Reads text[0..size) into values that live in the arena: at most MW__PICKLE_BYTES_PER of it for each byte of text.
 *  path    for messages
 *  errors  MW_ERROR_FORMAT; MW_ERROR_UNSUPPORTED naming an opcode */
mw_status mw__pickle_read(mw__arena *arena, const char *path, const unsigned char *text, size_t size,
                          const mw__pickle_value **out, mw_error *err);

#define MW__PICKLE_BYTES_PER 128

/* A cell of a tuple or list by index; NULL if there is none. */
const mw__pickle_value *mw__pickle_at(const mw__pickle_value *sequence, size_t index);

#endif
