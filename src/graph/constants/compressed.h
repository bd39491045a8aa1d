/* Constants that are stored compressed: what is stored of them, any part of them as numbers, and the whole as a
 * payload. The operations are those of ops/quantize.def that begin with constexpr_. */
#ifndef MW__GRAPH_CONSTANTS_COMPRESSED_H
#define MW__GRAPH_CONSTANTS_COMPRESSED_H

#include "base/visible.h"
#include "graph/ir/ir.h"

/* Which of a few numbers belongs to an element: sum over axes of (at / block) stride. */
typedef struct mw__grid {
    int rank;
    int64_t block[MW_RANK_MAX], stride[MW_RANK_MAX];
} mw__grid;

/* Blocks of `dense` that the first axes of `parts` divide it into. */
mw__grid mw__grid_of(mw_shape dense, mw_shape parts);
/* For the element at those coordinates, and how many of `count` from there on along the last axis share it. */
int64_t mw__grid_at(const mw__grid *grid, const int64_t *at);
int64_t mw__grid_run(const mw__grid *grid, const int64_t *at, int64_t count);
/* For element `index` of `dense`. */
int64_t mw__grid_at_index(const mw__grid *grid, mw_shape dense, int64_t index);

/* A dense constant, element by element: a code; from tables of `entries` vectors, one of `vector` numbers; of that
 * (number - offset) scale. */
struct mw__compressed {
    mw_dtype dtype; /* of the dense constant */
    mw_shape shape; /* its axes; the last ones may be merged */
    const mw__payload *codes;
    int64_t entries, vector; /* of a table */
    int vector_axis;
    const float *lut, *scale, *offset; /* NULL = none */
    mw__grid tables, scales, offsets;
};

/* True for an operation that makes a constant of constants. */
MW__SIBLING bool mw__op_is_constexpr(const mw__op *op);
/* True for one whose arguments stand among the attributes in text (those of ios16). */
bool mw__row_has_attributes(const mw__row *row);

/* Reads the one result of a constexpr operation, or a const, without expanding it; *out points into the graph and into
 * `arena`. The operation has been verified. False without an error if it cannot be read in parts, as sparse ones and
 * those of operands that are compressed themselves and not yet expanded. */
bool mw__compressed_read(mw__arena *arena, const mw_tensor *value, mw__compressed *out, mw_error *err);
/* Elements begin .. begin + count of the dense constant, as they are rounded in its type. */
void mw__compressed_load(const mw__compressed *compressed, int64_t begin, int64_t count, float *out);

/* What a constant holds: its literal, or what its constexpr operation makes of its operands. This is kept by the graph.
 * NULL, with or without a reason in `err`, if it is no constant, is not loaded or breaks a rule. */
MW__SIBLING const mw__payload *mw__constant_payload(const mw_tensor *value, mw_error *err);

#endif
