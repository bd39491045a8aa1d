/* The choice between the rows of one kernel family. */
#include "engine/kernels/implementation.h"

#include "base/text/string_builder.h"

const char *mw__implementation_declines(const mw__implementation *row, const mw__config *config, const void *subject)
{
    static const char *const missing[MW__LEVELS] = {
        [MW__LEVEL_BASE] = "the reference is asked for",
        [MW__LEVEL_AVX2] = "the processor has no AVX2, or may not use it",
        [MW__LEVEL_AVX512] = "the processor has no AVX-512, or may not use it",
    };
    if (config->level < row->level)
        return missing[row->level];
    if (row->approximates && config->exact)
        return "sums of the products are asked for, by an option, the device or fp16";
    if (row->adds_freely && mw__config_sums(config) != MW__SUMS_FREE)
        return "products are added as on a chip";
    return row->declines != NULL ? row->declines(subject) : NULL;
}

const mw__implementation *mw__implementation_choose(mw__implementations list, const mw__config *config,
                                                    const void *subject)
{
    size_t at = 0;
    while (at + 1 < list.count && mw__implementation_declines(&list.rows[at], config, subject) != NULL)
        at++;
    return &list.rows[at];
}

const mw__implementation *mw__plan_implementation(mw__planner *planner, mw__implementations list, const void *subject)
{
    char text[512];
    mw__config exact = *mw__plan_config(planner);
    exact.exact = exact.exact || mw__plan_makes_half(planner);
    const mw__config *config = &exact;
    const mw__implementation *taken = mw__implementation_choose(list, config, subject);
    mw__string_builder builder = mw__string_builder_begin(text, sizeof text);
    for (size_t i = 0; &list.rows[i] < taken; i++) {
        mw__string_builder_puts(&builder, i > 0 ? "; " : "");
        mw__string_builder_puts(&builder, list.rows[i].name);
        mw__string_builder_puts(&builder, ": ");
        mw__string_builder_puts(&builder, mw__implementation_declines(&list.rows[i], config, subject));
    }
    mw__plan_note(planner, taken->name, text[0] != '\0' ? text : NULL);
    return taken;
}
