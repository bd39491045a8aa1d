/* Tasks as lines or JSON, and the version of their descriptors. */
#ifndef MW__HWX_SHOW_TASK_H
#define MW__HWX_SHOW_TASK_H

#include "chip/hwx/hwx.h"
#include "chip/hwx/out.h"

void mw__hwx_show_version(mw__hwx_out *out, const mw_hwx *hwx);
void mw__hwx_show_tasks(mw__hwx_out *out, const mw_hwx *hwx);

#endif
