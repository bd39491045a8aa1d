/* Programs that the encoder wrote, and changes of their words. */
#ifndef TESTS_CHIP_HWX_HWX_MADE_H
#define TESTS_CHIP_HWX_HWX_MADE_H

#include "chip/hwx/hwx_file.h"
#include "chip/task/emit.h"

/* Writes and opens it; ports x, z and y. False after a note. */
bool hwx_made_open(hwx_file *file, const mw__emit_operation *op);

mw__emit_operation hwx_made_unary(mw__emit_kind kind, mw__emit_extent extent);
mw__emit_operation hwx_made_binary(unsigned planar, mw__emit_extent extent);
mw__emit_operation hwx_made_conv(mw__emit_extent in, int64_t outputs, int64_t kernel, int64_t pad,
                                 const uint16_t *weights, const uint16_t *bias);

/* Words of the one task. */
void hwx_made_put(hwx_file *file, mw__register_id id, unsigned index, uint32_t value);
void hwx_made_field(hwx_file *file, mw__field_id id, uint32_t value);
uint32_t hwx_made_get(const hwx_file *file, mw__register_id id);

/* Numbers in (-4, 4) that are fp16, the same each time from a seed. */
void hwx_made_seed(uint64_t seed);
double hwx_made_number(void);
void hwx_made_fill(hwx_file *file);
uint16_t *hwx_made_weights(size_t count, double *out_values); /* freed by the caller */

#endif
