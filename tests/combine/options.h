/* What is asked for beside a net: one row for each option, with what it promises and what the library refuses of it. */
#ifndef TESTS_COMBINE_OPTIONS_H
#define TESTS_COMBINE_OPTIONS_H

#include "net.h"

typedef enum option {
    /* what changes values, and so is asked of the plain run, too */
    OPTION_ACCUMULATE,
    OPTION_LORA,
    OPTION_TUNE_ALL,   /* mw_graph_trainable: every weight */
    OPTION_TUNE_FIXED, /* the constants of `fixed` layers; the rest is frozen */
    OPTION_FROZEN,
    OPTION_AVERAGE,
    OPTION_CLIP,
    OPTION_ANE,
    OPTION_M4, /* the ANE's model with products in fixed point */
    OPTION_M6,
    /* what changes none */
    OPTION_RECOMPUTE,
    OPTION_MEMORY,
    OPTION_SEGMENTS,
    OPTION_DISPATCH,
    OPTION_RESUME,
    OPTION_SHARE,
    OPTION_EVALUATE,
    OPTION_PREDICT,
    OPTION_FIT,
    OPTION_WATCH,
    OPTION_CACHE,
    OPTION_WEIGHTS,  /* saved and loaded by another trainer */
    OPTION_STATE_OF, /* a program on the memory of the trainer */
    OPTION_REBATCH,
    OPTION_FLEXIBLE,
    OPTION_SHAPES, /* of mw_graph_lora and mw_graph_trainable */
    OPTION_FROM_MIL,
    OPTION_FROM_PACKAGE,
    OPTION_FROM_ONNX,
    OPTION_TO_MIL,
    OPTION_TO_PACKAGE,
    OPTION_TO_ONNX,
    OPTION_TUNED,  /* written back into its source */
    OPTION_MODEL,  /* one example after the other */
    OPTION_PASSES, /* each pass is watched, with its invariant */
    OPTION_OFF,    /* passes over steps are left out */
    /* of the net alone */
    OPTION_NATIVE, /* as it is, and flattened */
    OPTION_GRADIENT,
    OPTION_SECOND,
    OPTIONS
} option;

/** Set of options. */
typedef uint64_t option_set;
static inline bool option_in(option_set set, option o) { return (set >> o & 1) != 0; }

typedef enum option_kind {
    OPTION_OF_VALUES, /* the plain run has it too; what it means is checked for itself */
    OPTION_OF_FORM,   /* the plain run has it not */
    OPTION_OF_NET     /* a check of its own, once for a net */
} option_kind;

typedef struct option_row {
    const char *name;
    option_kind kind;
    double tolerance;       /* relative to the largest element of what is compared; 0 = bits */
    const char *reason;     /* of the tolerance */
    option_set without;     /* is not drawn beside these .. */
    const char *why;        /* .. because */
    const char *refused[8]; /* parts of messages by which the library may refuse it */
} option_row;

const option_row *option_row_of(option o);
/* What the library was built without that the option needs; NULL = nothing. */
const char *option_lacks(option o);
/* Why the option says nothing about a net; NULL if it does. */
const char *option_unfit(option o, option_set set, const net *n);
/* How far a run may be from the plain one, relative to the largest element of a tensor; 0 = bits. */
typedef struct allowance {
    double all;
    double file;       /* of predictions of what was written as MIL or as a package */
    double other_form; /* of what was written in other operations: ONNX, the source, another batch */
} allowance;
allowance option_allowance(option_set set, const net *n);

void option_print(option_set set, char out[NET_TEXT]);
bool option_parse(option_set *out, const char *text);

#endif
