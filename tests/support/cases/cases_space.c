/* Cases of blocks between space, channels and batch. To cover a row: one builder if none fits, one line in the table.
 */
#include "support/cases/op_case_rows.h"

/* clang-format off */
BUILD(depth_to_space, mw_depth_to_space(in[0], 2))
BUILD(depth_to_space_1, mw_depth_to_space(in[0], 1))
BUILD(depth_to_space_3, mw_depth_to_space(in[0], 3))
BUILD(space_to_depth, mw_space_to_depth(in[0], 2))
BUILD(space_to_depth_3, mw_space_to_depth(in[0], 3))
BUILD(pixel_shuffle, mw_pixel_shuffle(in[0], 2))
BUILD(pixel_shuffle_3, mw_pixel_shuffle(in[0], 3))
BUILD(pixel_unshuffle, mw_pixel_unshuffle(in[0], 2))
BUILD(pixel_unshuffle_3, mw_pixel_unshuffle(in[0], 3))
BUILD(space_to_batch, mw_space_to_batch(in[0], (const int64_t[]){2, 3}, (const int64_t[]){0, 0, 0, 0}))
BUILD(space_to_batch_pad, mw_space_to_batch(in[0], (const int64_t[]){2, 3}, (const int64_t[]){1, 0, 2, 3}))
BUILD(space_to_batch_bottom, mw_space_to_batch(in[0], (const int64_t[]){3, 1}, (const int64_t[]){0, 4, 0, 0}))
BUILD(batch_to_space, mw_batch_to_space(in[0], (const int64_t[]){2, 3}, (const int64_t[]){0, 0, 0, 0}))
BUILD(batch_to_space_crop, mw_batch_to_space(in[0], (const int64_t[]){2, 3}, (const int64_t[]){1, 0, 2, 3}))
BUILD(batch_to_space_rows, mw_batch_to_space(in[0], (const int64_t[]){1, 2}, (const int64_t[]){0, 1, 1, 0}))

static const op_case rows[] = {
    EXACT("depth_to_space", "", b_depth_to_space, F(4, -2, 2, 2, 8, 3, 5)),
    EXACT("depth_to_space", "block 1", b_depth_to_space_1, F(4, -2, 2, 2, 3, 3, 5)),
    EXACT("depth_to_space", "block 3", b_depth_to_space_3, F(4, -2, 2, 1, 18, 2, 3)),
    EXACT("depth_to_space", "bool", b_depth_to_space, B(4, 2, 8, 3, 5)),
    EXACT("space_to_depth", "", b_space_to_depth, F(4, -2, 2, 2, 3, 6, 4)),
    EXACT("space_to_depth", "block 3", b_space_to_depth_3, F(4, -2, 2, 2, 1, 6, 9)),
    EXACT("space_to_depth", "int32", b_space_to_depth, I(4, -9, 9, 2, 3, 6, 4)),
    EXACT("pixel_shuffle", "", b_pixel_shuffle, F(4, -2, 2, 2, 8, 3, 5)),
    EXACT("pixel_shuffle", "factor 3", b_pixel_shuffle_3, F(4, -2, 2, 1, 18, 2, 3)),
    EXACT("pixel_shuffle", "int32", b_pixel_shuffle, I(4, -9, 9, 2, 8, 3, 5)),
    EXACT("pixel_unshuffle", "", b_pixel_unshuffle, F(4, -2, 2, 2, 3, 6, 4)),
    EXACT("pixel_unshuffle", "factor 3", b_pixel_unshuffle_3, F(4, -2, 2, 2, 1, 6, 9)),
    EXACT("pixel_unshuffle", "bool", b_pixel_unshuffle, B(4, 2, 3, 6, 4)),
    EXACT("space_to_batch", "", b_space_to_batch, F(4, -2, 2, 2, 3, 4, 6)),
    EXACT("space_to_batch", "padded", b_space_to_batch_pad, F(4, -2, 2, 2, 3, 5, 4)),
    EXACT("space_to_batch", "rows only", b_space_to_batch_bottom, F(4, -2, 2, 2, 3, 2, 4)),
    EXACT("space_to_batch", "int32", b_space_to_batch_pad, I(4, -9, 9, 2, 3, 5, 4)),
    EXACT("batch_to_space", "", b_batch_to_space, F(4, -2, 2, 12, 2, 3, 4)),
    EXACT("batch_to_space", "cropped", b_batch_to_space_crop, F(4, -2, 2, 12, 2, 3, 4)),
    EXACT("batch_to_space", "columns only", b_batch_to_space_rows, F(4, -2, 2, 4, 2, 3, 4)),
    EXACT("batch_to_space", "bool", b_batch_to_space_crop, B(4, 12, 2, 3, 4)),
};
/* clang-format on */

OP_CASES(space, rows)
