/* Programs that were made here as files. */
#ifndef MW__HWX_PACK_H
#define MW__HWX_PACK_H

#include "chip/task/emit.h"

/* Strings that a file carries and nothing depends on. */
typedef struct mw__hwx_names {
    const char *procedure; /* "net" */
    const char *ident;     /* how it was compiled */
    const char *kernel;    /* 64 hexadecimal digits, of the symbols of coefficients; NULL: a digest of them */
} mw__hwx_names;

/* The program as a .hwx of compiler 4, of the default allocator.
 * errors  MW_ERROR_UNSUPPORTED for ports beyond 32 bits of addresses; MW_ERROR_MEMORY */
mw_status mw__hwx_pack(const mw__emit_operation *operation, const mw__emit_program *program, const mw__hwx_names *names,
                       void **out, size_t *out_size, mw_error *err);

#endif
