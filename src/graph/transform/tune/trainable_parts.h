/* What trainable.c asks of trainable_choose.c. Private to the two. */
#ifndef MW__GRAPH_TRANSFORM_TUNE_TRAINABLE_PARTS_H
#define MW__GRAPH_TRANSFORM_TUNE_TRAINABLE_PARTS_H

#include "graph/transform/batch/rebatch.h"
#include "graph/transform/tune/trainable.h"

/* What both calls ask for. */
typedef struct mw__tuning {
    const mw_graph *source;
    const char *call;
    const mw_input_shape *shapes;
    size_t shape_count;
    bool skip_fixed;
    mw_dtype dtype; /* of parameters that were constants; MW_DTYPE_NONE = as they are */
    mw__lora lora;
    mw__arena arena;
    mw__tune_items items;     /* the largest first */
    mw__tune_item **by_value; /* by id in the source; NULL = not chosen */
    mw__tune_item **by_op;    /* a branch, by the id of the operation's result */
    bool begun;
    mw__rebatch batch;          /* that the shapes ask for; its table is NULL if they ask for something else */
    const mw__batch_rows *rows; /* of the source, where an input gets another first extent; else NULL */
    mw_tune_report *report;
    void *report_user;
} mw__tuning;

/* Gives what the patterns match that fate. What a pattern with wildcards matches and no layer has is left, with a
 * reason; so is what is fixed, with skip_fixed. */
mw_status mw__tune_choose(const mw__tuning *t, const char *const *patterns, size_t count, mw__tune_fate fate,
                          mw_error *err);
/* The same of the weights of the last layers, so many; of a kernel alone where it gets an adapter. */
mw_status mw__tune_choose_last(const mw__tuning *t, int last, mw__tune_fate fate, mw_error *err);
/* by_value and by_op of what is chosen; fails if nothing is. */
mw_status mw__tune_index(mw__tuning *t, mw_error *err);
/* Tells the caller what became of each match. */
void mw__tune_report(const mw__tuning *t);

#endif
