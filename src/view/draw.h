/* Pictures of programs: boxes and arrows (draw_fold.c), where they stand (draw_layout.c), and the two languages that
 * they are written in (draw_svg.c, draw_dot.c). */
#ifndef MW__VIEW_DRAW_H
#define MW__VIEW_DRAW_H

#include "view/summary.h"

#include <millwright/draw.h>

typedef enum mw__draw_box_kind {
    MW__BOX_LAYER,
    MW__BOX_INPUT,
    MW__BOX_OUTPUT,
    MW__BOX_HIDDEN, /* stands for many */
    MW__BOX_FROM    /* the begin of a long arrow, as a label */
} mw__draw_box_kind;

typedef struct mw__draw_box {
    mw__draw_box_kind kind;
    const mw_summary_layer *layer; /* NULL: HIDDEN */
    const char *name;              /* what is written as such; of repeated ones with * where they differ */
    size_t hidden;                 /* how many layers HIDDEN stands for */
    uint32_t fold;                 /* in folds; MW__VIEW_NONE = none */
    /* draw_layout.c */
    uint32_t rank;
    double x, y, width, height; /* the upper left corner */
} mw__draw_box;

typedef struct mw__arrow {
    uint32_t from, to;     /* boxes */
    uint32_t first, bends; /* in mw__drawing.bends: where it passes the rows between */
} mw__arrow;

/* Boxes [first, first + count), which are there so many times. */
typedef struct mw__fold {
    uint32_t first, count, times;
} mw__fold;

typedef struct mw__drawing {
    mw__arena arena;
    const mw_summary *summary;
    mw_draw_options options;
    const char *title;
    mw__draw_box *boxes;
    uint32_t box_count, box_room;
    mw__arrow *arrows;
    uint32_t arrow_count, arrow_room;
    mw__fold *folds;
    uint32_t fold_count;
    double *bends; /* x of each */
    uint32_t rank_count;
    double width, height;
    mw_error *err;
} mw__drawing;

/* Boxes and arrows of the summary, in an order in which arrows lead to later boxes. */
mw_status mw__draw_make(mw__drawing *drawing, const mw_summary *summary, const mw_draw_options *options, mw_error *err);
void mw__draw_deinit(mw__drawing *drawing);
mw_status mw__draw_add_box(mw__drawing *drawing, const mw__draw_box *box, uint32_t *out_index);
mw_status mw__draw_add_arrow(mw__drawing *drawing, uint32_t from, uint32_t to);

/* Text of a box: at most this many bytes a line. */
enum { MW__BOX_TEXT = 48, MW__BOX_LINES = 3 };
/* Line 0 to 2 of a box, empty where there is none. */
void mw__draw_box_line(const mw__draw_box *box, int line, mw__text *out);

/* Where boxes stand below `top`, and where arrows pass rows. */
mw_status mw__draw_lay_out(mw__drawing *drawing, double top);

mw_status mw__draw_svg(mw__drawing *drawing, mw__text *out);
mw_status mw__draw_dot(const mw__drawing *drawing, mw__text *out);

/* A picture of the graph, appended; err is not NULL. */
mw_status mw__draw_graph(const mw_graph *graph, const mw_draw_options *options, bool dot, mw__text *out, mw_error *err);

#endif
