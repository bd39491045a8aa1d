/* Calling the functions of symbols.def by their rows. Only where pointers and numbers are equally wide: there all
 * arguments look alike. */
#ifndef TESTS_ENGINE_SURFACE_SYMBOL_CALL_H
#define TESTS_ENGINE_SURFACE_SYMBOL_CALL_H

#include <e5rt/e5rt.h>
#include <stdbool.h>

enum { SYMBOL_ARGUMENTS = 6 };

typedef enum argument_kind {
    ARGUMENT_NUMBER,
    ARGUMENT_HANDLE,
    ARGUMENT_ADDRESS, /* of one handle, or of several */
    ARGUMENT_OUT,     /* a place for an answer, or for several */
    ARGUMENT_TEXT,
    ARGUMENT_TEXTS,
    ARGUMENT_NUMBERS,
    ARGUMENT_MEMORY, /* or a function: nobody can check them */
} argument_kind;

typedef struct argument {
    argument_kind kind;
    char name[40];
} argument;

/* Those with known parameters, but for the one that returns a text. */
size_t symbol_call_count(void);
/* Without "e5rt_". */
const char *symbol_call_name(size_t row);
/* Returns how many there are. */
size_t symbol_call_arguments(size_t row, argument *out);
/* All of SYMBOL_ARGUMENTS are passed. */
e5rt_error_code symbol_call(size_t row, const uint64_t *values);

#endif
