/* What trainable_role.c and trainable_beside.c share. Private to the two. */
#ifndef MW__GRAPH_TRANSFORM_TUNE_TRAINABLE_BESIDE_H
#define MW__GRAPH_TRANSFORM_TUNE_TRAINABLE_BESIDE_H

#include "graph/transform/tune/trainable.h"

bool mw__tune_is_one_of(const char *word, const char *const *words, size_t count);
bool mw__tune_is_made_by(const mw_tensor *value, const char *const *kinds, size_t count);

/* Whether a word is one of others, and whether an operation of one of these kinds makes a value. */
#define IS_ONE_OF(word, ...)                                                                                           \
    mw__tune_is_one_of(word, (const char *const[]){__VA_ARGS__},                                                       \
                       sizeof(const char *[]){__VA_ARGS__} / sizeof(const char *))
#define IS_MADE_BY(value, ...)                                                                                         \
    mw__tune_is_made_by(value, (const char *const[]){__VA_ARGS__},                                                     \
                        sizeof(const char *[]){__VA_ARGS__} / sizeof(const char *))

/* What the argument was before it was moved. */
const mw_tensor *mw__tune_argument_origin(const mw__op *op, const char *argument);
bool mw__tune_is_argument_fixed(const mw__op *op, const char *argument);
bool mw__tune_is_single(const mw_tensor *value);
/* One number that is repeated, as the zeros before the first step of a recurrent layer or the ones of a norm without
 * gamma: no weight but by its name. `own` is the form of `root` that is used. */
bool mw__tune_is_repeated(const mw_tensor *root, const mw_tensor *own);

/* Vectors beside a product with a weight, or beside a norm that is spelled out (a single number is none), and tables
 * beside an embedding. `root` is the constant, of which the argument is a form. */
mw_weight_role mw__tune_role_beside(const mw_tensor *root, const mw__use *const *uses, const mw__op *op,
                                    const char *argument);

#endif
