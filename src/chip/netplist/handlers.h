/* The writers and readers that rows of the table name. */
#ifndef MW__CHIP_NETPLIST_HANDLERS_H
#define MW__CHIP_NETPLIST_HANDLERS_H

#include "chip/netplist/netplist.h"

/* write_elementwise.c */
mw__net_write mw__net_write_unary, mw__net_write_binary, mw__net_write_linear_activation, mw__net_write_silu,
    mw__net_write_square, mw__net_write_relu6, mw__net_write_real_div, mw__net_write_exp, mw__net_write_log,
    mw__net_write_or_equal, mw__net_write_not, mw__net_write_alias;
/* write_layer.c */
mw__net_write mw__net_write_softmax, mw__net_write_pool, mw__net_write_reduce, mw__net_write_matmul,
    mw__net_write_linear, mw__net_write_conv, mw__net_write_attention, mw__net_write_sort, mw__net_write_topk,
    mw__net_write_arg, mw__net_write_lrn;
/* write_shape.c */
mw__net_write mw__net_write_transpose, mw__net_write_concat, mw__net_write_split, mw__net_write_slice,
    mw__net_write_slice_size, mw__net_write_reshape, mw__net_write_tile, mw__net_write_gather, mw__net_write_space,
    mw__net_write_batch_space;

/* read_elementwise.c */
mw__net_read mw__net_read_unary, mw__net_read_binary, mw__net_read_goc, mw__net_read_log2, mw__net_read_scaled,
    mw__net_read_identity, mw__net_read_min_max;
/* read_layer.c */
mw__net_read mw__net_read_softmax, mw__net_read_pool, mw__net_read_reduce, mw__net_read_matmul, mw__net_read_conv,
    mw__net_read_attention, mw__net_read_sort, mw__net_read_topk, mw__net_read_arg, mw__net_read_global_arg,
    mw__net_read_lrn;
/* read_shape.c */
mw__net_read mw__net_read_transpose, mw__net_read_concat, mw__net_read_view, mw__net_read_reshape, mw__net_read_flatten,
    mw__net_read_broadcast, mw__net_read_gather, mw__net_read_space;

/* A transpose, or what is left of it where x is one itself: two that undo each other are nothing. */
mw_tensor *mw__net_transposed(mw_tensor *x, const int64_t *perm, int rank);

#endif
