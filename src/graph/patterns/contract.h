/* A contraction of any number of tensors: an equation of letters (einsum), and its steps as operations. What
 * mw_contract and the operator Einsum of ONNX are made of. */
#ifndef MW__GRAPH_PATTERNS_CONTRACT_H
#define MW__GRAPH_PATTERNS_CONTRACT_H

#include "graph/ir/ir.h"

enum {
    MW__CONTRACTION_OPERANDS = 32, /* at most */
    MW__CONTRACTION_DOTS = 52,     /* the labels below are letters, "A" to "Z" and "a" to "z" */
    MW__CONTRACTION_LABELS = MW__CONTRACTION_DOTS + MW_RANK_MAX /* those above axes of "...", the last one the last */
};

/* Labels as a set. */
typedef uint64_t mw__label_set;
#define MW__LABEL_BIT(label) ((mw__label_set)1 << (label))

/* The labels of a tensor, axis by axis. */
typedef struct mw__contraction_term {
    int rank;
    int label[MW_RANK_MAX];
} mw__contraction_term;

typedef struct mw__contraction {
    size_t count;
    mw__contraction_term term[MW__CONTRACTION_OPERANDS]; /* of the operands; a label may stand in one twice */
    mw__contraction_term result;
    int64_t extent[MW__CONTRACTION_LABELS]; /* MW_DIM_UNKNOWN if every operand that decides has an unknown one */
} mw__contraction;

mw__label_set mw__contraction_labels(const mw__contraction_term *term);

/* Reads an equation for operands of these shapes.
 *  errors  MW_ERROR_ARGUMENT for what is no equation, with the place in it; MW_ERROR_SHAPE if the shapes do not fit */
mw_status mw__contraction_read(const char *equation, const mw_shape *shapes, size_t count, mw__contraction *out,
                               mw_error *err);

/* Appends the operations. NULL if one of them failed, or an intermediate tensor would have more than MW_RANK_MAX axes
 * in every order; the graph has the error. */
mw_tensor *mw__contraction_build(const mw__contraction *contraction, mw_tensor *const *operands);

/* ---- its parts ---- */

/* A tensor on the way, with its labels, each once. */
typedef struct mw__contraction_piece {
    mw_tensor *x;
    mw__contraction_term term;
} mw__contraction_piece;

/* Which two pieces to contract next: the sets of labels of `count` pieces, those to keep. *out_first < *out_second.
 * false if no two can be contracted within MW_RANK_MAX axes. */
bool mw__contraction_choose(const mw__contraction *contraction, const mw__label_set *sets, size_t count,
                            size_t *out_first, size_t *out_second);

/* The sum over the labels of both that `keep` lacks of their product. */
mw__contraction_piece mw__contraction_pair(const mw__contraction *contraction, mw__contraction_piece a,
                                           mw__contraction_piece b, mw__label_set keep);

/* x with its axes in the order of `wanted`, of extent 1 where x lacks a label. */
mw_tensor *mw__contraction_arrange(mw__contraction_piece x, const mw__contraction_term *wanted);

#endif
