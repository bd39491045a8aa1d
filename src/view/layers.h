/* The layers of a program: groups of operations that people take for one. layers.c reads the program, layers_weights.c
 * finds the weights behind each operation, layers_group.c and layers_pattern.c join what belongs together,
 * layers_order.c puts the groups in an order in which each reads earlier ones. */
#ifndef MW__VIEW_LAYERS_H
#define MW__VIEW_LAYERS_H

#include "graph/ir/op_table.h"

/* A place in an array, or none. */
#define MW__VIEW_NONE UINT32_MAX

/* An operation of the function's body; what stands in its blocks belongs to it. */
typedef struct mw__view_op {
    const mw__op *op;
    uint32_t first_read, read_count; /* in mw__view.reads */
    uint32_t group;                  /* another of its group; that of the root is its own place */
    uint32_t size, first;            /* of a root: operations of the group, and the first of them */
    uint32_t user;                   /* of a fixed operation: the first that is not and needs it */
    bool fixed;                      /* made of constants, weights and shapes alone */
    bool weighted;                   /* a weight is among what it reads, also behind fixed operations */
    bool recurrent;                  /* of a root: weights of a recurrent layer are in it */
    bool spare;                      /* only the form for evaluation needs it */
    const char *prefix;              /* of the names of its weights, "conv1"; equal strings are one. NULL = none */
    const mw_tensor *weight;         /* the largest that has a name; of a root: that of its first product */
    const char *label;               /* of a root: what a pattern made of the group; NULL = see its operations */
    uint32_t layer;                  /* of a root: place in mw__view.order */
} mw__view_op;

typedef struct mw__view {
    mw__arena *arena;
    const mw_graph *graph;
    const mw__function *function;
    mw__view_op *ops;
    uint32_t op_count;
    const mw_tensor **reads; /* operands of all operations, one after the other, also of those in blocks */
    size_t read_count;
    uint32_t *producer;  /* by value id: the operation whose result it is, or in whose blocks it is made */
    uint32_t *first_use; /* by value id, and one more: in use_op */
    uint32_t *use_op;
    uint32_t *marks; /* by operation: scratch of the searches; the number of the search that was there */
    uint32_t mark;
    uint32_t *order; /* roots, each after what it reads */
    uint32_t layer_count;
} mw__view;

/* Reads "main", or the only function, of the graph; `grouped` = false leaves each operation alone. All of it lives in
 * the arena. */
mw_status mw__view_make(mw__view *view, mw__arena *arena, const mw_graph *graph, bool grouped, mw_error *err);

/* ---- asking ---- */

uint32_t mw__view_root(const mw__view *view, uint32_t op);
/* Known without running: a constant, a weight, or made of such by fixed operations. */
bool mw__view_is_fixed(const mw__view *view, const mw_tensor *value);
/* The operation that makes it, NONE for inputs and what is fixed. */
uint32_t mw__view_maker(const mw__view *view, const mw_tensor *value);
bool mw__view_is(const mw__view *view, uint32_t op, const char *kind);
/* All of these traits (graph/ir/op_table.h). */
bool mw__view_has(const mw__view *view, uint32_t op, unsigned traits);
#define MW__VIEW_IS_ONE_OF(view, op, ...) mw__view_is_one_of(view, op, (const char *const[]){__VA_ARGS__, NULL})
bool mw__view_is_one_of(const mw__view *view, uint32_t op, const char *const *kinds);
/* True if one operation alone uses the results of `op`, and none of them is a result of the program; *out_user is that
 * operation (may be NULL). */
bool mw__view_has_one_user(const mw__view *view, uint32_t op, uint32_t *out_user);
/* The group in which all users of an operation are, gradients apart; NONE if they are in several, or it gives a result.
 */
uint32_t mw__view_users(const mw__view *view, uint32_t op);
/* The one operand that is not fixed; NULL if there are none or several. */
const mw_tensor *mw__view_only_operand(const mw__view *view, uint32_t op);
/* An operation of an element or of its order alone: nothing in it makes a layer. */
bool mw__view_is_light(const mw__view *view, uint32_t op);
/* A product with, or rows of, a weight. */
bool mw__view_is_heavy(const mw__view *view, uint32_t op);

/* ---- joining ---- */

void mw__view_join(mw__view *view, uint32_t a, uint32_t b);
void mw__view_label(mw__view *view, uint32_t op, const char *label);

/* ---- layers_weights.c ---- */

/* A constant, parameter or state that an operation reads, at once or behind fixed operations. */
typedef void mw__view_weight_visit(void *user, const mw_tensor *weight);
void mw__view_visit_weights(mw__view *view, uint32_t op, mw__view_weight_visit *visit, void *user);
/* "conv1" of "conv1.weight", "conv1_weight_to_fp16", "conv1.weight_ih_l0"; the length of the part, 0 = none. */
size_t mw__view_prefix_length(const char *name);
/* Fills weighted and prefix of every operation that is not fixed. */
mw_status mw__view_find_prefixes(mw__view *view, mw_error *err);

/* ---- layers_group.c, layers_pattern.c, layers_join.c, layers_order.c ---- */

mw_status mw__view_group(mw__view *view, mw_error *err);
void mw__view_find_patterns(mw__view *view);
void mw__view_join_neighbors(mw__view *view);

/* A part of the program between one value and an operation: what all ways from before to `op` pass, and what is
 * between. */
enum { MW__REGION_MAX = 160 };
typedef struct mw__region {
    const mw_tensor *from;
    uint32_t ops[MW__REGION_MAX];
    uint32_t count;
} mw__region;
/* False if it is larger than MW__REGION_MAX, or ends at several values. */
bool mw__view_find_region(const mw__view *view, uint32_t op, mw__region *out);
bool mw__region_has(const mw__view *view, const mw__region *region, const char *const *kinds);

mw_status mw__view_order(mw__view *view, mw_error *err);

#endif
