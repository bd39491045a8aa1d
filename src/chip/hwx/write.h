/* Writing what was read. */
#ifndef MW__HWX_WRITE_H
#define MW__HWX_WRITE_H

#include "chip/hwx/hwx.h"

/* The word before the values of a record. */
uint32_t mw__hwx_record_word(const mw__hwx_record *record, bool h13);

/* __TEXT,__const of a program of H13, right behind its tasks; NULL with MW_ERROR_UNSUPPORTED for any other file. */
const mw__hwx_section *mw__hwx_kernels_section(const mw_hwx *hwx, mw_error *err);

#endif
