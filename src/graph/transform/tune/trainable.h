/* Fine-tuning inside the room: trainable_weights.c and trainable_role.c find the weights (trainable_beside.c,
 * trainable_follow.c and trainable_guess.c help), trainable_layer.c their layers, trainable_choose.c chooses,
 * trainable.c copies, lora.c builds adapters; the runtime writes back what was trained. */
#ifndef MW__GRAPH_TRANSFORM_TUNE_TRAINABLE_H
#define MW__GRAPH_TRANSFORM_TUNE_TRAINABLE_H

#include "base/visible.h"
#include "graph/ir/uses.h"
#include "graph/transform/clone/clone.h"

#include <millwright/tune.h>

/* ---- names ---- */

#define MW__LORA_A     ".lora_A.weight"
#define MW__LORA_B     ".lora_B.weight"
#define MW__LORA_SCALE ".lora_scale"      /* an fp32 constant: alpha / r */
#define MW__TUNE_NAME  (MW_NAME_MAX + 32) /* with what is appended to a name */

/* "fc1" + suffix for a weight "fc1.weight", "fc1_weight" or "fc1_weight_to_fp16"; any other name keeps all but
 * _to_fp16. False if it is longer than MW__TUNE_NAME. */
bool mw__lora_name(const char *weight, const char *suffix, char out[MW__TUNE_NAME]);
/* What PyTorch would call a weight: "fc1.bias" for "fc1_bias_to_fp16". False if it is too long. */
bool mw__tune_torch_name(const char *weight, char out[MW__TUNE_NAME]);

/* ---- adapters ---- */

/* How a weight lies. */
typedef enum mw__lora_layout {
    MW__LORA_OUT_IN, /* [out, in] */
    MW__LORA_IN_OUT, /* [in, out] */
    MW__LORA_CONV    /* [out, in / groups, k..] */
} mw__lora_layout;

typedef struct mw__lora_site {
    const mw_tensor *weight;
    const mw__op *op; /* its one use, beside which a branch can stand; NULL = add to the weight */
    mw__lora_layout layout;
    int64_t out, in; /* of the layout; conv: in counts in / groups * k.. */
} mw__lora_site;

/* NULL if the weight can be adapted, else why not. */
const char *mw__lora_find_site(const mw_tensor *weight, const mw__use *const *uses, mw__lora_site *out);

typedef struct mw__lora {
    int rank;
    float scale;    /* alpha / r */
    mw_dtype dtype; /* MW_DTYPE_NONE = that of the weight */
} mw__lora;

/* In the copy: `weight` (of the copy) plus the adapter. NULL leaves an error on its graph. */
mw_tensor *mw__lora_add_to_weight(const mw__lora *lora, const mw__lora_site *site, mw_tensor *weight);
/* Copies site->op and adds the branch to its result. An error is left on the copy. */
void mw__lora_add_branch(const mw__lora *lora, const mw__lora_site *site, mw__clone *clone);

/* ---- choosing ---- */

/* What a constant is, and the use that shows it; `reason` as in mw_weight. */
typedef struct mw__tune_role {
    mw_weight_role role;
    const mw__use *use;
    const char *reason;
} mw__tune_role;
/* "none", "kernel", "bias", .. */
const char *mw__tune_role_name(mw_weight_role role);
MW__SIBLING mw__tune_role mw__tune_find_role(const mw_tensor *value, const mw__use *const *uses);
/* Before the number of a further operation of one node. */
#define MW__TUNE_PART "__"
/* trainable_choose.c: whether a pattern matches the name of its layer, in which "/", ":" and the like stand for "_". */
bool mw__tune_matches_layer(const char *pattern, const mw_weight *weight);
/* What such an argument is by the table alone. */
mw_weight_role mw__tune_role_in_table(const mw__op *op, const char *argument);

/* trainable_follow.c. How many operations a constant is followed through: a kernel of three axes that is spread with
 * zeros, since it was computed and is dilated, is moved and padded ten times. */
enum { MW__TUNE_DEPTH = 12 };

/* What a value was before it was moved or cut. */
const mw_tensor *mw__tune_origin(const mw_tensor *value);
/* The extent of the only axis that has more than one element; 0 if there is none or several. */
int64_t mw__tune_vector_length(mw_shape shape);
/* Whether it is made of constants and parameters alone, which were moved, cut, joined, or added as vectors. */
bool mw__tune_is_fixed(const mw_tensor *value);
/* Whether the results of the operation are still what that argument holds. */
bool mw__tune_passes(const mw__op *op, const char *argument);

/* trainable_guess.c, of constants beside layers. Whether the name is one that a framework gives, not a converter's. */
bool mw__guess_is_given(const char *name);
/* Whether it is that of a mask, a grid, a mean or the like. */
bool mw__guess_is_data(const char *name);
/* Whether the elements may have been learned: not those of a mask (-1e9), not all multiples of 1/2, but zeros, and one
 * such number in every place under a name that a framework gives. */
bool mw__guess_is_learned(const mw_tensor *value);
/* Whether it is none of the weights even where one would be: named as data, if not "..mask..bias" or the like, or with
 * numbers of 1000 and more. */
bool mw__guess_is_buffer(const mw_tensor *value);
/* Whether it lets some elements pass and others not: zeros and ones, and nothing else. */
bool mw__guess_is_switch(const mw_tensor *value);
/* Whether it holds one number in every place. */
bool mw__guess_is_uniform(const mw_tensor *value);
/* Whether the name of one number says that it is learned: most are choices of whoever wrote the network. */
bool mw__guess_is_single(const mw_tensor *value);
/* Whether a layer with weights is among the operations that make it: what comes straight from an input is data. */
bool mw__guess_is_of_layer(const mw_tensor *value);
/* The axis of its channels, those of the layer that it comes from element by element; -1 if that is not known. */
int mw__guess_channel_axis(const mw_tensor *value);

typedef enum mw__tune_fate { MW__TUNE_KEEP, MW__TUNE_TRAIN, MW__TUNE_ADAPT } mw__tune_fate;

typedef struct mw__tune_item {
    mw_weight weight;
    const mw_tensor *value;
    mw__tune_fate fate;
    const char *pattern; /* that matched, or NULL */
    const char *left;    /* why a match stays as it is */
    mw__lora_site site;
} mw__tune_item;

/* Every weight of "main", in the order of the text, those of its blocks too. In `arena`. */
typedef struct mw__tune_items {
    mw__tune_item *items;
    size_t count;
    uint32_t layer_count; /* the largest depth */
    const mw__use *const *uses;
} mw__tune_items;

/* Whether it stands in a block of an operation. */
bool mw__tune_is_nested(const mw_tensor *value);
mw_status mw__tune_collect(mw__arena *arena, const mw_graph *graph, mw__tune_items *out, mw_error *err);
/* trainable_layer.c: layer and depth of each weight. */
mw_status mw__tune_find_layers(mw__arena *arena, const mw__function *function, mw__tune_items *items, mw_error *err);
/* The largest first. */
void mw__tune_sort(const mw__tune_items *list);
/* Why a weight cannot be used even where it stands: compressed, or not read. NULL = nothing. */
const char *mw__tune_value_obstacle(const mw_tensor *value);

/* trainable_dilated.c: copies a dilated convolution whose weight is no constant in the copy. False if it is none. */
bool mw__tune_spread_dilated(mw__clone *clone, const mw__op *op);

#endif
