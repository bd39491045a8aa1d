/* Core ML's models: packages (.mlpackage) and what Apple's compiler makes of them (.mlmodelc).
 *
 *     mw_coreml *model = mw_coreml_open("Detector.mlpackage", NULL, &err);
 *     const mw_graph *graph = mw_coreml_graph(model, &err);
 *     mw_program *program = mw_program_create(graph, NULL, &err);
 *     mw_graph_write(graph, "Copy.mlpackage", NULL, &err);
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

/** What a model is as a whole; pointers live as long as the model. */
typedef struct mw_coreml_info {
    const mw_description *description; /* what it says of itself */
    int specification;                 /* the number of the format: 6 (iOS 15) to 10 (iOS 26) */
    const char
        *kind; /* as the format calls it: "mlProgram", "pipeline", "pipelineClassifier", "nonMaximumSuppression" .. */
    const char *name;  /* of a part in its pipeline, "model0" if that gives none; else "" */
    size_t part_count; /* of a pipeline; 0 for anything else */
} mw_coreml_info;

/** What the model is. For NULL zeros and NULL, and both strings "". */
MW_API mw_coreml_info mw_coreml_get_info(const mw_coreml *model);

/** Part `index`, in the order in which the pipeline runs them: a model of its own, which belongs to `model`. NULL past
 *  the last. */
MW_API const mw_coreml *mw_coreml_part(const mw_coreml *model, size_t index);
#ifdef __cplusplus
}
#endif
#endif
