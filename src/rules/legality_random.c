/* Rows of random numbers, images, recurrent networks and control. */
#include "rules/legality.h"

static bool lacks_texture_engine(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    (void)op;
    (void)trip;
    return !mw__legality_chip(legality)->has_texture_engine;
}

static const mw__legality_row rows[] = {
    {.id = "crop_resize",
     .operations = MW__OPERATIONS("crop_resize"),
     .chips = MW__ON_ALL,
     .stage = MW__STAGE_LOWERING,
     .op = mw__legality_always,
     .rule = "the ANE does not run it",
     .source = "operation sweep of ANEForge on the ANE; ane-guide, appendix A, has it from h14 on. Refusal is taken",
     .rewrite = MW__RULE_crop},
    MW__NO_CHIP("gru", recurrent_steps),
    MW__NO_CHIP("lstm", recurrent_steps),
    MW__NO_CHIP("rnn", recurrent_steps),
    MW__NO_CHIP("random_bernoulli", drawn),
    MW__NO_CHIP("random_categorical", NONE),
    MW__NO_CHIP("random_normal", drawn),
    {.id = "random_uniform",
     .operations = MW__OPERATIONS("random_uniform"),
     .chips = MW__ON_BELOW_H15,
     .stage = MW__STAGE_LOWERING,
     .op = mw__legality_always,
     .rule = "it came with h15 (M3)",
     .validator = "Dropout layer is not supported on this architecture.",
     .source = "ane-guide, appendix A, and chapter 24, support byte 0x4a9",
     .rewrite = MW__RULE_drawn},
    {.id = "random_uniform_sweep",
     .operations = MW__OPERATIONS("random_uniform"),
     .chips = MW__ON_FROM_H15,
     .stage = MW__STAGE_LOWERING,
     .verdict = MW__WARNED,
     .op = mw__legality_always,
     .rule = "it may not compile",
     .source = "ane-guide, appendix A: native from h15 on; ANEForge, operation sweep: does not run. It is let through"},
    {.id = "classify",
     .operations = MW__OPERATIONS("classify"),
     .chips = MW__ON_ALL,
     .stage = MW__STAGE_LOWERING,
     .op = mw__legality_always,
     .rule = "the ANE does not run it; mw_program_create writes it as the index of the largest probability",
     .source = "operation sweep of ANEForge on the ANE"},
    {.id = "sampling",
     .operations = MW__OPERATIONS("resample", "affine"),
     .chips = MW__ON_BELOW_H14,
     .op = lacks_texture_engine,
     .rule = "it came with the texture engine of h14 (M2)",
     .validator = "affine transform is not supported on this architecture",
     .source = "ane-guide, chapter 24, support byte 0x81d; ANEForge, operation floors",
     .rewrite = MW__RULE_sampling},
    {.id = "resize_software",
     .operations = MW__OPERATIONS("resize_bilinear", "resize_nearest_neighbor", "upsample_bilinear",
                                  "upsample_nearest_neighbor", "resize"),
     .chips = MW__ON_BELOW_H14,
     .stage = MW__STAGE_RUN,
     .verdict = MW__WARNED,
     .op = lacks_texture_engine,
     .rule = "it is resized without the texture engine of h14 (M2), and rounded otherwise",
     .source = "ane-guide, appendix A"},
};

const mw__legality_family mw__legality_random = {"other", rows, sizeof rows / sizeof *rows};
