/* The generations of the ANE, a row each: names and limits. Code asks a row, never which chip it has.
 *
 * Sources: ANEForge, limits by chip; ane-guide (github.com/sbryngelson/ane-guide), appendix A and chapters 17, 24, 34;
 * the M6 study (github.com/751K/Apple-Neural-Engine-Microarchitecture-Study-M6), section 5.2, which swept M4 and M6.
 * Where they disagree, the row of legality*.c that asks says which it takes. */
#ifndef MW__RULES_CHIPS_H
#define MW__RULES_CHIPS_H

#include "base/visible.h"

#include <millwright/program.h>

typedef struct mw__chip_row {
    mw_chip chip;
    const char *name;          /* "h13" */
    const char *product;       /* "M1"; "" for dies that are in no M chip */
    bool has_arithmetic;       /* a profile of its own (arithmetic.def) */
    const char *called;        /* what people call it, with spaces around each: the M chips, and the A chips as Apple's
                                  compiler has them beside these (ane-guide, table 34.1) */
    const char *architectures; /* what Apple's compiler calls its dies, with spaces around each */
    bool runs_mil;             /* what is older takes networks in other forms only */
    /* extents of tensors */
    int rank_max;
    int64_t axis_max;      /* the longest axis of tensors of any rank but 4, and width and height of rank 4 */
    int64_t channels_max;  /* of rank 4 */
    int64_t batch_max;     /* of rank 4 */
    int64_t depth_max;     /* of volumes */
    int64_t transpose_max; /* of an axis that a transpose moves */
    int64_t argument_max;  /* of an axis whose largest element is asked for */
    /* windows */
    int64_t kernel_width_max; /* of a convolution, along the last axis, in fp16 */
    int64_t kernel_height_max, kernel_depth_max;
    int64_t kernel_width_default_max;                  /* the same in the default format */
    int64_t patch_width, patch_height, patch_depth;    /* what is read at once */
    int64_t kernel_square_coreml;                      /* of a convolution, a square that Core ML offers; 0 = none */
    int64_t pool_window_max;                           /* of pooling, along an axis */
    int64_t max_pool_width_max;                        /* of max_pool, along the last axis; 0 = not measured */
    int64_t inner_extent_max;                          /* of a matmul of two computed operands; 0 = not measured */
    int64_t reduction_transpose, group_decompose;      /* from where the compiler changes its route */
    int64_t kernel_memory, kernel_stream, working_set; /* bytes: weights that stay, that are streamed; values */
    int64_t lut_bytes;                                 /* of a table of an activation */
    /* support bytes of the compiler */
    bool has_texture_engine;     /* 0x81d: sampling, cropping, reflected pads */
    bool squares_reductions;     /* 0x494 */
    bool has_random;             /* 0x4a9: dropout and random numbers */
    bool has_sine;               /* operation floor A15 */
    bool has_sort;               /* operation floor A14: topk, argsort, positions that are computed */
    bool has_softmax, has_norms; /* 0x815, 0x816 */
    bool has_fp8;                /* 0x52d */
} mw__chip_row;

/* NULL for a chip that is not known; MW_CHIP_AUTO is a row of what every generation takes. */
MW__SIBLING const mw__chip_row *mw__chip_find(mw_chip chip);
/* The same into *out, or an error that says the number. */
MW__SIBLING mw_status mw__chip_find_known(mw_chip chip, const mw__chip_row **out, mw_error *err);
/* By the name of an architecture, "h13g"; in any case. NULL if there is none. */
MW__SIBLING const mw__chip_row *mw__chip_named(const char *architecture);
/* By what people call it: "m4", "a18", "h16", "h16g"; in any case. NULL if there is none. */
MW__SIBLING const mw__chip_row *mw__chip_called(const char *word);
/* The rows in order, MW_CHIP_AUTO first; NULL beyond the last. */
const mw__chip_row *mw__chip_at(size_t index);

#endif
