/* Core ML's models: packages (.mlpackage) and what Apple's compiler makes of them (.mlmodelc).
 *
 *     mw_coreml *model = mw_coreml_open("Detector.mlpackage", NULL, &err);
 *     const mw_graph *graph = mw_coreml_graph(model, &err);
 *     mw_program *program = mw_program_create(graph, NULL, &err);
 *     mw_graph_write_coreml(graph, "Copy.mlpackage", NULL, &err);
 *
 * The program of a package prints as the model.mil that Apple's compiler writes for it (mw_graph_print_mil); its
 * weights are read, and shared, like those of any other folder (mil.h). docs/coreml.md has what is read, what is
 * written and what is lost on the way.
 *
 * A library that was built without protobuf-c refuses every call here with MW_ERROR_UNSUPPORTED.
 *
 * Files are untrusted. Paths in a package stay inside of it, as mil.h says of links. Reading allocates at most 256
 * times the size of the model file plus 16 MiB, plus the weights that the program names.
 *
 * Threads: calls on one model come one at a time, from any thread; what is lent may be read by several at once. */
#ifndef MILLWRIGHT_COREML_H
#define MILLWRIGHT_COREML_H

#include <millwright/description.h>
#include <millwright/mil.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mw_coreml mw_coreml;

/** Reads a package or a compiled model.
 *  path     the folder
 *  options  of the graphs, NULL = mw_graph_defaults(); `opset` is ignored, the model says its own
 *  return   owned by the caller; NULL with err set on failure
 *  errors   MW_ERROR_FORMAT for what is malformed; MW_ERROR_UNSUPPORTED for a model that is neither a program nor a
 *           pipeline, naming its kind; MW_ERROR_FILE */
MW_API mw_coreml *mw_coreml_open(const char *path, const mw_graph_options *options, mw_error *err);

/** Frees the model with its graph and its parts. NULL is fine. */
MW_API void mw_coreml_destroy(mw_coreml *model);

/** The program, with its weights; lives as long as the model. Several functions are functions of the graph.
 *  errors  MW_ERROR_UNSUPPORTED for a pipeline and for a part that is no program, naming the kind */
MW_API const mw_graph *mw_coreml_graph(const mw_coreml *model, mw_error *err);

/** What the model says of itself; lives as long as the model. NULL for NULL. */
MW_API const mw_description *mw_coreml_description(const mw_coreml *model);

/** The number of the format: 6 (iOS 15) to 10 (iOS 26); 0 for NULL. */
MW_API int mw_coreml_specification(const mw_coreml *model);

/** What it is, as the format calls it: "mlProgram", "pipeline", "pipelineClassifier", "nonMaximumSuppression" ..; lives
 *  as long as the model. "" for NULL. */
MW_API const char *mw_coreml_kind(const mw_coreml *model);

/** Parts of a pipeline; 0 for anything else. */
MW_API size_t mw_coreml_part_count(const mw_coreml *model);
/** Part `index`, in the order in which the pipeline runs them: a model of its own, which belongs to `model`. NULL past
 *  the last. */
MW_API const mw_coreml *mw_coreml_part(const mw_coreml *model, size_t index);
/** Its name in the pipeline, "model0" if that gives none; "" for what is no part. */
MW_API const char *mw_coreml_part_name(const mw_coreml *part);

/* ---- writing ---- */

/** How to write. Fill with mw_coreml_write_defaults. */
typedef struct mw_coreml_write_options {
    size_t struct_size;
    const mw_description *description; /* NULL = the ports alone. Functions and features are found by name; what it does
                                        * not name is described by the program: arrays, and labels of classify */
    mw_opset opset;                    /* 0 = the graph's own */
    mw_parameter_source *bake;         /* values of parameters and states (mw_state), which become constants */
    void *bake_user;
    mw_parameter_source *replace; /* other values for constants, as mw_mil_write_options has it */
    void *replace_user;
    bool check_only; /* everything is checked, and no package is written; default false */
} mw_coreml_write_options;

/** Returns the default options. */
MW_API mw_coreml_write_options mw_coreml_write_defaults(void);

/** Writes a package that Core ML loads: every function of the graph, with its weights.
 *  The number of the format is the least that the program needs: 6 for ios15 to 10 for ios26. What is in the way of
 *  Core ML is refused by name before anything is replaced: docs/coreml.md lists it.
 *  A package at `path` is replaced as a whole or not at all, and everything is durable on return; a process that is
 *  killed leaves the old package, and perhaps "<path>.<pid>-<n>.tmp".
 *  path     ends in ".mlpackage"; nothing else than a package may be there
 *  options  NULL = mw_coreml_write_defaults()
 *  errors   MW_ERROR_ARGUMENT for a description that does not fit the ports, and for a parameter without a value;
 *           MW_ERROR_DTYPE, MW_ERROR_SHAPE, MW_ERROR_UNSUPPORTED for what Core ML refuses; MW_ERROR_FILE */
MW_API mw_status mw_graph_write_coreml(const mw_graph *graph, const char *path, const mw_coreml_write_options *options,
                                       mw_error *err);

typedef struct mw_trainer mw_trainer;

/** Writes the prediction of a trainer with the current parameters as a package: what mw_trainer_write_tuned writes
 *  without a source, for one example. Adapters are merged; without adapters the package, brought to the batch of the
 *  trainer (mw_graph_rebatch), computes on the same device what the trainer predicts, bit for bit; on MW_DEVICE_ANE
 *  within rounding if there are convolutions, which are matrix products as long as their weights are trained.
 *  options  as for mw_graph_write_coreml, NULL = the defaults; `bake` and `replace` are ignored, the trainer has the
 *           values
 *  errors   as mw_graph_write_coreml, and as mw_trainer_write_tuned; MW_ERROR_ARGUMENT for a trainer without a
 *           prediction */
MW_API mw_status mw_trainer_write_coreml(mw_trainer *trainer, const char *path, const mw_coreml_write_options *options,
                                         mw_error *err);

#ifdef __cplusplus
}
#endif
#endif
