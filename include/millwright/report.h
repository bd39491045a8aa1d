/* A run as one page: curves, gradient norms, classes, examples that were seen right and wrong, the network, memory and
 * time, and what reproduces it.
 *
 *     mw_report_options options = mw_report_defaults();
 *     options.metrics = "run/metrics.jsonl";
 *     options.graph = graph;                                      // is drawn and listed
 *     options.trainer = trainer;                                  // with these three: classes and examples
 *     options.prediction = logits;
 *     options.dataset = test;
 *     options.command = "mw train mnist.json --data data/mnist";
 *     mw_report_write(&options, "run/report.html", &err);
 *
 * The page is one file of HTML without script, font or address of elsewhere; light or dark as its reader is, and
 * readable on paper. Everything is optional: what is not given has no section.
 *
 * In libmillwright_view (<millwright/view.h>).
 *
 * Threads: the trainer and the model as their headers say; calls share nothing else. */
#ifndef MILLWRIGHT_REPORT_H
#define MILLWRIGHT_REPORT_H

#include <millwright/model.h>
#include <millwright/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A line of a table. */
typedef struct mw_report_pair {
    const char *key, *value;
} mw_report_pair;

/** What was predicted of examples beside what is true of them. */
typedef struct mw_report_numbers {
    const char *name;    /* the target with its unit, or the class that is yes; NULL = "value", "yes" */
    bool is_probability; /* false: values. true: predicted is the probability of yes, truth 1 for yes and 0 for no */
    const float *predicted, *truth; /* [count] in the unit of the target; of values those not finite are left out */
    size_t count;                   /* 1 to 2^24 */
} mw_report_numbers;

/** What to show. Fill with mw_report_defaults. Pointers are read during the call only. */
typedef struct mw_report_options {
    size_t struct_size;
    const char *title;         /* NULL = "Report" */
    const char *metrics;       /* a file that mw_plot_write_svg takes; NULL = no curves */
    const char *const *others; /* metrics of other runs, in the same charts; at most 7 */
    size_t other_count;
    const mw_graph *graph; /* is drawn and listed by its layers; NULL = that of `model` */
    const mw_plan *plan;   /* memory and time; NULL = that of the trainer's step, if its device tells one */

    /* Who predicts: a model, or a trainer with the tensor that it predicts, [batch, classes] or [batch, .., classes] of
     * which the first row of an example counts. With a data set whose label is a class: a table of confusions, figures
     * of each class, and examples with their pictures. */
    mw_model *model;
    mw_trainer *trainer;
    const mw_tensor *prediction;
    const mw_dataset *dataset;
    const char *picture; /* its column that is shown: [H, W], [1 or 3, H, W] or [H, W, 3] as a picture, a vector as a
                          * curve; default "x" */
    const char *label;   /* its column of integers; default "y" */
    int samples;         /* examples seen right, and as many seen wrong, 0 to 64; default 8 */

    const int64_t *confusion; /* [classes, classes], row = label, column = what was predicted: counts that are there
                               * already; NULL = count them, if somebody predicts */
    size_t class_count;       /* of `confusion`; 2 to 4096 */
    const char *const *class_names; /* [class_count]; NULL = those of the data set, else numbers: then a data set that
                                     * names other classes than the model or trainer, or in another order, is refused */

    const mw_report_numbers *numbers; /* [number_count] values: predicted over true, and the errors; probabilities: ROC,
                                       * precision over recall, calibration, which two classes have in any case */
    size_t number_count;              /* 0 to 8 */

    const char *command;                 /* what makes this run again; NULL = nothing is said of it */
    const mw_report_pair *configuration; /* more than the metrics file says */
    size_t configuration_count;
    const mw_allocator *allocator; /* NULL = the C library's heap */
} mw_report_options;

/** Returns the default options. */
MW_API mw_report_options mw_report_defaults(void);

/** Writes the page, whole or not at all. The prediction reads the whole data set once. If the run ended with a refused
 *  step, the page names the first operation whose result was not finite.
 *  errors  those of mw_plot_write_svg for the metrics file, except that it may have no numbers; those of
 *          mw_graph_write_svg, mw_trainer_predict, mw_predictor_predict and of the data set; MW_ERROR_ARGUMENT for
 *          options that were not made by mw_report_defaults or are out of range, a trainer without prediction, counts
 *          below 0, labels that are no class, or probabilities that are none; MW_ERROR_FILE */
MW_API mw_status mw_report_write(const mw_report_options *options, const char *path, mw_error *err);
/** The page as a string.
 *  return  freed with mw_string_free; NULL with err set on failure */
MW_API char *mw_report_print(const mw_report_options *options, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif
