/* Writing what was read. */
#ifndef MW__HWX_WRITE_H
#define MW__HWX_WRITE_H

#include "chip/hwx/hwx.h"

/* The word before the values of a record. */
uint32_t mw__hwx_record_word(const mw__hwx_record *record, bool h13);

#endif
