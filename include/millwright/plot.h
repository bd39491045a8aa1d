/* Curves of a run: what a metrics file says, as a picture.
 *
 *     mw_plot_options options = mw_plot_defaults();
 *     mw_plot_write_svg("run/metrics.jsonl", "run/metrics.svg", &options, &err);
 *
 *     const char *const others[] = {"baseline/metrics.jsonl"};                // both runs in each chart
 *     options.others = others;
 *     options.other_count = 1;
 *
 * Files are JSON Lines, an object for each record, or CSV with names in the first line; "step" is the axis below, or
 * the number of the record where there is none. What mw_trainer_fit writes is such a file, and so is what most other
 * trainers log. The picture is light or dark as its reader is, and has no script and no font from elsewhere.
 *
 * In libmillwright_view (<millwright/view.h>).
 *
 * Threads: calls share nothing. */
#ifndef MILLWRIGHT_PLOT_H
#define MILLWRIGHT_PLOT_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What to draw. Fill with mw_plot_defaults. Pointers are read during the call only. */
typedef struct mw_plot_options {
    size_t struct_size;
    const char *const
        *series; /* patterns of names, as fnmatch(3): "loss", "gradient_norm*". Each must match one at
                  * least. NULL = all but those that only count (epoch, seconds, updates) or never change */
    size_t series_count;
    const char *const *others; /* metrics files of other runs, drawn into the same charts; at most 7 */
    size_t other_count;
    const char *const *run_names; /* 1 + other_count names; NULL = the paths, without what they have in common */
    const char *title;            /* NULL = none */
    bool log_scale;   /* of the axis at the left, of charts whose values are above 0 and reach over a factor of 4 */
    double smoothing; /* 0 <= s < 1; default 0. A curve over the raw one: y' = s y' + (1 - s) y, divided by
                       * 1 - s^n so that it begins at its first value. Curves of fewer than 32 points stay */
    int columns;      /* charts side by side, 1 to 6; 0 = two where there are several */
    int width;        /* of the picture in pixels, 320 to 4000; default 960 */
    const mw_allocator *allocator; /* NULL = the C library's heap */
} mw_plot_options;

/** Returns the default options. */
MW_API mw_plot_options mw_plot_defaults(void);

/** Writes the curves as SVG, whole or not at all: a chart for each name, and one for those that belong together ("loss"
 *  with "validation/loss", all of "gradient_norm/..", of which at most 12 are drawn). A value that is not finite is a
 *  gap with a mark above. Where there are more values than pixels, the least and the largest of each pixel are drawn.
 *  Takes at most 64 times the files and 16 MiB; the picture has at most 128 charts.
 *  metrics  the path of a file of JSON Lines or CSV. A last line that a killed run did not finish is left out
 *  options  NULL = mw_plot_defaults()
 *  errors   MW_ERROR_FORMAT with line and column for a file that is neither; MW_ERROR_ARGUMENT for options out of
 *           range, a pattern that matches nothing (the message lists some names) or a file without numbers;
 *           MW_ERROR_UNSUPPORTED for more than 20000 names or 512 MiB; MW_ERROR_FILE */
MW_API mw_status mw_plot_write_svg(const char *metrics, const char *path, const mw_plot_options *options,
                                   mw_error *err);
/** The picture as a string.
 *  return  freed with mw_string_free; NULL with err set on failure */
MW_API char *mw_plot_print_svg(const char *metrics, const mw_plot_options *options, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif
