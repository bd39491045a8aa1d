/* The models by which the M6 study swept M4 and M6, made again from their names: one operation each, on the shapes that
 * the study's generator gives it. What was found stays in the study's tables, which a test reads. */
#ifndef TESTS_SUPPORT_CHIP_SWEPT_MODELS_H
#define TESTS_SUPPORT_CHIP_SWEPT_MODELS_H

#include <stdbool.h>
#include <stddef.h>

enum { SWEPT_PARTS = 2 };

/* Of a model that is offered in part: what the table calls a part, and the results of its operations. */
typedef struct swept_part {
    const char *called, *results;
} swept_part;

typedef struct swept_model {
    const char *name, *inputs, *body; /* as legality_text takes them; the last result is y */
    swept_part parts[SWEPT_PARTS];
} swept_model;

/* The row of a name; NULL if there is none. */
const swept_model *swept_model_row(const char *name);

/* A row, or what the numbers of the name say: "conv_k1x9_valid", "sw_maxpool_k13", "relu_w65537". */
typedef struct swept_text {
    char inputs[256], body[2048];
    const swept_part *parts; /* SWEPT_PARTS of them; of a name with numbers NULL */
} swept_text;

/* False if no such model is known. */
bool swept_text_make(const char *name, swept_text *out);

#endif
