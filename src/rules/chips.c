/* The rows of chips.h. */
#include "rules/chips.h"

#include "base/text/error.h"

#include <string.h>
#include <strings.h>

#define KIB(count) ((int64_t)(count)*1024)

/* What no generation changes. */
#define SHARED                                                                                                         \
    .rank_max = 5, .channels_max = 65536, .argument_max = 2048, .kernel_memory = KIB(64), .kernel_stream = KIB(16384), \
    .working_set = KIB(2048)
/* Before MIL. */
#define OLDER                                                                                                          \
    .runs_mil = false, .axis_max = 16384, .batch_max = 4096, .depth_max = 1, .transpose_max = 0,                       \
    .kernel_width_max = 13, .kernel_height_max = 29, .kernel_depth_max = 1, .kernel_width_default_max = 29,            \
    .patch_width = 15, .patch_height = 15, .patch_depth = 0, .pool_window_max = 29, .reduction_transpose = 0,          \
    .group_decompose = 64, .lut_bytes = 150
/* From h13 on; what no chip is named for has it too. */
#define FROM_H13                                                                                                       \
    .runs_mil = true, .batch_max = 65536, .kernel_depth_max = 16, .patch_depth = 15, .group_decompose = 2048,          \
    .lut_bytes = 86, .has_softmax = true, .has_norms = true
/* From h14 on. */
#define FROM_H14                                                                                                       \
    .kernel_width_max = 15, .kernel_width_default_max = 32, .patch_width = 31, .patch_height = 31,                     \
    .pool_window_max = 31, .has_texture_engine = true, .squares_reductions = true, .has_sort = true
/* From h14 on where the ane-guide alone says how long a window may be, and where M4 and M6 were swept. */
#define NOT_SWEPT .kernel_height_max = 32
#define SWEPT     .kernel_height_max = 31, .kernel_square_coreml = 16, .max_pool_width_max = 8, .inner_extent_max = 32768
/* From h16 on. */
#define FROM_H16                                                                                                       \
    .axis_max = 65536, .depth_max = 65536, .transpose_max = 65536, .reduction_transpose = 384, .has_random = true,     \
    .has_sine = true

/* Of h18 and h19 nothing is measured: h18 has the limits of h16, with which ANEForge has it in one family, h19 those of
 * h18g, whose programs have one version; both have fp8 (ane-guide, chapter 24). */
static const mw__chip_row rows[] = {
    {.chip = MW_CHIP_AUTO,
     .name = "any",
     .product = "every chip",
     .architectures = "",
     .axis_max = 16384,
     .depth_max = 16384,
     .transpose_max = 16384,
     .kernel_width_max = 15,
     .kernel_height_max = 29,
     .kernel_width_default_max = 29,
     .patch_width = 28,
     .patch_height = 28,
     .pool_window_max = 29,
     .reduction_transpose = 192,
     SHARED,
     FROM_H13},
    {.chip = MW_CHIP_H11, .name = "h11", .product = "", .architectures = " h11 ", SHARED, OLDER},
    {.chip = MW_CHIP_H12, .name = "h12", .product = "", .architectures = " h12 m9 t0 ", SHARED, OLDER},
    {.chip = MW_CHIP_H13,
     .name = "h13",
     .called = " m1 a13 ",
     .has_arithmetic = true,
     .product = "M1",
     .architectures = " h13 h13g t1 ",
     .axis_max = 16384,
     .depth_max = 16384,
     .transpose_max = 16384,
     .kernel_width_max = 13,
     .kernel_height_max = 29,
     .kernel_width_default_max = 29,
     .patch_width = 28,
     .patch_height = 28,
     .pool_window_max = 29,
     .reduction_transpose = 192,
     SHARED,
     FROM_H13},
    {.chip = MW_CHIP_H14,
     .name = "h14",
     .called = " m2 a14 ",
     .has_arithmetic = true,
     .product = "M2",
     .architectures = " h14 h14g h14c ",
     .axis_max = 16384,
     .depth_max = 16384,
     .transpose_max = 16384,
     .reduction_transpose = 192,
     SHARED,
     FROM_H13,
     FROM_H14,
     NOT_SWEPT},
    {.chip = MW_CHIP_H15,
     .name = "h15",
     .called = " m3 a15 ",
     .has_arithmetic = true,
     .product = "M3",
     .architectures = " h15 h15g h15c m11 ",
     .axis_max = 16384,
     .depth_max = 16384,
     .transpose_max = 16384,
     .reduction_transpose = 384,
     .has_random = true,
     .has_sine = true,
     SHARED,
     FROM_H13,
     FROM_H14,
     NOT_SWEPT},
    {.chip = MW_CHIP_H16,
     .name = "h16",
     .called = " m4 a16 ",
     .has_arithmetic = true,
     .product = "M4",
     .architectures = " h16 h16g h16c h16s ",
     SHARED,
     FROM_H13,
     FROM_H14,
     SWEPT,
     FROM_H16},
    {.chip = MW_CHIP_H17,
     .name = "h17",
     .called = " m5 a17 ",
     .has_arithmetic = true,
     .product = "M5",
     .architectures = " h17 h17a h17g h17s h17c h17d ",
     SHARED,
     FROM_H13,
     FROM_H14,
     NOT_SWEPT,
     FROM_H16},
    {.chip = MW_CHIP_H18,
     .name = "h18",
     .called = " a18 ",
     .product = "",
     .architectures = " h18 ",
     .has_fp8 = true,
     SHARED,
     FROM_H13,
     FROM_H14,
     SWEPT,
     FROM_H16},
    {.chip = MW_CHIP_H18G,
     .name = "h18g",
     .called = " m6 ",
     .has_arithmetic = true,
     .product = "M6",
     .architectures = " h18g ",
     .has_fp8 = true,
     SHARED,
     FROM_H13,
     FROM_H14,
     SWEPT,
     FROM_H16},
    {.chip = MW_CHIP_H19,
     .name = "h19",
     .product = "",
     .architectures = " h19 ",
     .has_fp8 = true,
     SHARED,
     FROM_H13,
     FROM_H14,
     SWEPT,
     FROM_H16},
};

#define ROW_COUNT (sizeof rows / sizeof *rows)

const mw__chip_row *mw__chip_at(size_t index) { return index < ROW_COUNT ? &rows[index] : NULL; }

const mw__chip_row *mw__chip_find(mw_chip chip)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (rows[i].chip == chip)
            return &rows[i];
    return NULL;
}

/* True if the list has the word. */
static bool names(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; *at != '\0'; at++)
        if (*at == ' ' && strncasecmp(at + 1, word, length) == 0 && at[1 + length] == ' ')
            return true;
    return false;
}

mw_status mw__chip_find_known(mw_chip chip, const mw__chip_row **out, mw_error *err)
{
    *out = mw__chip_find(chip);
    return *out != NULL ? MW_OK : mw__fail(err, MW_ERROR_ARGUMENT, "unknown chip %d", (int)chip);
}

const mw__chip_row *mw__chip_called(const char *word)
{
    for (size_t i = 0; i < ROW_COUNT && strchr(word, ' ') == NULL; i++)
        if (strcasecmp(rows[i].name, word) == 0 || (rows[i].called != NULL && names(rows[i].called, word)))
            return &rows[i];
    return word[0] == 'h' || word[0] == 'H' ? mw__chip_named(word) : NULL; /* m9 and t1 are dies, and no M9 */
}

const mw__chip_row *mw__chip_named(const char *architecture)
{
    for (size_t i = 0; i < ROW_COUNT && architecture[0] != '\0' && strchr(architecture, ' ') == NULL; i++)
        if (names(rows[i].architectures, architecture))
            return &rows[i];
    return NULL;
}
