/* Writing what was read. */
#ifndef MW__HWX_WRITE_H
#define MW__HWX_WRITE_H

#include "chip/hwx/hwx.h"

/* __TEXT,__const of a program of H13, right behind its tasks; NULL with MW_ERROR_UNSUPPORTED for any other file. */
const mw__hwx_section *mw__hwx_kernels_section(const mw_hwx *hwx, mw_error *err);

/* The program as a file of compiler 4, of the default allocator.
 *  kernel  64 hexadecimal digits for the names of its coefficients; NULL = those of the file, else a digest of them
 *  errors  MW_ERROR_UNSUPPORTED for what is no program of H13, or needs scratch memory or more than 32 bits of address
 */
mw_status mw__hwx_lay_out(const mw_hwx *hwx, const char *kernel, void **out, size_t *out_size, mw_error *err);

#endif
