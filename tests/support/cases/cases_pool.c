/* Cases of ops/pool.def. To cover a row: one builder if none fits, one line in the table. */
#include "support/cases/op_case_rows.h"

/* kernel, stride, padding (`after` of MW_PAD_CUSTOM) of every axis */
static mw_pool_options windows(mw_shape kernel, int64_t stride, mw_pad_type type, int64_t before, int64_t after)
{
    mw_pool_options options = mw_pool_defaults(kernel);
    options.pad_type = type;
    for (int i = 0; i < kernel.rank; i++)
        options.stride[i] = stride, options.pad[2 * i] = before, options.pad[2 * i + 1] = after;
    return options;
}

static mw_pool_options ceiling(mw_pool_options options) { return options.ceil_mode = true, options; }
static mw_pool_options excluding(mw_pool_options options) { return options.exclude_padding = true, options; }

#define POOL(name, operation, ...)                                                                                     \
    static mw_tensor *b_##name(mw_tensor *const *in)                                                                   \
    {                                                                                                                  \
        const mw_pool_options options = __VA_ARGS__;                                                                   \
        return mw_##operation(in[0], &options);                                                                        \
    }
/* The same windows for each operation. */
#define POOLS(name, ...)                                                                                               \
    POOL(max_##name, max_pool, __VA_ARGS__)                                                                            \
    POOL(avg_##name, avg_pool, __VA_ARGS__)                                                                            \
    POOL(in_##name, avg_pool, excluding(__VA_ARGS__))                                                                  \
    POOL(l2_##name, l2_pool, __VA_ARGS__)

/* clang-format off */
#define K MW_SHAPE
POOLS(line,    windows(K(3), 1, MW_PAD_VALID, 0, 0))
POOLS(apart,   windows(K(2), 3, MW_PAD_VALID, 0, 0))
POOLS(halves,  windows(K(2, 2), 2, MW_PAD_VALID, 0, 0))
POOLS(overlap, windows(K(3, 2), 2, MW_PAD_VALID, 0, 0))
POOLS(same,    windows(K(3, 2), 1, MW_PAD_SAME, 0, 0))
POOLS(same2,   windows(K(3, 4), 2, MW_PAD_SAME, 0, 0))
POOLS(lower,   windows(K(2, 3), 2, MW_PAD_SAME_LOWER, 0, 0))
POOLS(custom,  windows(K(3, 3), 2, MW_PAD_CUSTOM, 1, 2))
POOLS(wide,    windows(K(5, 4), 3, MW_PAD_CUSTOM, 2, 0))
POOLS(whole,   windows(K(5, 6), 1, MW_PAD_VALID, 0, 0))
POOLS(border,  windows(K(2), 1, MW_PAD_CUSTOM, 1, 1))
POOLS(ceil,    ceiling(windows(K(2, 3), 2, MW_PAD_CUSTOM, 1, 1)))
POOLS(ceil0,   ceiling(windows(K(2), 2, MW_PAD_VALID, 0, 0)))
POOL(max_cube, max_pool, windows(K(2, 3, 2), 2, MW_PAD_CUSTOM, 1, 0))
POOL(avg_cube, avg_pool, windows(K(2, 3, 2), 2, MW_PAD_CUSTOM, 1, 0))
POOL(in_cube, avg_pool, excluding(windows(K(2, 3, 2), 2, MW_PAD_CUSTOM, 1, 0)))
POOL(max_outside, max_pool, windows(K(1), 1, MW_PAD_VALID, 0, 0))
POOL(avg_outside, avg_pool, excluding(windows(K(2), 1, MW_PAD_CUSTOM, 3, 2)))
/* clang-format on */

#define ALL(detail, name, ...)                                                                                         \
    EXACT("max_pool", detail, b_max_##name, __VA_ARGS__), EXACT("avg_pool", detail, b_avg_##name, __VA_ARGS__),        \
        EXACT("avg_pool", detail ", inside", b_in_##name, __VA_ARGS__),                                                \
        EXACT("l2_pool", detail, b_l2_##name, __VA_ARGS__)

/* clang-format off */
static const op_case rows[] = {
    ALL("line", line, F(3, -2, 2, 2, 3, 9)),
    ALL("stride beyond the kernel", apart, F(3, -2, 2, 2, 1, 10)),
    ALL("halves", halves, F(4, -2, 2, 2, 3, 6, 8)),
    ALL("halves, a rest", halves, F(4, -2, 2, 1, 2, 7, 5)),
    ALL("overlap", overlap, F(4, -2, 2, 1, 2, 7, 8)),
    ALL("same", same, F(4, -2, 2, 1, 2, 5, 6)),
    ALL("same, stride 2", same2, F(4, -2, 2, 1, 2, 6, 7)),
    ALL("same_lower", lower, F(4, -2, 2, 1, 2, 5, 6)),
    ALL("custom", custom, F(4, -2, 2, 1, 2, 5, 6)),
    ALL("wide", wide, F(4, -2, 2, 1, 1, 8, 9)),
    ALL("one window", whole, F(4, -2, 2, 2, 1, 5, 6)),
    ALL("border", border, F(3, -2, 2, 1, 2, 5)),
    ALL("ceil_mode", ceil, F(4, -2, 2, 1, 2, 6, 7)),
    ALL("ceil_mode, unpadded", ceil0, F(3, -2, 2, 1, 2, 7)),
    EXACT("max_pool", "cube", b_max_cube, F(5, -2, 2, 1, 2, 4, 5, 3)),
    EXACT("avg_pool", "cube", b_avg_cube, F(5, -2, 2, 1, 2, 4, 5, 3)),
    EXACT("avg_pool", "cube, inside", b_in_cube, F(5, -2, 2, 1, 2, 4, 5, 3)),
    EXACT("max_pool", "kernel 1", b_max_outside, F(3, -2, 2, 1, 2, 5)),
    EXACT("avg_pool", "windows of padding alone", b_avg_outside, F(3, -2, 2, 1, 2, 4)),
};
/* clang-format on */

OP_CASES(pool, rows)
