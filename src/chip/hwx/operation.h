/* What a task of H13 computes, in a few words, where its registers leave no doubt. */
#ifndef MW__HWX_OPERATION_H
#define MW__HWX_OPERATION_H

#include "chip/hwx/hwx.h"

/* "relu", "add", "conv 3x3 of 64 to 64 channels, bias"; `out` is empty where the registers say more than is known. */
void mw__hwx_operation(const mw_hwx *hwx, size_t task, char out[96]);

#endif
