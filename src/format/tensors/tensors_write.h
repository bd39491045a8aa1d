/* Writing files of tensors, with an allocator. */
#ifndef MW__FORMAT_TENSORS_WRITE_H
#define MW__FORMAT_TENSORS_WRITE_H

#include "base/memory/alloc.h"
#include <millwright/tensors.h>

/* As mw_tensors_write. */
mw_status mw__tensors_write(const mw_allocator *allocator, const char *path, const mw_tensor_values *tensors,
                            size_t count, mw_error *err);

#endif
