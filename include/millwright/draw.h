/* Programs as pictures: a box for each layer, an arrow for each value that one reads of another.
 *
 *     mw_draw_options options = mw_draw_defaults();
 *     options.title = "mobilenet";
 *     mw_graph_write_svg(graph, "mobilenet.svg", &options, &err);     // for a browser, nothing else is needed
 *     mw_graph_write_dot(graph, "mobilenet.dot", &options, &err);     // for Graphviz
 *
 * Layers are those of <millwright/summary.h>. Blocks that are repeated, as in a transformer, are drawn once, with how
 * often. The SVG is light or dark as its reader is, and has no script and no font from elsewhere.
 *
 * In libmillwright_view (<millwright/view.h>).
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_DRAW_H
#define MILLWRIGHT_DRAW_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How to draw. Fill with mw_draw_defaults. Pointers are read during the call only. */
typedef struct mw_draw_options {
    size_t struct_size;
    const char *title; /* above the picture, cut to its width; NULL = "main" or the name of the only function */
    bool operations;   /* a box for each operation instead of each layer */
    bool unfolded;     /* repeated blocks are drawn as often as they are there */
    size_t most;       /* boxes, from 8 to 100000; default 1000. Of a larger program what is in the middle becomes one
                        * box that says how much it is */
} mw_draw_options;

/** Returns the default options. */
MW_API mw_draw_options mw_draw_defaults(void);

/** Writes "main", or the only function, as SVG, whole or not at all. No text lies over another or outside of the
 *  picture; an arrow over more than 24 rows begins at a label that says where from. The file has at most some 2 KB for
 *  each box that is drawn, and time grows with them and the program.
 *  options  NULL = mw_draw_defaults()
 *  errors   those of mw_summary_create; MW_ERROR_ARGUMENT for options that were not made by mw_draw_defaults, or `most`
 *           out of range; MW_ERROR_FILE */
MW_API mw_status mw_graph_write_svg(const mw_graph *graph, const char *path, const mw_draw_options *options,
                                    mw_error *err);
/** Writes the drawing in Graphviz' language, as mw_graph_write_svg does in SVG. */
MW_API mw_status mw_graph_write_dot(const mw_graph *graph, const char *path, const mw_draw_options *options,
                                    mw_error *err);
/** The SVG as a string.
 *  return  freed with mw_string_free; NULL with err set on failure */
MW_API char *mw_graph_print_svg(const mw_graph *graph, const mw_draw_options *options, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif
