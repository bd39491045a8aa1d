/* What the files of segment.h share. */
#ifndef MW__GRAPH_TRANSFORM_SEGMENT_SEGMENT_PARTS_H
#define MW__GRAPH_TRANSFORM_SEGMENT_SEGMENT_PARTS_H

#include "graph/transform/segment/segment.h"

#define MW__NO_NODE UINT32_MAX

/* An operation with what it uses. */
typedef struct mw__node {
    const mw__op *op;
    mw_tensor **operands; /* tuples flattened, literals in arguments left out */
    size_t operand_count;
    bool copied;     /* stands in every piece that uses it: a constant, what is exactly made of some, or a truth */
    bool constant;   /* depends on nothing but constants */
    bool floats;     /* made of inputs alone, behind the backward pass: goes to its first use */
    uint32_t depth;  /* of what is copied */
    uint32_t anchor; /* where it goes: with the node before this one, .. */
    int side;        /* .. before it (-1), as it (0), behind it (1) */
    uint32_t at;     /* position in the order; MW__NO_NODE of what is copied */
    uint64_t hash;   /* equal for operations that are equal but for the values that they use */
} mw__node;

typedef struct mw__sequence {
    mw__arena *arena;
    const mw__function *function;
    const mw__segment_options *options;
    mw__node *nodes;
    size_t node_count;
    uint32_t *producer; /* by value: its node, or MW__NO_NODE */
    uint32_t *uses;     /* by value: as an operand or output */
    uint32_t *last;     /* by value: position of the last use, also by what is copied */
    bool *liftable;     /* by value: a constant that may be an input instead */
    uint32_t *order;    /* nodes, of those that are not copied */
    size_t count;
    uint32_t *cuts; /* positions: 0, .., count */
    size_t cut_count;
} mw__sequence;

/* segment_order.c: what stands once and what is copied, and the order: that of the function, but what only makes a
 * number of a gradient goes to where the gradient is made, and what scales one to its update. */
mw_status mw__segment_order(mw__sequence *sequence, mw_error *err);
/* Whether a port can hold the value as it is. */
bool mw__segment_passes(const mw__sequence *sequence, const mw_tensor *value);
/* Positions and last uses, by the order. */
mw_status mw__segment_number(mw__sequence *sequence, mw_error *err);
/* segment_cut.c */
mw_status mw__segment_cut(mw__sequence *sequence, mw_error *err);

/* ---- segment_form.c: a piece with its values numbered ---- */

typedef struct mw__segment_form {
    const bool *liftable; /* the sequence's */
    const mw__op **ops;   /* those of the piece with what they need of what is copied, in their order */
    size_t op_count;
    uint32_t *refs; /* of all operands in their order: a port, or behind these a result */
    size_t ref_count;
    mw_tensor **ports; /* values from elsewhere, in the order of their use */
    size_t port_count;
    mw_tensor **results; /* of all operations */
    size_t result_count;
    uint64_t hash;
    size_t segment; /* which of the functions it is */
} mw__segment_form;

/* One for each piece. */
mw_status mw__segment_forms(const mw__sequence *sequence, mw__segment_form *out, mw_error *err);
/* Whether the text of one is that of the other up to names: operations, types, literals and the bytes of constants, but
 * for those that may be inputs. */
bool mw__segment_forms_equal(const mw__segment_form *a, const mw__segment_form *b);
/* Of an operation without the values that it uses and without the elements of constants that may be inputs. */
uint64_t mw__segment_hash(const mw__op *op, const bool *liftable);
bool mw__segment_same_payload(const mw__payload *a, const mw__payload *b);

#endif
