/* The rows of src/engine/surface/symbols.def, as data. */
#ifndef TESTS_ENGINE_SURFACE_SYMBOL_ROWS_H
#define TESTS_ENGINE_SURFACE_SYMBOL_ROWS_H

#include <stddef.h>

typedef enum symbol_state { SYMBOL_GROUP, SYMBOL_HAS, SYMBOL_TEXT, SYMBOL_ABSENT, SYMBOL_UNKNOWN } symbol_state;

typedef struct symbol_row {
    symbol_state state;
    const char *name; /* with "e5rt_"; of a group: of the kind of object */
    const char *parameters, *confidence, *source, *what;
} symbol_row;

extern const symbol_row symbol_rows[];
extern const size_t symbol_count;

#endif
