/* The e5rt functions as a table of pointers, so that Espresso, the engine and any other e5rt library are called alike.
 */
#ifndef MW__RUNTIME_SYMBOLS_H
#define MW__RUNTIME_SYMBOLS_H

#include "base/text/error.h"
#include <e5rt/e5rt.h>
#include <millwright/program.h>

/* One pointer a row, named without "e5rt_"; an OPTIONAL one may be NULL. Copied freely. */
typedef struct mw__symbols {
#define MW_SYMBOL(name, need) __typeof__(&e5rt_##name) name;
#include "runtime/dispatch/e5rt_symbols.def"
#undef MW_SYMBOL
    mw_provider provider; /* never AUTO; ENGINE is the code in this library */
    bool foreign;         /* from MW_E5RT_LIBRARY: neither of the two */
} mw__symbols;

/* Fills the table. AUTO: the library that the environment variable MW_E5RT_LIBRARY names, else Espresso on a Mac, else
 * the engine.
 *  errors  MW_ERROR_DEVICE if the library cannot be loaded or lacks a required symbol (named),
 *          MW_ERROR_UNSUPPORTED for Espresso on another system */
mw_status mw__symbols_load(mw__symbols *out, mw_provider provider, mw_error *err);

/* MW_OK for code 0; else raises with what could not be done, the library's own text, and the function's name last. */
mw_status mw__symbols_check(const mw__symbols *symbols, e5rt_error_code code, const char *what, mw_error *err);

/* Also that of libmillwright_e5rt: it has what Espresso lacks. */
static inline bool mw__symbols_are_engine(const mw__symbols *symbols)
{
    return symbols->mw_e5_compiler_options_set_private != NULL;
}

/* Calls a row and passes a failure up. */
#define MW__E5RT(symbols, name, ...) mw__symbols_check((symbols), (symbols)->name(__VA_ARGS__), "e5rt_" #name, err)

#endif
